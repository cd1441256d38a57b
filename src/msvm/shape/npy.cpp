#include "msvm/shape/npy.h"

#include <fmt/core.h>

namespace msvm {
namespace {

std::string descr(DType t) {
  const DTypeInfo& i = dtype_info(t);
  if (t == DType::kBool) return "|b1";
  if (t == DType::kBF16) return "<u2";
  char kind = i.kind == DTypeKind::kFloat ? 'f' : i.kind == DTypeKind::kSigned ? 'i' : 'u';
  return fmt::format("{}{}{}", i.bits == 8 ? '|' : '<', kind, i.bits / 8);
}

}  // namespace

std::string npy_header(DType dtype, std::span<const int64_t> dims) {
  std::string shape;
  for (int64_t d : dims) shape += fmt::format("{}, ", d);
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr(dtype), shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY", 6);
  out += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return out + header;
}

}  // namespace msvm
