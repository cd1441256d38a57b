// A vector whose elements never move: threads may read elements that exist while another one appends.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

namespace msvm {

/// One thread at a time appends. T is default-constructible.
template <class T>
class StableVector {
 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    for (auto& c : chunks_) delete[] c.load(std::memory_order_relaxed);
  }

  size_t size() const { return size_.load(std::memory_order_acquire); }
  T& operator[](size_t i) { return *place(i); }
  const T& operator[](size_t i) const { return *place(i); }

  void push_back(T value) {
    const size_t n = size_.load(std::memory_order_relaxed);
    auto& chunk = chunks_[chunk_of(n)];
    if (!chunk.load(std::memory_order_relaxed)) chunk.store(new T[kFirst << chunk_of(n)], std::memory_order_release);
    *place(n) = std::move(value);
    size_.store(n + 1, std::memory_order_release);
  }
  /// Keeps the first `n`; nobody may read the others meanwhile.
  void shrink(size_t n) { size_.store(n, std::memory_order_release); }

 private:
  // Chunk k holds kFirst * 2^k elements.
  static constexpr size_t kFirst = 16;
  static size_t chunk_of(size_t i) { return static_cast<size_t>(std::bit_width(i / kFirst + 1)) - 1; }
  T* place(size_t i) const {
    const size_t k = chunk_of(i);
    return chunks_[k].load(std::memory_order_acquire) + (i - kFirst * ((size_t{1} << k) - 1));
  }

  std::array<std::atomic<T*>, 48> chunks_{};
  std::atomic<size_t> size_{0};
};

}  // namespace msvm
