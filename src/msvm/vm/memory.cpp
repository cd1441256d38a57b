// Allocation, RESIZE, views, element reads.
#include <fmt/core.h>

#include <algorithm>

#include "msvm/base/checked.h"
#include "msvm/vm/machine.h"
#include "msvm/vm/views.h"

namespace msvm::vm {

TensorValue Machine::take(TensorSlot& t) {
  TensorValue value;
  value.meta = t.meta;
  if (t.owned) value.storage = StorageRef::adopt(t.storage);
  t.storage = nullptr;
  t.owned = false;
  return value;
}

void Machine::drop_all() {
  for (TensorSlot& t : frame_.tensors) drop(t);
  for (ListSlot& l : frame_.lists) l.items.reset();
  x_.live_bytes = 0;
}

Status Machine::allocate(TensorSlot& t, MemoryUse use) {
  if (!set_dense_strides(t.meta)) [[unlikely]]
    return overflow_error(fmt::format("{}: a size is negative, or the bytes leave 64 bits", to_string(t.meta)));
  return allocate_bytes(t, t.meta.elements() * dtype_bytes(t.meta.dtype), use);
}

Status Machine::allocate_bytes(TensorSlot& t, int64_t bytes, MemoryUse use) {
  if (x_.limits.max_bytes && bytes > x_.limits.max_bytes - x_.live_bytes) [[unlikely]]
    return resource_limit(fmt::format("{} needs {} bytes; {} of the session's limit of {} are in use", to_string(t.meta), bytes, x_.live_bytes, x_.limits.max_bytes));
  auto made = x_.allocator.allocate(t.meta.device, t.meta.dtype, bytes, use);
  if (!made.ok()) [[unlikely]] return made.status();
  drop(t);
  t.storage = made->release();
  t.owned = t.storage != nullptr;
  t.meta.data = nullptr;
  if (t.owned) {
    t.meta.data = t.storage->data;
    x_.live_bytes += counted_bytes(t.storage);
  }
  ++x_.counters.allocations;
  return {};
}

// The call that writes `t` reads `from` element by element and is the last to do so (decode_in_place.cpp). Both hold the buffer until
// `from` is freed.
bool Machine::take_buffer(TensorSlot& t, const TensorSlot& from) {
  constexpr int64_t kRoundedUp = 4096;  // a small tensor doesn't hold on to a large buffer of which it was a part
  if (!from.owned || !from.storage->pooled || !from.storage->unique() || !from.meta.data || from.meta.data != from.storage->data) return false;
  TensorMeta& m = t.meta;
  if (m.rank != from.meta.rank || !std::equal(m.shape.begin(), m.shape.begin() + m.rank, from.meta.shape.begin()) || !set_dense_strides(m)) return false;
  for (size_t a = 0; a < m.rank; ++a)
    if (m.shape[a] != 1 && m.strides[a] != from.meta.strides[a]) return false;
  if (static_cast<int64_t>(from.storage->bytes) / 2 > std::max(m.elements() * dtype_bytes(m.dtype), kRoundedUp)) return false;
  drop(t);
  share(t, from);
  m.data = from.meta.data;
  ++x_.counters.in_place;
  return true;
}

Status Machine::alloc(const Code& c, bool may_take) {
  TensorSlot& t = slot(c.a);
  const TensorType& type = type_of(c.a);
  TensorMeta& m = t.meta;
  m.dtype = type.dtype;
  m.layout = type.layout;
  m.device = type.device;
  m.rank = static_cast<uint8_t>(c.n);
  const int32_t* dims = extra(c);
  for (size_t i = 0; i < c.n; ++i) m.shape[i] = v_[dims[i]];
  if (c.d < 0 || !frame_.plan) {
    if (may_take && c.b >= 0 && take_buffer(t, slot(c.b))) return {};
    return allocate(t, MemoryUse::kTensor);
  }
  const Plan& plan = *frame_.plan;
  const auto k = static_cast<size_t>(c.d);
  const int64_t offset = plan.offsets[k];
  if (!set_dense_strides(m) || offset < 0 || m.elements() * dtype_bytes(m.dtype) > plan.sizes[k]) [[unlikely]]
    return allocate(t, MemoryUse::kTensor);
  drop(t);
  x_.counters.in_place += plan.in_place[k];
  t.storage = frame_.arena.get();
  m.data = t.storage ? t.storage->data + offset : nullptr;
  ++x_.counters.planned_allocations;
  return {};
}

namespace {

/// Whether the tensor may have `size` along `axis` where it lies: axes nest in memory without overlap, the first element is the
/// storage's, and the last one is still inside. What lies between is nobody else's: the reference is the only one.
bool fits_in_place(const TensorSlot& s, size_t axis, int64_t size) {
  if (!s.owned || !s.storage->pooled || !s.storage->unique() || s.meta.data != s.storage->data || !s.meta.data) return false;
  int64_t extent = 1;  // elements from the first to behind the last of the axes inside
  const auto order = memory_order(s.meta.layout, s.meta.rank);
  for (size_t k = order.size(); k-- > 0;) {
    const size_t a = order[k];
    const int64_t n = a == axis ? size : s.meta.shape[a];
    if (n <= 1 && a != axis) continue;
    if (s.meta.strides[a] < extent) return false;
    int64_t beyond;
    if (__builtin_mul_overflow(s.meta.strides[a], std::max<int64_t>(n - 1, 0), &beyond) || __builtin_add_overflow(beyond, extent, &extent)) return false;
  }
  int64_t bytes;
  return !__builtin_mul_overflow(extent, dtype_bytes(s.meta.dtype), &bytes) && bytes <= static_cast<int64_t>(s.storage->bytes);
}

}  // namespace

// Keeps the storage where Rs alone holds it and the axis has room; else a capacity that doubles along the axis.
Status Machine::resize(const Code& c) {
  TensorSlot& s = slot(c.b);
  const auto axis = static_cast<size_t>(c.c);
  const int64_t size = v_[c.d], old = s.meta.shape[axis];
  if (size < 0) return out_of_range(fmt::format("resize of {} to size {}", to_string(s.meta), size));
  TensorSlot& d = slot(c.a);
  drop(d);
  if (fits_in_place(s, axis, size)) {
    move(d, s);
    d.meta.shape[axis] = size;
    return {};
  }
  TensorSlot whole;
  whole.meta = s.meta;
  whole.meta.shape[axis] = size > old ? std::max(size, checked_mul(old, 2).value_or(size)) : size;
  Status made = allocate(whole, MemoryUse::kResult);
  if (!made.ok() && whole.meta.shape[axis] > size) {  // without room to grow
    whole.meta.shape[axis] = size;
    made = allocate(whole, MemoryUse::kResult);
  }
  if (!made.ok()) return made;
  TensorMeta from = s.meta, to = whole.meta;
  from.shape[axis] = to.shape[axis] = std::min(old, size);
  if (from.elements() > 0) {
    if (Status copied = x_.dispatcher.copy(from, to); !copied.ok()) {
      drop(whole);
      return copied;
    }
    x_.counters.copied_bytes += from.elements() * dtype_bytes(from.dtype);
  }
  drop(s);
  whole.meta.shape[axis] = size;
  move(d, whole);
  return {};
}

Status Machine::view(const Code& c) {
  const TensorSlot& s = slot(c.b);
  TensorSlot& d = slot(c.a);
  const int32_t* operands = extra(c);
  const size_t n = c.n;
  int64_t values[4 * kMaxRank];
  if (n > std::size(values)) [[unlikely]] return internal_error("a view with too many operands");
  auto load_values = [&] {
    for (size_t i = 0; i < n; ++i) values[i] = v_[operands[i]];
  };
  drop(d);
  Status made;
  switch (c.op) {
    case Op::kSlice:
      load_values();
      made = slice_view(s.meta, {values, n / 2}, {values + n / 2, n / 2}, d.meta);
      break;
    case Op::kReshape:
      load_values();
      made = reshape_view(s.meta, {values, n}, d.meta);
      break;
    case Op::kBroadcast:
      load_values();
      made = broadcast_view(s.meta, {values, n}, d.meta);
      break;
    case Op::kTranspose: made = transpose_view(s.meta, {operands, n}, d.meta); break;
    case Op::kSqueeze: made = squeeze_view(s.meta, {operands, n}, d.meta); break;
    case Op::kUnsqueeze: made = unsqueeze_view(s.meta, {operands, n}, d.meta); break;
    case Op::kWindow: made = window_view(s.meta, operands[2], v_[operands[0]], v_[operands[1]], d.meta); break;
    default: d.meta = s.meta; break;
  }
  if (made.ok()) share(d, s);
  return made;
}

Status Machine::read(const Code& c) {
  const TensorMeta& m = slot(c.b).meta;
  int64_t index[kMaxRank];
  const size_t n = std::min<size_t>(c.n, kMaxRank);
  for (size_t i = 0; i < n; ++i) index[i] = v_[extra(c)[i]];
  const std::byte* at = nullptr;
  MSVM_RETURN_IF_ERROR(element_address(m, {index, n}, at));
  if (m.device.kind == DeviceKind::kCpu) return load_element(m.dtype, at, v_[c.a]);
  TensorMeta one = m;
  one.rank = 0;
  one.data = const_cast<std::byte*>(at);
  alignas(8) std::byte bytes[8];
  MSVM_RETURN_IF_ERROR(x_.dispatcher.fetch(one, bytes));
  return load_element(m.dtype, bytes, v_[c.a]);
}

}  // namespace msvm::vm
