// A reference-counted block of tensor memory. Pools, callers' arrays and mapped files all hand out Storage.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace msvm {

/// Made by an allocator or by an owner of foreign memory, freed through `release` when the last reference goes.
/// Thread-safe counting; the bytes themselves are guarded by the single-assignment rules of the bytecode.
struct Storage {
  std::byte* data = nullptr;
  size_t bytes = 0;          // usable size
  bool pooled = false;       // may be grown or reused in place (pool buffers); borrowed memory is not
  bool holds_strings = false;  // `data` is an array of std::string that release() destroys
  std::atomic<int32_t> references{1};
  void (*release)(Storage*) = nullptr;
  void* owner = nullptr;     // for release()

  bool unique() const { return references.load(std::memory_order_acquire) == 1; }
};

/// Owns one reference.
class StorageRef {
 public:
  StorageRef() = default;
  /// Takes over the reference that `s` already counts.
  static StorageRef adopt(Storage* s) { StorageRef r; r.s_ = s; return r; }
  StorageRef(const StorageRef& o) : s_(o.s_) { if (s_) s_->references.fetch_add(1, std::memory_order_relaxed); }
  StorageRef(StorageRef&& o) noexcept : s_(std::exchange(o.s_, nullptr)) {}
  StorageRef& operator=(StorageRef o) noexcept { std::swap(s_, o.s_); return *this; }
  ~StorageRef() { reset(); }
  void reset() {
    if (Storage* s = std::exchange(s_, nullptr); s && s->references.fetch_sub(1, std::memory_order_acq_rel) == 1) s->release(s);
  }
  /// Gives up the reference without dropping it: the caller counts it from now on.
  Storage* release() { return std::exchange(s_, nullptr); }
  Storage* get() const { return s_; }
  Storage* operator->() const { return s_; }
  explicit operator bool() const { return s_ != nullptr; }

 private:
  Storage* s_ = nullptr;
};

}  // namespace msvm
