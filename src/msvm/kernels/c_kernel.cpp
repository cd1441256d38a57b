#include "msvm/kernels/c_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace msvm {
namespace {

static_assert(MSVM_F64 == static_cast<int>(DType::kF64) && MSVM_F32 == static_cast<int>(DType::kF32) && MSVM_F16 == static_cast<int>(DType::kF16) && MSVM_BF16 == static_cast<int>(DType::kBF16));
static_assert(MSVM_I8 == static_cast<int>(DType::kI8) && MSVM_I16 == static_cast<int>(DType::kI16) && MSVM_I32 == static_cast<int>(DType::kI32) && MSVM_I64 == static_cast<int>(DType::kI64));
static_assert(MSVM_U8 == static_cast<int>(DType::kU8) && MSVM_U16 == static_cast<int>(DType::kU16) && MSVM_U32 == static_cast<int>(DType::kU32) && MSVM_U64 == static_cast<int>(DType::kU64));
static_assert(MSVM_BOOL == static_cast<int>(DType::kBool));

msvm_tensor view(const TensorMeta& m) { return {m.data, static_cast<int32_t>(m.dtype), m.rank, m.shape.data(), m.strides.data()}; }

/// What `host` points at.
struct Host {
  KernelCall& call;
  std::vector<msvm_tensor>& outputs;
  Status error;
};
Host& host(const msvm_call* c) { return *static_cast<Host*>(c->host); }

int allocate_output(const msvm_call* c, int32_t index, int32_t rank, const int64_t* shape) {
  Host& h = host(c);
  if (index < 0 || static_cast<size_t>(index) >= h.outputs.size() || !h.call.outputs[static_cast<size_t>(index)] || rank < 0 || rank > kMaxRank || (rank && !shape)) {
    h.error = invalid_argument(fmt::format("{}: there is no output {} of rank {}", h.call.op.name, index, rank));
    return 1;
  }
  const auto i = static_cast<size_t>(index);
  TensorMeta& out = *h.call.outputs[i];
  h.error = provide_output(h.call, i, out.dtype, {shape, static_cast<size_t>(rank)});
  if (!h.error.ok()) return 1;
  h.outputs[i] = view(out);
  return 0;
}

const AttrValue* attribute(const msvm_call* c, const char* name) { return name ? host(c).call.attrs.find(name) : nullptr; }
int int_attribute(const msvm_call* c, const char* name, int64_t* value) {
  const auto* v = attribute(c, name);
  const auto* i = v ? std::get_if<int64_t>(v) : nullptr;
  if (i) *value = *i;
  return i != nullptr;
}
int float_attribute(const msvm_call* c, const char* name, double* value) {
  const auto* v = attribute(c, name);
  const auto* d = v ? std::get_if<double>(v) : nullptr;
  if (d) *value = *d;
  return d != nullptr;
}
int string_attribute(const msvm_call* c, const char* name, const char** value) {
  const auto* v = attribute(c, name);
  const auto* s = v ? std::get_if<std::string>(v) : nullptr;
  if (s) *value = s->c_str();
  return s != nullptr;
}
void set_error(const msvm_call* c, const char* message) { host(c).error = invalid_argument(fmt::format("{}: {}", host(c).call.op.name, message ? message : "")); }

Status infer_like(InferContext& c, size_t input) {
  if (!c.has_input(input)) return invalid_argument(fmt::format("input {}, which its outputs are like, is missing", input));
  for (size_t i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(input).dtype, c.input(input).shape);
  return {};
}

}  // namespace

Status CKernel::run(KernelCall& call) const {
  static constexpr int64_t kNone[1] = {};
  std::vector<msvm_tensor> inputs, outputs;
  for (const TensorMeta* m : call.inputs) inputs.push_back(m ? view(*m) : msvm_tensor{nullptr, -1, 0, kNone, kNone});
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    outputs.push_back(call.outputs[i] ? view(*call.outputs[i]) : msvm_tensor{nullptr, -1, 0, kNone, kNone});
    if (call.outputs[i] && !has_memory(call, i)) outputs.back().rank = -1;
  }
  Host h{call, outputs, {}};
  const msvm_call c{static_cast<int32_t>(inputs.size()), static_cast<int32_t>(outputs.size()), static_cast<int32_t>(call.args.size()), inputs.data(), outputs.data(), call.args.data(),
                    allocate_output, int_attribute, float_attribute, string_attribute, set_error, &h};
  const int failed = kernel_(state_, &c);
  if (failed) return h.error.ok() ? invalid_argument(fmt::format("{}: the kernel failed with code {}", call.op.name, failed)) : h.error;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].rank < 0) return internal_error(fmt::format("{}: the kernel gave no output {}", call.op.name, i));
  return {};
}

}  // namespace msvm

extern "C" int msvm_register_operator(const msvm_operator* d, int replace, char* error, size_t error_bytes) {
  using namespace msvm;
  const auto add = [&]() -> Status {
    if (!d || !d->name || !d->kernel) return invalid_argument("an operator has a name and a kernel");
    if (d->min_inputs < 0 || d->max_inputs < d->min_inputs || d->max_inputs > 64 || d->max_outputs < 0 || d->max_outputs > 64 || d->max_args < 0 || d->like_input >= d->max_inputs)
      return invalid_argument(fmt::format("{}: inputs and outputs are 0 to 64, like_input is one of the inputs or -1", d->name));
    std::deque<std::string> names;
    OpSchema row{.name = d->name, .max_args = d->max_args, .args_doc = "sizes", .min_outputs = d->min_outputs, .doc = "Written in C."};
    for (int i = 0; i < d->max_inputs; ++i) row.inputs.push_back({names.emplace_back(fmt::format("input{}", i)), kNotString, 0, i >= d->min_inputs});
    for (int i = 0; i < d->max_outputs; ++i) row.outputs.push_back({names.emplace_back(fmt::format("output{}", i))});
    RegisteredTraits traits{.any_attributes = true, .effect = d->effect != 0};
    if (d->like_input >= 0) traits.shape = [input = static_cast<size_t>(d->like_input)](InferContext& c) { return infer_like(c, input); };
    auto kernel = std::make_shared<CKernel>(d->kernel, d->state);
    MSVM_RETURN_IF_ERROR(register_operator(std::move(row), std::move(traits), kernel, replace != 0));
    if (kernel.use_count() > 1) kernel->own_state(d->free_state);  // else the same operator was there already
    return {};
  };
  const Status s = add();
  if (error && error_bytes) {
    const size_t n = std::min(error_bytes - 1, s.ok() ? 0 : s.message().size());
    std::memcpy(error, s.message().data(), n);
    error[n] = 0;
  }
  return !s.ok();
}
