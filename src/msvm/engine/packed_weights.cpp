#include "msvm/engine/packed_weights.h"

#include <algorithm>

#include "msvm/base/file.h"

namespace msvm {
namespace {

bool same_view(const TensorMeta& a, const TensorMeta& b) {
  return a.dtype == b.dtype && a.rank == b.rank && std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin()) &&
         std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

}  // namespace

PackedWeights::PackedWeights(const Module& module, BufferPool& pool) : pool_(pool) {
  for (const Constant& c : module.constants)
    if (c.data && c.bytes > 0) {
      size_t& bytes = constants_[c.data];
      bytes = std::max(bytes, c.bytes);
    }
}

Result<const std::byte*> PackedWeights::get(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack) {
  const auto raw = constants_.find(source.data);
  if (raw == constants_.end()) return static_cast<const std::byte*>(nullptr);  // a temporary copy of one: its address says nothing
  std::lock_guard lock(mutex_);
  for (auto [it, end] = entries_.equal_range(source.data); it != end; ++it) {
    const Entry& e = it->second;
    if (e.bytes == bytes && e.format == format && same_view(e.source, source)) return static_cast<const std::byte*>(e.storage->data);
  }
  MSVM_ASSIGN_OR_RETURN(StorageRef storage, pool_.allocate(std::max<int64_t>(bytes, 64), MemoryOwner::kWeights));
  pack(storage->data);
  drop_mapped_pages({raw->first, raw->second});
  const std::byte* data = storage->data;
  entries_.emplace(source.data, Entry{source, format, bytes, std::move(storage)});
  return data;
}

}  // namespace msvm
