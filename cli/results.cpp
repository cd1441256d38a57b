#include "results.h"

#include <fmt/core.h>

#include <map>

#include "npy.h"

namespace msvm::cli {
namespace {

std::string preview(const TensorMeta& m) {
  std::string out;
  int64_t n = std::min<int64_t>(m.elements(), 6);
  for (int64_t i = 0; i < n; ++i) {
    out += i ? ", " : "";
    switch (m.dtype) {
      case DType::kF32: out += fmt::format("{:.6g}", m.as<float>()[i]); break;
      case DType::kF64: out += fmt::format("{:.6g}", m.as<double>()[i]); break;
      case DType::kI64: out += std::to_string(m.as<int64_t>()[i]); break;
      case DType::kI32: out += std::to_string(m.as<int32_t>()[i]); break;
      case DType::kBool:
      case DType::kU8: out += std::to_string(m.as<uint8_t>()[i]); break;
      case DType::kI8: out += std::to_string(m.as<int8_t>()[i]); break;
      case DType::kString: out += "\"" + m.as<std::string>()[i] + "\""; break;
      default: return out;
    }
  }
  return out + (m.elements() > n ? ", ..." : "");
}

}  // namespace

std::string describe(const Value& v) {
  if (const auto* t = std::get_if<TensorValue>(&v)) return fmt::format("{} = [{}]", to_string(t->meta), preview(t->meta));
  if (const auto* n = std::get_if<int64_t>(&v)) return std::to_string(*n);
  if (const auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  return std::get<bool>(v) ? "true" : "false";
}

Status write_outputs(const std::string& path, const Function& f, const std::vector<Value>& values) {
  std::map<std::string, TensorMeta> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    TensorMeta& m = tensors[f.outputs[i].name.empty() ? fmt::format("output{}", i) : f.outputs[i].name];
    if (const auto* t = std::get_if<TensorValue>(&values[i])) {
      if (t->meta.dtype == DType::kString) return unsupported(fmt::format("--output {}: strings can't be written as arrays", path));
      m = t->meta;
    } else {  // an array of rank 0
      m.dtype = std::holds_alternative<int64_t>(values[i]) ? DType::kI64 : std::holds_alternative<double>(values[i]) ? DType::kF64 : DType::kBool;
      m.data = std::visit([](const auto& v) { return reinterpret_cast<std::byte*>(const_cast<std::decay_t<decltype(v)>*>(&v)); }, values[i]);
    }
  }
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  if (tensors.size() != 1) return invalid_argument(fmt::format("--output {}: the program has {} outputs; write an .npz", path, tensors.size()));
  return write_npy(path, tensors.begin()->second);
}

}  // namespace msvm::cli
