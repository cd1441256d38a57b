#include "msvm/vm/inputs.h"

#include <fmt/core.h>

#include <bit>

#include "msvm/base/checked.h"
#include "msvm/vm/interpreter.h"

namespace msvm::vm {
namespace {

[[gnu::cold]] Status wrong(const Module& module, const Param& p, size_t k, const std::string& found) {
  return invalid_argument(fmt::format("input {} ({}): expected {}, found {}", k, p.name, to_string(p.type, *module.dims), found));
}

[[gnu::cold]] std::string found_text(const Value& v) {
  struct Text {
    std::string operator()(const TensorValue& t) const {
      std::string s = to_string(t.meta);
      return t.meta.device.kind == DeviceKind::kCpu ? s : s + " " + to_string(t.meta.device);
    }
    std::string operator()(int64_t i) const { return fmt::format("the i64 {}", i); }
    std::string operator()(double d) const { return fmt::format("the f64 {}", d); }
    std::string operator()(bool b) const { return b ? "the bool true" : "the bool false"; }
  };
  return std::visit(Text(), v);
}

Status check_tensor(const Module& module, const Param& p, size_t k, const Value& value) {
  const TensorType& want = p.type.tensor;
  const auto* t = std::get_if<TensorValue>(&value);
  if (!t || t->meta.dtype != want.dtype || t->meta.rank != want.rank() || t->meta.layout != want.layout || !(t->meta.device == want.device))
    return wrong(module, p, k, found_text(value));
  const auto elements = checked_product(t->meta.dims());
  if (!elements || !checked_mul(*elements, dtype_bytes(want.dtype))) return wrong(module, p, k, to_string(t->meta) + ", sizes that no tensor can have");
  if (*elements > 0 && !t->meta.data) return wrong(module, p, k, to_string(t->meta) + " without memory");
  if (!want.strided && !t->meta.dense()) return wrong(module, p, k, to_string(t->meta) + " with gaps or another order of axes");
  return {};
}

Status check_input(const Module& module, const Param& p, size_t k, const Value& value) {
  bool same = false;
  switch (p.type.kind) {
    case RegKind::kTensor: return check_tensor(module, p, k, value);
    case RegKind::kI64: same = std::holds_alternative<int64_t>(value); break;
    case RegKind::kF64: same = std::holds_alternative<double>(value); break;
    case RegKind::kBool: same = std::holds_alternative<bool>(value); break;
    case RegKind::kList: break;
  }
  return same ? Status() : wrong(module, p, k, found_text(value));
}

}  // namespace

Status bind_inputs(const Module& module, const Function& f, std::span<const Value> inputs, int64_t* scalars) {
  const auto& params = f.source->inputs;
  if (inputs.size() != params.size())
    return invalid_argument(fmt::format("@{} takes {} input{}, {} {} given", f.source->name, params.size(), params.size() == 1 ? "" : "s", inputs.size(),
                                        inputs.size() == 1 ? "was" : "were"));
  for (size_t k = 0; k < params.size(); ++k) MSVM_RETURN_IF_ERROR(check_input(module, params[k], k, inputs[k]));
  for (const auto& s : f.scalar_inputs) {
    const Value& v = inputs[static_cast<size_t>(s.input)];
    int64_t& slot = scalars[s.slot];
    if (const auto* i = std::get_if<int64_t>(&v)) slot = *i;
    else if (const auto* d = std::get_if<double>(&v)) slot = std::bit_cast<int64_t>(*d);
    else if (const auto* b = std::get_if<bool>(&v)) slot = *b;
  }
  size_t done = 0;
  for (size_t m = 0; m < f.entry_matches.size(); ++m) {
    for (; done < static_cast<size_t>(f.entry_code_at[m]); ++done) MSVM_RETURN_IF_ERROR(run_scalar(f.entry_code[done], scalars));
    const InputMatch& match = f.entry_matches[m];
    const auto k = static_cast<size_t>(match.input);
    const TensorMeta& meta = std::get<TensorValue>(inputs[k]).meta;
    const int64_t size = meta.shape[static_cast<size_t>(match.step.axis)];
    Status s;
    if (match.step.bind != kNoSlot) s = bind_symbol(module, match.step, size, scalars);
    else if (size != scalars[match.step.equal]) s = shape_mismatch(fmt::format("axis {} must be {}", match.step.axis, scalars[match.step.equal]));
    if (!s.ok()) [[unlikely]]
      return s.with_context(fmt::format("input {} ({}): expected {}, found {}: ", k, params[k].name, to_string(params[k].type, *module.dims), to_string(meta)));
  }
  return {};
}

}  // namespace msvm::vm
