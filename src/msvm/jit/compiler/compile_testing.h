// Compiled kernels against the evaluator, on random data with all special values.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "msvm/base/half.h"
#include "msvm/jit/compiler/compile.h"
#include "msvm/loops/scalar.h"

namespace msvm::compiler {

inline std::vector<jit::ImageIsa> isas() {
  std::vector<jit::ImageIsa> list;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) list.push_back(jit::ImageIsa::kAvx2);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) list.push_back(jit::ImageIsa::kAvx512);
  return list;
}

inline std::shared_ptr<const jit::NativeImage> native(const loops::Program& program, jit::ImageIsa isa) {
  auto bytes = compile(program, isa);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  if (!bytes.ok()) return nullptr;
  auto image = jit::NativeImage::load(*bytes, isa);
  EXPECT_TRUE(image.ok()) << image.status().message();
  return image.ok() ? *image : nullptr;
}

inline loops::Program parsed(const std::string& kernels) {
  auto p = loops::parse("loops version 1\n" + kernels);
  EXPECT_TRUE(p.ok()) << p.status().message() << "\n" << kernels;
  return p.ok() ? std::move(*p) : loops::Program{};
}

/// A value of any kind: special, small, whole, large, any bits.
inline loops::Scalar random_value(std::mt19937& random, DType type, bool tame) {
  using loops::Scalar;
  const DType t = loops::value_type(type);
  if (!is_float(t)) {
    const uint64_t bits = t == DType::kBool ? random() % 2 : random() % 3 ? uint64_t{random()} << 32 | random() : random() % 7 - 3;
    return {t, 0, static_cast<int64_t>(bits)};
  }
  static const double kSpecial[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, -1e-42, 3e38, -3e38, 0.5, 2, 3, -2.5, 88, -104, 1e5, -7e9};
  double v = std::uniform_real_distribution<double>(-10, 10)(random);
  if (!tame) {
    const uint32_t kind = random() % 8;
    if (kind == 0) v = kSpecial[random() % std::size(kSpecial)];
    if (kind == 1) v = static_cast<double>(random() % 13) - 6;
    if (kind == 2) v = std::ldexp(v, static_cast<int>(random() % 250) - 125);
    if (kind == 3) {
      uint32_t bits = static_cast<uint32_t>(random());
      float f;
      std::memcpy(&f, &bits, 4);
      v = f;
    }
  }
  return {t, t == DType::kF32 ? static_cast<float>(v) : v, 0};
}

/// Memory of one tensor with room around what a kernel may touch.
struct Buffer {
  DType type;
  std::vector<std::byte> bytes;
  int64_t origin;  // element that the kernel's pointer points to
  std::byte* pointer() { return bytes.data() + origin * dtype_bytes(type); }
};
inline Buffer random_buffer(std::mt19937& random, DType type, int64_t before, int64_t after, bool tame) {
  Buffer b{type, std::vector<std::byte>(static_cast<size_t>((before + after) * dtype_bytes(type))), before};
  for (int64_t i = 0; i < before + after; ++i) loops::store_scalar(b.bytes.data() + i * dtype_bytes(type), type, random_value(random, type, tame));
  return b;
}

/// The same bits, or both NaN.
inline bool same(const loops::Scalar& a, const loops::Scalar& b) {
  if (!is_float(a.type)) return a.integer == b.integer;
  if (std::isnan(a.number) || std::isnan(b.number)) return std::isnan(a.number) && std::isnan(b.number);
  return std::memcmp(&a.number, &b.number, 8) == 0;
}

/// The first element in which two buffers differ, told; empty if they don't.
inline std::string difference(const Buffer& want, const Buffer& have) {
  const int64_t size = dtype_bytes(want.type);
  for (int64_t i = 0; i * size < static_cast<int64_t>(want.bytes.size()); ++i) {
    const auto a = loops::load_scalar(want.bytes.data() + i * size, want.type), b = loops::load_scalar(have.bytes.data() + i * size, want.type);
    if (!same(a, b))
      return "element " + std::to_string(i - want.origin) + ": expected " + std::to_string(a.number) + " / " + std::to_string(a.integer) + ", found " + std::to_string(b.number) +
             " / " + std::to_string(b.integer);
  }
  return "";
}

/// How far from column 0 of the first row a kernel may reach in tensor `t`, in elements down and up.
inline std::pair<int64_t, int64_t> reach(const loops::Kernel& k, size_t t, const std::vector<int64_t>& sizes) {
  auto value = [&](const loops::Size& s) { return s.argument >= 0 ? sizes[static_cast<size_t>(s.argument)] : s.value; };
  int64_t low = 0, high = 1;
  for (size_t axis = 0; axis <= k.outer.size(); ++axis) {
    const int64_t steps = std::max<int64_t>(value(axis < k.outer.size() ? k.outer[axis] : k.inner) - 1, 0), stride = value(k.tensors[t].strides[axis]);
    (stride < 0 ? low : high) += steps * stride;
  }
  return {-low, high};
}

struct Call {
  int64_t row_begin, row_end, column_begin, column_end;
};

/// Runs a kernel compiled and evaluated on the same data and compares every byte around.
inline void expect_same(const loops::Kernel& k, loops::KernelFn fn, const std::vector<int64_t>& sizes, const Call& call, std::mt19937& random, bool tame = false) {
  std::vector<Buffer> want;
  for (size_t t = 0; t < k.tensors.size(); ++t) {
    const auto [low, high] = reach(k, t, sizes);
    want.push_back(random_buffer(random, k.tensors[t].dtype, low + 19, high + 19, tame));
  }
  std::vector<Buffer> have = want;
  std::vector<void*> want_pointers, have_pointers;
  for (Buffer& b : want) want_pointers.push_back(b.pointer());
  for (Buffer& b : have) have_pointers.push_back(b.pointer());
  loops::evaluate(k, want_pointers.data(), sizes.data(), call.row_begin, call.row_end, call.column_begin, call.column_end);
  fn(have_pointers.data(), sizes.data(), call.row_begin, call.row_end, call.column_begin, call.column_end);
  for (size_t t = 0; t < want.size(); ++t)
    ASSERT_EQ(difference(want[t], have[t]), "") << "t" << t << " of\n" << loops::print({{k}}) << "rows " << call.row_begin << " to " << call.row_end << ", columns " << call.column_begin << " to "
                                               << call.column_end << " of " << (sizes.empty() ? 0 : sizes[0]);
}

}  // namespace msvm::compiler
