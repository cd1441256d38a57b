// For this room's tests: tensors that own their bytes, and calls of a kernel by name.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"

namespace msvm::testing {

using Shape = std::vector<int64_t>;

inline int64_t size_of(const Shape& s) {
  int64_t n = 1;
  for (int64_t d : s) n *= d;
  return n;
}

/// Owns its bytes; copies share nothing.
struct Tensor {
  TensorMeta meta;
  std::vector<std::byte> bytes;

  Tensor() = default;
  Tensor(const Tensor& o) : meta(o.meta), bytes(o.bytes) { meta.data = bytes.data() + (o.meta.data - o.bytes.data()); }
  Tensor(Tensor&& o) noexcept : meta(o.meta), bytes(std::move(o.bytes)) {}
  Tensor& operator=(Tensor o) {
    std::ptrdiff_t at = o.meta.data - o.bytes.data();
    meta = o.meta;
    bytes = std::move(o.bytes);
    meta.data = bytes.data() + at;
    return *this;
  }
  Tensor(DType dtype, const Shape& shape) {
    meta.dtype = dtype;
    meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), meta.shape.begin());
    EXPECT_TRUE(set_dense_strides(meta));
    // Not a byte more than needed, so that the address sanitizer sees reads beyond the end.
    bytes.assign(static_cast<size_t>(size_of(shape) * dtype_bytes(dtype)), std::byte{0xa5});
    meta.data = bytes.data();
  }
  Shape shape() const { return {meta.dims().begin(), meta.dims().end()}; }
  std::vector<double> values() const {
    std::vector<double> v(static_cast<size_t>(meta.elements()));
    read_elements(meta, v.data());
    return v;
  }
  void set(const std::vector<double>& v) { write_elements(v.data(), meta); }
};

inline Tensor tensor(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Tensor t(dtype, shape);
  EXPECT_EQ(static_cast<int64_t>(values.size()), size_of(shape));
  t.set(values);
  return t;
}
inline Tensor random_tensor(const Shape& shape, unsigned seed, DType dtype = DType::kF32, double low = -1, double high = 1) {
  Tensor t(dtype, shape);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> values(low, high);
  std::vector<double> v(static_cast<size_t>(size_of(shape)));
  for (double& x : v) x = is_float(dtype) ? values(random) : std::floor(values(random));
  t.set(v);
  return t;
}
/// The same values with gaps between rows and, for rank 2 and more, the last two axes swapped in memory.
inline Tensor strided(const Tensor& t) {
  if (t.meta.rank == 0) return t;
  Tensor s = t;
  int rank = t.meta.rank;
  std::vector<int> order;  // outermost first
  for (int d = 0; d < rank; ++d) order.push_back(d);
  if (rank >= 2) std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank - 2)]);
  int64_t stride = 2;
  for (size_t i = order.size(); i-- > 0;) {
    s.meta.strides[static_cast<size_t>(order[i])] = stride;
    stride *= t.meta.shape[static_cast<size_t>(order[i])] + 1;
  }
  s.bytes.assign(static_cast<size_t>(std::max<int64_t>(stride, 1) * dtype_bytes(t.meta.dtype)), std::byte{0x7f});
  s.meta.data = s.bytes.data();
  s.set(t.values());
  return s;
}

class TestMemory final : public KernelMemory {
 public:
  std::span<TensorMeta* const> outputs;
  std::vector<std::unique_ptr<Tensor>> made;
  std::vector<std::pair<std::unique_ptr<std::byte[]>, int64_t>> blocks;

  Status allocate_output(size_t index, DType dtype, std::span<const int64_t> shape) override {
    made.push_back(std::make_unique<Tensor>(dtype, Shape(shape.begin(), shape.end())));
    *outputs[index] = made.back()->meta;
    return {};
  }
  Result<std::byte*> scratch(int64_t bytes) override {
    if (bytes < 0 || bytes > (int64_t{1} << 33)) return resource_limit("test memory");
    auto block = std::make_unique<std::byte[]>(static_cast<size_t>(bytes) + 64);
    std::byte* p = block.get();
    p += (64 - reinterpret_cast<uintptr_t>(p) % 64) % 64;
    std::memset(p, 0xa5, static_cast<size_t>(bytes));
    blocks.emplace_back(std::move(block), bytes);
    return p;
  }
  Result<const std::byte*> packed_constant(const TensorMeta& source, const PackedFormat&, int64_t bytes, FunctionRef<void(std::byte*)> pack) override {
    const auto it = hidden.find(source.data);
    if (it == hidden.end()) return static_cast<const std::byte*>(nullptr);
    std::shared_ptr<std::byte> buffer(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(bytes + 127) / 64 * 64)), std::free);
    std::memcpy(source.data, it->second.data(), it->second.size());
    pack(buffer.get());
    std::memset(source.data, 0xff, it->second.size());
    packed.push_back(std::move(buffer));
    return const_cast<const std::byte*>(packed.back().get());
  }

  std::map<std::byte*, std::vector<std::byte>> hidden;  // constants that only pack() may see
  std::vector<std::shared_ptr<std::byte>> packed;
};

inline const KernelInfo& kernel(std::string_view name) {
  for (const KernelInfo& k : all_kernels())
    if (k.name == name) return k;
  ADD_FAILURE() << "no kernel " << name;
  return all_kernels().front();
}
inline bool can_run(const KernelInfo& k) { return static_cast<int>(k.isa) <= static_cast<int>(cpu_features().isa); }

/// One call: inputs (null = absent), outputs (null = absent), attributes, size arguments.
struct Call {
  std::vector<const Tensor*> inputs;
  std::vector<Tensor*> outputs;
  Attributes attrs;
  std::vector<int64_t> args;
  uint64_t const_inputs = 0;
  int threads = 2;
  std::unique_ptr<KernelSiteState> site;
  bool accepted = true;  // the kernel's own condition
  std::vector<std::shared_ptr<std::byte>> packed;  // as long as `site`

  Status run(std::string_view name) {
    const KernelInfo& k = kernel(name);
    OpSchema schema;
    schema.name = k.op;
    std::vector<const TensorMeta*> in;
    for (const Tensor* t : inputs) in.push_back(t ? &t->meta : nullptr);
    std::vector<TensorMeta*> out;
    for (Tensor* t : outputs) out.push_back(t ? &t->meta : nullptr);
    TestMemory memory;
    memory.outputs = out;
    static WorkerPool pools[4] = {WorkerPool(1), WorkerPool(1), WorkerPool(2), WorkerPool(3)};
    KernelCall call{schema, attrs, in, args, out, const_inputs, pools[threads], memory, site, false};
    accepted = !k.accepts || k.accepts(call);
    if (!accepted) return {};
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i] || !(const_inputs & k.packed_inputs & uint64_t{1} << i) || !in[i]->dense()) continue;
      std::byte* data = in[i]->data;
      auto& bytes = memory.hidden[data];
      bytes.assign(data, data + in[i]->elements() * dtype_bytes(in[i]->dtype));
      std::memset(data, 0xff, bytes.size());  // NaNs
    }
    Status s = k.run(call);
    for (const auto& [data, bytes] : memory.hidden) std::memcpy(data, bytes.data(), bytes.size());
    packed.insert(packed.end(), memory.packed.begin(), memory.packed.end());
    for (auto& made : memory.made)
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i] && out[i]->data == made->meta.data) *outputs[i] = std::move(*made);
    return s;
  }
};

/// Largest |a - b| / (1 + |b|); infinite where one is NaN and the other isn't.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    double d = std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i]));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst;
}
inline bool same_bits(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.bytes == b.bytes; }

}  // namespace msvm::testing
