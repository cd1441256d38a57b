// Static types of registers: what is known of a tensor before it exists.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/shape/dim.h"
#include "msvm/shape/dtype.h"

namespace msvm {

constexpr int kMaxRank = 8;

enum class Layout : uint8_t { kRowMajor, kNhwc };  // how axes lie in memory; logical axes never change with it

enum class DeviceKind : uint8_t { kCpu, kSim };
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  uint8_t index = 0;
  bool operator==(const Device&) const = default;
};
std::string to_string(Device d);                     // "CPU(0)", "sim(1)"
std::optional<Device> device_from_string(std::string_view text);

/// Written part of a tensor that a loop fills: [from, to) along `axis`.
struct FilledExtent {
  int axis = 0;
  Dim from, to;
  bool operator==(const FilledExtent&) const = default;
};

struct TensorType {
  DType dtype = DType::kF32;
  bool unknown_rank = false;         // f32[*]: `shape` is empty and means nothing
  std::vector<Dim> shape;
  Layout layout = Layout::kRowMajor;
  bool strided = false;              // not proved dense in its layout
  Device device;
  std::optional<FilledExtent> filled;  // PHIs of a filling loop only

  int rank() const { return static_cast<int>(shape.size()); }
  bool operator==(const TensorType&) const = default;
};

enum class RegKind : uint8_t { kTensor, kList, kI64, kF64, kBool };
std::string_view kind_name(RegKind kind);             // "tensor", "list", "i64", "f64", "bool"

/// Type of a register. `tensor` counts for kTensor; of a kList only its dtype does.
struct RegType {
  RegKind kind = RegKind::kTensor;
  TensorType tensor;
  bool operator==(const RegType&) const = default;
};

/// "f32[N, 64, 2*H, W]@nhwc strided sim(1) filled(0, 0, i)"; CPU(0) is left out, an unknown rank is "f32[*]".
std::string to_string(const TensorType& t, const DimContext& dims);
std::string to_string(const RegType& t, const DimContext& dims);     // also "i64", "f64", "bool", "list<f32>"

}  // namespace msvm
