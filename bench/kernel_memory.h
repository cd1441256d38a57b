// What the kernel benches share: tensors that own their floats, and scratch that is kept between calls, as the engine's pool does.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "msvm/kernels/kernel.h"

namespace msvm::bench {

struct Buffer {
  std::unique_ptr<float[], decltype(&std::free)> data{nullptr, &std::free};
  TensorMeta meta;

  explicit Buffer(const std::vector<int64_t>& shape, bool channels_last = false) {
    meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), meta.shape.begin());
    if (channels_last && meta.rank > 2) meta.layout = Layout::kNhwc;
    if (!set_dense_strides(meta)) std::abort();
    meta.layout = Layout::kRowMajor;  // kernels see strides only
    const auto n = static_cast<size_t>(meta.elements());
    data.reset(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)));
    for (size_t i = 0; i < n; ++i) data[i] = static_cast<float>(i * 7 % 13) * 0.1f - 0.5f;
    meta.data = reinterpret_cast<std::byte*>(data.get());
  }
};

class Memory final : public KernelMemory {
 public:
  Status allocate_output(size_t, DType, std::span<const int64_t>) override { return internal_error("no new outputs here"); }
  Result<std::byte*> scratch(int64_t bytes) override {
    if (next_ == blocks_.size()) blocks_.push_back({nullptr, 0});
    auto& [block, size] = blocks_[next_++];
    if (size < bytes) {
      std::free(block);
      size = (bytes + 127) / 64 * 64;
      block = static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(size)));
    }
    return block;
  }
  void reset() { next_ = 0; }

 private:
  std::vector<std::pair<std::byte*, int64_t>> blocks_;
  size_t next_ = 0;
};

}  // namespace msvm::bench
