#include "msvm/opt/constants.h"

#include <cmath>
#include <cstring>

#include "msvm/bytecode/constant_data.h"

namespace msvm::opt {

std::optional<std::vector<int64_t>> constant_sizes(const TensorType& t) {
  std::vector<int64_t> s;
  if (t.unknown_rank) return std::nullopt;
  for (Dim d : t.shape) {
    if (!d.is_const()) return std::nullopt;
    s.push_back(d.value());
  }
  return s;
}

std::vector<int64_t> sizes(const TensorType& t) { return constant_sizes(t).value_or(std::vector<int64_t>{}); }

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n)) return INT64_MAX;
  return n;
}

const float* floats(const Constant* c) { return c && c->type.dtype == DType::kF32 && c->data ? reinterpret_cast<const float*>(c->data) : nullptr; }

std::optional<double> scalar(const Constant* c) {
  if (!c || !c->data || element_count(sizes(c->type)) != 1) return std::nullopt;
  auto read = [&](auto zero) {
    std::memcpy(&zero, c->data, sizeof zero);
    return static_cast<double>(zero);
  };
  switch (c->type.dtype) {
    case DType::kF32: return read(0.0f);
    case DType::kF64: return read(0.0);
    case DType::kI64: return read(int64_t{0});
    case DType::kI32: return read(int32_t{0});
    default: return std::nullopt;
  }
}

Constant new_constant(ValueGraph& g, std::string name, DType dtype, const std::vector<int64_t>& shape) {
  Constant c;
  c.name = std::move(name);
  c.type.dtype = dtype;
  for (int64_t d : shape) c.type.shape.push_back(g.dims().constant(d));
  c.bytes = static_cast<size_t>(element_count(shape) * dtype_bytes(dtype));
  auto owner = allocate_constant_bytes(c.bytes);
  c.data = owner.get();
  c.keep_alive = owner;
  return c;
}

Constant reshaped_constant(ValueGraph& g, const Constant& from, const std::vector<int64_t>& shape) {
  Constant c = from;
  c.type.shape.clear();
  for (int64_t d : shape) c.type.shape.push_back(g.dims().constant(d));
  return c;
}

}  // namespace msvm::opt
