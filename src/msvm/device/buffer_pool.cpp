// Blocks of eight size classes per doubling, each on a list of its own. A block and its Storage object stay together while cached,
// so that a request that finds one touches no allocator: one short lock, a pop, a few counters.
#include "msvm/device/buffer_pool.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#define MSVM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MSVM_ASAN 1
#endif
#endif
#if defined(MSVM_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace msvm {
namespace {

constexpr int64_t kHugePage = 2 << 20;
constexpr int64_t kMapped = 1 << 20;           // from here on blocks come from mmap
constexpr int kClasses = 8 * 54;               // up to 2^62
constexpr int64_t kMaxBytes = int64_t{1} << 61;
constexpr int64_t kDecayPeriod = 2048;         // releases between two looks at what lies idle
constexpr int64_t kSlack = 64 << 20;           // cached large blocks that are always welcome

/// Class 0 holds nothing. Up to 512 bytes in steps of 64, then eight steps per doubling.
int class_of(int64_t bytes) {
  if (bytes <= 512) return static_cast<int>((bytes + 63) / 64);
  const int top = 63 - std::countl_zero(static_cast<uint64_t>(bytes - 1));  // 2^top < bytes <= 2^(top + 1), about
  const int64_t step = int64_t{1} << (top - 3);
  return 8 * (top - 8) + static_cast<int>((bytes - (int64_t{1} << top) + step - 1) / step);
}
int64_t class_bytes(int c) {
  if (c <= 8) return c * 64;
  const int top = (c - 1) / 8 + 8, part = (c - 1) % 8 + 1;
  return (int64_t{1} << top) + part * (int64_t{1} << (top - 3));
}

std::byte* system_allocate(int64_t bytes) {
  if (bytes < kMapped) return static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(bytes)));
  const bool huge = bytes >= kHugePage;
  const int64_t extra = huge ? kHugePage : 0;
  void* p = mmap(nullptr, static_cast<size_t>(bytes + extra), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (!huge) return static_cast<std::byte*>(p);
  auto at = reinterpret_cast<uintptr_t>(p);
  const uintptr_t aligned = (at + kHugePage - 1) & ~static_cast<uintptr_t>(kHugePage - 1);
  if (aligned > at) munmap(p, aligned - at);
  const uintptr_t end = aligned + static_cast<uintptr_t>(bytes), whole = at + static_cast<uintptr_t>(bytes + extra);
  const uintptr_t page_end = (end + 4095) & ~static_cast<uintptr_t>(4095);
  if (whole > page_end) munmap(reinterpret_cast<void*>(page_end), whole - page_end);
  madvise(reinterpret_cast<void*>(aligned), static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}
void system_free(std::byte* p, int64_t bytes) {
#if defined(MSVM_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(p, static_cast<size_t>(bytes));
#endif
  if (bytes < kMapped) std::free(p);
  else munmap(p, static_cast<size_t>((bytes + 4095) & ~int64_t{4095}));
}

/// A few instructions are held under it, never a system call.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; held_.exchange(true, std::memory_order_acquire); ++spins) {
      if (spins < 64) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      } else {
        sched_yield();
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

struct Block {
  Storage storage;
  Block* next = nullptr;
  std::byte* memory = nullptr;
  int64_t capacity = 0;  // of `memory`
  int64_t charged = 0;   // counted as in use
  int size_class = 0;
  MemoryOwner owner = MemoryOwner::kInterpreter;
};

}  // namespace

struct BufferPool::Impl {
  SpinLock lock;
  std::array<Block*, kClasses> free{};
  std::array<int32_t, kClasses> cached{}, least_cached{};  // least since the last look
  std::array<uint64_t, (kClasses + 63) / 64> nonempty{};
  MemoryStats stats;
  int64_t limit = 0;
  int64_t releases = 0;
  int64_t recent_peak = 0;      // of in_use, since the look before the last
  int64_t peak_now = 0;         // since the last look
  int64_t outstanding = 0;
  std::shared_ptr<Impl> self;   // set once the pool is gone and blocks are out

  /// The smallest cached block of class `c` to twice its size; -1 = none.
  int find(int c) const {
    const int last = c < 8 ? 2 * c : c + 8;
    int word = c / 64;
    uint64_t bits = nonempty[static_cast<size_t>(word)] & (~uint64_t{0} << (c % 64));
    for (int tries = 0; tries < 2; ++tries) {
      if (bits) {
        const int found = word * 64 + std::countr_zero(bits);
        return found <= last ? found : -1;
      }
      if (++word >= static_cast<int>(nonempty.size())) return -1;
      bits = nonempty[static_cast<size_t>(word)];
    }
    return -1;
  }
  Block* pop(int c) {
    const auto i = static_cast<size_t>(c);
    Block* b = free[i];
    free[i] = b->next;
    if (!b->next) nonempty[i / 64] &= ~(uint64_t{1} << (i % 64));
    if (--cached[i] < least_cached[i]) least_cached[i] = cached[i];
    return b;
  }
  void push(Block* b) {
    const auto i = static_cast<size_t>(b->size_class);
    b->next = free[i];
    free[i] = b;
    nonempty[i / 64] |= uint64_t{1} << (i % 64);
    ++cached[i];
  }
  void charge(int64_t bytes, MemoryOwner owner) {
    stats.in_use += bytes;
    stats.by_owner[static_cast<int>(owner)] += bytes;
    if (stats.in_use > peak_now) {
      peak_now = stats.in_use;
      if (peak_now > recent_peak) recent_peak = peak_now;
      if (peak_now > stats.peak) stats.peak = peak_now;
    }
    ++stats.allocations;
    ++outstanding;
  }
  Status over_limit(int64_t bytes) const {
    return resource_limit("memory limit: " + std::to_string(bytes) + " bytes are needed, " + std::to_string(stats.in_use) + " are in use, the limit is " +
                          std::to_string(limit));
  }
  bool exceeds(int64_t bytes) const { return limit > 0 && bytes > limit - stats.in_use; }

  /// Takes blocks off the lists: half of what was idle in each class since the last look. Returns them as a list.
  Block* decay() {
    Block* gone = nullptr;
    for (size_t c = 0; c < static_cast<size_t>(kClasses); ++c) {
      for (int n = (least_cached[c] + 1) / 2; n > 0; --n) {
        Block* b = pop(static_cast<int>(c));
        stats.reserved -= b->capacity;
        b->next = gone;
        gone = b;
      }
      least_cached[c] = cached[c];
    }
    recent_peak = std::max(peak_now, stats.in_use);
    peak_now = stats.in_use;
    return gone;
  }
  /// Makes room for a large block that must come from the system: cached large ones go, biggest first, while more lies idle than
  /// recent runs used.
  Block* make_room(int64_t bytes) {
    Block* gone = nullptr;
    for (int c = kClasses - 1; c > 0 && class_bytes(c) >= kMapped; --c) {
      while (free[static_cast<size_t>(c)] && stats.reserved + bytes > 2 * recent_peak + kSlack) {
        Block* b = pop(c);
        stats.reserved -= b->capacity;
        b->next = gone;
        gone = b;
      }
    }
    return gone;
  }
  Block* take_all() {
    Block* gone = nullptr;
    for (int c = 0; c < kClasses; ++c) {
      while (free[static_cast<size_t>(c)]) {
        Block* b = pop(c);
        stats.reserved -= b->capacity;
        b->next = gone;
        gone = b;
      }
      least_cached[static_cast<size_t>(c)] = 0;
    }
    return gone;
  }
  static void destroy(Block* list) {
    while (list) {
      Block* next = list->next;
      if (list->memory) system_free(list->memory, list->capacity);
      delete list;
      list = next;
    }
  }

  static void release(Storage* s) {
    auto* b = reinterpret_cast<Block*>(s);  // its first member
    auto* impl = static_cast<Impl*>(s->owner);
#if defined(MSVM_ASAN)
    if (b->memory) ASAN_POISON_MEMORY_REGION(b->memory, static_cast<size_t>(b->capacity));
#endif
    Block* gone = nullptr;
    std::shared_ptr<Impl> last;
    impl->lock.lock();
    impl->stats.in_use -= b->charged;
    impl->stats.by_owner[static_cast<int>(b->owner)] -= b->charged;
    --impl->outstanding;
    if (impl->self) {  // the pool is gone
      impl->stats.reserved -= b->capacity;
      b->next = nullptr;
      gone = b;
      if (impl->outstanding == 0) last = std::move(impl->self);
    } else if (b->owner == MemoryOwner::kArena && b->capacity >= kMapped) {
      // A session left it for a larger one; nobody else asks for that much at once.
      impl->stats.reserved -= b->capacity;
      b->next = nullptr;
      gone = b;
    } else {
      impl->push(b);
      if (++impl->releases >= kDecayPeriod) {
        impl->releases = 0;
        gone = impl->decay();
      }
    }
    impl->lock.unlock();
    destroy(gone);
  }
  static void release_strings(Storage* s) {
    auto* b = reinterpret_cast<Block*>(s);
    auto* impl = static_cast<Impl*>(s->owner);
    auto* strings = reinterpret_cast<std::string*>(s->data);
    std::destroy_n(strings, s->bytes / sizeof(std::string));
    std::free(strings);
    std::shared_ptr<Impl> last;
    impl->lock.lock();
    impl->stats.in_use -= b->charged;
    impl->stats.reserved -= b->charged;
    impl->stats.by_owner[static_cast<int>(b->owner)] -= b->charged;
    if (--impl->outstanding == 0 && impl->self) last = std::move(impl->self);
    impl->lock.unlock();
    delete b;
  }
};

// A Storage is turned back into its Block.
static_assert(offsetof(Block, storage) == 0);

BufferPool::BufferPool(int64_t limit) : impl_(std::make_shared<Impl>()) { impl_->limit = limit; }

BufferPool::~BufferPool() {
  impl_->lock.lock();
  Block* gone = impl_->take_all();
  if (impl_->outstanding > 0) impl_->self = impl_;
  impl_->lock.unlock();
  Impl::destroy(gone);
}

Result<StorageRef> BufferPool::allocate(int64_t bytes, MemoryOwner owner) {
  Impl& m = *impl_;
  if (bytes < 0 || bytes > kMaxBytes) return resource_limit("memory limit: " + std::to_string(bytes) + " bytes can't be had");
  const int64_t charged = (bytes + 63) & ~int64_t{63};
  const int wanted = class_of(bytes);
  m.lock.lock();
  if (m.exceeds(charged)) [[unlikely]] {
    Status s = m.over_limit(charged);
    m.lock.unlock();
    return s;
  }
  Block* b = nullptr;
  if (const int found = m.find(wanted); found >= 0) [[likely]] {
    b = m.pop(found);
    m.charge(charged, owner);
    m.lock.unlock();
  } else {
    const int64_t capacity = class_bytes(wanted);
    Block* gone = capacity >= kMapped ? m.make_room(capacity) : nullptr;
    m.charge(charged, owner);  // before the lock goes: others see it
    m.stats.reserved += capacity;
    if (capacity > 0) ++m.stats.system_allocations;
    m.lock.unlock();
    Impl::destroy(gone);
    b = new (std::nothrow) Block;
    std::byte* memory = b && capacity > 0 ? system_allocate(capacity) : nullptr;
    if (b && !memory && capacity > 0) {  // once more without what lies idle
      m.lock.lock();
      gone = m.take_all();
      m.lock.unlock();
      Impl::destroy(gone);
      memory = system_allocate(capacity);
    }
    if (!b || (!memory && capacity > 0)) {
      delete b;
      m.lock.lock();
      m.stats.in_use -= charged;
      m.stats.by_owner[static_cast<int>(owner)] -= charged;
      m.stats.reserved -= capacity;
      --m.outstanding;
      const int64_t in_use = m.stats.in_use;
      m.lock.unlock();
      return resource_limit("out of memory: " + std::to_string(capacity) + " bytes are needed, " + std::to_string(in_use) + " are in use; the system has no more");
    }
    b->memory = memory;
    b->capacity = capacity;
    b->size_class = wanted;
    b->storage.owner = &m;
    b->storage.pooled = true;
    b->storage.release = Impl::release;
  }
  b->charged = charged;
  b->owner = owner;
  b->storage.data = b->memory;
#if defined(MSVM_ASAN)
  b->storage.bytes = static_cast<size_t>(charged);
  if (b->memory) {
    ASAN_POISON_MEMORY_REGION(b->memory, static_cast<size_t>(b->capacity));
    ASAN_UNPOISON_MEMORY_REGION(b->memory, static_cast<size_t>(charged));
  }
#else
  b->storage.bytes = static_cast<size_t>(b->capacity);
#endif
  b->storage.references.store(1, std::memory_order_relaxed);
  return StorageRef::adopt(&b->storage);
}

Result<StorageRef> BufferPool::allocate_strings(int64_t count, MemoryOwner owner) {
  Impl& m = *impl_;
  constexpr int64_t kSize = sizeof(std::string);
  if (count < 0 || count > kMaxBytes / kSize) return resource_limit("memory limit: " + std::to_string(count) + " strings can't be had");
  const int64_t bytes = count * kSize, charged = (bytes + 63) & ~int64_t{63};
  m.lock.lock();
  if (m.exceeds(charged)) {
    Status s = m.over_limit(charged);
    m.lock.unlock();
    return s;
  }
  m.charge(charged, owner);
  m.stats.reserved += charged;
  if (bytes > 0) ++m.stats.system_allocations;
  m.lock.unlock();
  auto* b = new (std::nothrow) Block;
  void* memory = b && bytes > 0 ? std::aligned_alloc(64, static_cast<size_t>(charged)) : nullptr;
  if (!b || (bytes > 0 && !memory)) {
    delete b;
    m.lock.lock();
    m.stats.in_use -= charged;
    m.stats.reserved -= charged;
    m.stats.by_owner[static_cast<int>(owner)] -= charged;
    --m.outstanding;
    m.lock.unlock();
    return resource_limit("out of memory: " + std::to_string(bytes) + " bytes for strings; the system has no more");
  }
  std::uninitialized_default_construct_n(static_cast<std::string*>(memory), static_cast<size_t>(count));
  b->charged = charged;
  b->owner = owner;
  b->storage.data = static_cast<std::byte*>(memory);
  b->storage.bytes = static_cast<size_t>(bytes);
  b->storage.holds_strings = true;
  b->storage.owner = &m;
  b->storage.release = Impl::release_strings;
  return StorageRef::adopt(&b->storage);
}

MemoryStats BufferPool::stats() const {
  impl_->lock.lock();
  MemoryStats s = impl_->stats;
  impl_->lock.unlock();
  return s;
}

void BufferPool::set_limit(int64_t bytes) {
  impl_->lock.lock();
  impl_->limit = bytes;
  impl_->lock.unlock();
}

void BufferPool::trim() {
  impl_->lock.lock();
  Block* gone = impl_->take_all();
  impl_->lock.unlock();
  Impl::destroy(gone);
}

}  // namespace msvm
