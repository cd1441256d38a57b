#include "msvm/shape/dtype.h"

#include <string>

namespace msvm {
namespace {
constexpr DTypeInfo kTable[] = {
#define X(id, text, bits, kind, ctype, onnx, numpy) {DType::id, text, bits, DTypeKind::kind, onnx, numpy},
    MSVM_DTYPES(X)
#undef X
};
static_assert(sizeof(kTable) / sizeof(kTable[0]) == kNumDTypes);
static_assert(sizeof(std::string) * 8 == 256);
}  // namespace

const DTypeInfo& dtype_info(DType t) { return kTable[static_cast<int>(t)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& i : kTable)
    if (i.name == name) return i.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int onnx) {
  for (const DTypeInfo& i : kTable)
    if (i.onnx == onnx) return i.dtype;
  return std::nullopt;
}

}  // namespace msvm
