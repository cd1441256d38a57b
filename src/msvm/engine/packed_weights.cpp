#include "msvm/engine/packed_weights.h"

#include <algorithm>

#include "msvm/base/file.h"
#include "msvm/base/file_copy.h"

namespace msvm {
namespace {

bool same_view(const TensorMeta& a, const TensorMeta& b) {
  return a.dtype == b.dtype && a.rank == b.rank && std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin()) &&
         std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

}  // namespace

PackedWeights::PackedWeights(const Module& module, RawConstants raw, BufferPool& pool) : module_(module), raw_(std::move(raw)), pool_(pool) {
  for (const Constant& c : module.constants)
    if (c.data && c.bytes > 0) {
      Raw& known = constants_[c.data];
      known.bytes = std::max(known.bytes, c.bytes);
      known.may_go = raw_.may_go(c.data);
    }
}

Result<const std::byte*> PackedWeights::get(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack) {
  std::lock_guard lock(mutex_);
  const auto raw = constants_.find(source.data);
  if (raw == constants_.end()) return static_cast<const std::byte*>(nullptr);  // a temporary copy of one: its address says nothing
  for (auto [it, end] = entries_.equal_range(source.data); it != end; ++it) {
    const Entry& e = it->second;
    if (e.bytes == bytes && e.format == format && same_view(e.source, source)) return static_cast<const std::byte*>(e.storage->data);
  }
  MSVM_ASSIGN_OR_RETURN(StorageRef storage, pool_.allocate(std::max<int64_t>(bytes, 64), MemoryOwner::kWeights));
  if (raw->second.gone) fill_copy(raw->first);
  pack(storage->data);
  if (raw->second.may_go) raw->second.gone = drop_copy(raw->first);
  else drop_mapped_pages({raw->first, raw->second.bytes});
  const std::byte* data = storage->data;
  entries_.emplace(source.data, Entry{source, format, bytes, std::move(storage)});
  return data;
}

void PackedWeights::keep_raw(const std::byte* data) {
  std::lock_guard lock(mutex_);
  const auto raw = constants_.find(data);
  if (raw == constants_.end()) return;
  if (raw->second.gone) fill_copy(data);
  raw->second.gone = raw->second.may_go = false;
}

void PackedWeights::keep_all_raw() {
  for (const Constant& c : module_.constants) keep_raw(c.data);
}

}  // namespace msvm
