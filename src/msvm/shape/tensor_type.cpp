#include "msvm/shape/tensor_type.h"

#include <fmt/format.h>

namespace msvm {
namespace {
constexpr std::pair<DeviceKind, std::string_view> kDevices[] = {{DeviceKind::kCpu, "CPU"}, {DeviceKind::kSim, "sim"}};
}  // namespace

std::string to_string(Device d) {
  for (auto [kind, name] : kDevices)
    if (kind == d.kind) return fmt::format("{}({})", name, d.index);
  return "?";
}

std::optional<Device> device_from_string(std::string_view text) {
  for (auto [kind, name] : kDevices) {
    if (!text.starts_with(name)) continue;
    std::string_view rest = text.substr(name.size());
    for (int i = 0; i < 256; ++i)
      if (rest == fmt::format("({})", i)) return Device{kind, static_cast<uint8_t>(i)};
  }
  return std::nullopt;
}

std::string to_string(const TensorType& t, const DimContext& dims) {
  std::string out(dtype_name(t.dtype));
  out += '[';
  if (t.unknown_rank) out += '*';
  for (int i = 0; i < t.rank() && !t.unknown_rank; ++i) out += (i > 0 ? ", " : "") + dims.to_string(t.shape[static_cast<size_t>(i)]);
  out += ']';
  if (t.layout == Layout::kNhwc) out += "@nhwc";
  if (t.strided) out += " strided";
  if (t.device != Device{}) out += " " + to_string(t.device);
  if (t.filled) out += fmt::format(" filled({}, {}, {})", t.filled->axis, dims.to_string(t.filled->from), dims.to_string(t.filled->to));
  return out;
}

std::string_view kind_name(RegKind kind) {
  switch (kind) {
    case RegKind::kTensor: return "tensor";
    case RegKind::kList: return "list";
    case RegKind::kI64: return "i64";
    case RegKind::kF64: return "f64";
    case RegKind::kBool: return "bool";
  }
  return "?";
}

std::string to_string(const RegType& t, const DimContext& dims) {
  if (t.kind == RegKind::kTensor) return to_string(t.tensor, dims);
  if (t.kind == RegKind::kList) return fmt::format("list<{}>", dtype_name(t.tensor.dtype));
  return std::string(kind_name(t.kind));
}

}  // namespace msvm
