// msvm.Print, and the text of its tensors.
#include <fmt/format.h>

#include <cstdio>
#include <mutex>

#include "msvm/base/half.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/print.h"
#include "msvm/ops/print_format.h"

namespace msvm {
namespace {

constexpr int64_t kMostElements = 1000;  // of a tensor that is printed whole

std::string element(const TensorMeta& t, int64_t at) {
  switch (t.dtype) {
    case DType::kF64: return fmt::format("{}", t.as<double>()[at]);
    case DType::kF32: return fmt::format("{}", t.as<float>()[at]);
    case DType::kF16: return fmt::format("{}", f16_to_f32(t.as<uint16_t>()[at]));
    case DType::kBF16: return fmt::format("{}", bf16_to_f32(t.as<uint16_t>()[at]));
    case DType::kI8: return fmt::format("{}", t.as<int8_t>()[at]);
    case DType::kI16: return fmt::format("{}", t.as<int16_t>()[at]);
    case DType::kI32: return fmt::format("{}", t.as<int32_t>()[at]);
    case DType::kI64: return fmt::format("{}", t.as<int64_t>()[at]);
    case DType::kU8: return fmt::format("{}", t.as<uint8_t>()[at]);
    case DType::kU16: return fmt::format("{}", t.as<uint16_t>()[at]);
    case DType::kU32: return fmt::format("{}", t.as<uint32_t>()[at]);
    case DType::kU64: return fmt::format("{}", t.as<uint64_t>()[at]);
    case DType::kBool: return t.as<uint8_t>()[at] ? "true" : "false";
    case DType::kString: return fmt::format("\"{}\"", t.as<std::string>()[at]);
  }
  return "?";
}

void append(std::string& out, const TensorMeta& t, int axis, int64_t offset) {
  if (axis == t.rank) {
    out += element(t, offset);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < t.shape[static_cast<size_t>(axis)]; ++i) {
    if (i) out += ", ";
    append(out, t, axis + 1, offset + i * t.strides[static_cast<size_t>(axis)]);
  }
  out += ']';
}

struct Sink {
  std::mutex mutex;
  std::shared_ptr<const PrintSink> current;
};
Sink& sink() {
  static Sink& s = *new Sink;  // programs may run until the process ends
  return s;
}

Status ref_print(KernelCall& call) { return print({call.attrs.get_string("format", ""), call.inputs, call.args}); }

}  // namespace

void set_print_sink(PrintSink fresh) {
  auto next = fresh ? std::make_shared<const PrintSink>(std::move(fresh)) : nullptr;
  std::lock_guard lock(sink().mutex);
  sink().current.swap(next);
}

Status print(const PrintCall& call) {
  std::unique_lock lock(sink().mutex);
  const auto to = sink().current;
  lock.unlock();
  if (to) return (*to)(call);
  const std::string text = to_text(call);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return {StatusCode::kIo, "can't print to standard output"};
  return {};
}

std::string to_text(const PrintCall& call) {
  auto pieces = parse_print_format(call.format, call.tensors.size() + call.sizes.size());
  if (!pieces.ok()) return pieces.status().message();
  std::string text;
  for (const PrintPiece& p : *pieces) {
    text += p.text;
    if (p.operand < 0) continue;
    const auto k = static_cast<size_t>(p.operand);
    if (k >= call.tensors.size()) text += fmt::format("{}", call.sizes[k - call.tensors.size()]);
    else if (const TensorMeta* t = call.tensors[k]; !t) text += "_";
    else if (t->elements() > kMostElements) text += to_string(*t);
    else append(text, *t, 0, 0);
  }
  return text;
}

void add_host_kernels(KernelList& list) { list.push_back({.name = "ref_print", .op = "msvm.Print", .run = ref_print, .default_overhead_ns = 10'000}); }

}  // namespace msvm
