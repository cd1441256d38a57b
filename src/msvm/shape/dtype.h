// Element types: one table with name, size and kind; everything else asks it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace msvm {

// name, text, bits, kind, C++ storage type, ONNX TensorProto.DataType, numpy name
#define MSVM_DTYPES(X)                                                  \
  X(kF64, "f64", 64, kFloat, double, 11, "float64")                     \
  X(kF32, "f32", 32, kFloat, float, 1, "float32")                       \
  X(kF16, "f16", 16, kFloat, uint16_t, 10, "float16")                   \
  X(kBF16, "bf16", 16, kFloat, uint16_t, 16, "bfloat16")                \
  X(kI8, "i8", 8, kSigned, int8_t, 3, "int8")                           \
  X(kI16, "i16", 16, kSigned, int16_t, 5, "int16")                      \
  X(kI32, "i32", 32, kSigned, int32_t, 6, "int32")                      \
  X(kI64, "i64", 64, kSigned, int64_t, 7, "int64")                      \
  X(kU8, "u8", 8, kUnsigned, uint8_t, 2, "uint8")                       \
  X(kU16, "u16", 16, kUnsigned, uint16_t, 4, "uint16")                  \
  X(kU32, "u32", 32, kUnsigned, uint32_t, 12, "uint32")                 \
  X(kU64, "u64", 64, kUnsigned, uint64_t, 13, "uint64")                 \
  X(kBool, "bool", 8, kBool, uint8_t, 9, "bool")                        \
  X(kString, "string", 256, kString, void, 8, "object")

enum class DType : uint8_t {
#define X(id, text, bits, kind, ctype, onnx, numpy) id,
  MSVM_DTYPES(X)
#undef X
};
enum class DTypeKind : uint8_t { kFloat, kSigned, kUnsigned, kBool, kString };

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  int bits;        // per element; a string element is one std::string object on the host
  DTypeKind kind;
  int onnx;        // TensorProto.DataType
  std::string_view numpy;
};

constexpr int kNumDTypes = 14;
const DTypeInfo& dtype_info(DType t);
std::optional<DType> dtype_from_name(std::string_view name);
std::optional<DType> dtype_from_onnx(int onnx);

inline std::string_view dtype_name(DType t) { return dtype_info(t).name; }
inline int64_t dtype_bytes(DType t) { return dtype_info(t).bits / 8; }
inline bool is_float(DType t) { return dtype_info(t).kind == DTypeKind::kFloat; }
inline bool is_integer(DType t) { auto k = dtype_info(t).kind; return k == DTypeKind::kSigned || k == DTypeKind::kUnsigned; }

}  // namespace msvm
