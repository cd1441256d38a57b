#include "msvm/bytecode/constant_data.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

#include "msvm/base/checked.h"

namespace msvm {

std::shared_ptr<std::byte> allocate_constant_bytes(size_t size) {
  constexpr std::align_val_t kAlign{kConstantAlignment};
  auto* p = static_cast<std::byte*>(::operator new(size ? size : 1, kAlign));
  return {p, [](std::byte* q) { ::operator delete(q, kAlign); }};
}

std::optional<uint64_t> constant_size(const TensorType& type) {
  if (type.unknown_rank || type.strided || type.filled || type.layout != Layout::kRowMajor || type.device != Device{})
    return std::nullopt;
  std::vector<int64_t> sizes;
  for (Dim d : type.shape) {
    if (!d.is_const()) return std::nullopt;
    sizes.push_back(d.value());
  }
  auto elements = checked_product(sizes);
  if (!elements) return std::nullopt;
  auto bytes = checked_mul(*elements, type.dtype == DType::kString ? 1 : dtype_bytes(type.dtype));
  if (!bytes) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

uint64_t data_digest(std::span<const std::byte> bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

uint64_t constant_digest(const Constant& c) {
  if (c.digest != 0) return c.digest;
  if (c.type.dtype != DType::kString) return data_digest({c.data, c.bytes});
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  for (const std::string& s : c.strings) {
    uint64_t length = s.size();
    XXH64_update(&state, &length, sizeof length);
    XXH64_update(&state, s.data(), s.size());
  }
  return XXH64_digest(&state);
}

}  // namespace msvm
