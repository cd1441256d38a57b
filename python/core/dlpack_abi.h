// The structs of DLPack 1.x, as other libraries lay them out.
#pragma once
#include <cstdint>

namespace msvm::python::dlpack {

struct Device {
  int32_t type;
  int32_t id;
};
constexpr int32_t kCpu = 1, kCudaHost = 3;

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6;

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major without gaps
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct Version {
  uint32_t major, minor;
};
constexpr uint64_t kReadOnly = 1, kCopied = 2;

struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

constexpr const char *kName = "dltensor", *kUsedName = "used_dltensor";
constexpr const char *kVersionedName = "dltensor_versioned", *kUsedVersionedName = "used_dltensor_versioned";

}  // namespace msvm::python::dlpack
