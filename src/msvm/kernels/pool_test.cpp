#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

struct PoolCase {
  Shape x;
  std::vector<int64_t> kernel, strides, dilations, pads;
  bool ceil = false;
};
int64_t at_or(const std::vector<int64_t>& v, size_t i, int64_t fallback) { return i < v.size() ? v[i] : fallback; }

const std::vector<PoolCase> kCases = {
    {{1, 2, 8, 9}, {3, 3}, {2, 2}, {}, {1, 1, 1, 1}}, {{2, 3, 17, 33}, {2, 2}, {2, 2}, {}, {}},        {{1, 1, 7, 50}, {3, 2}, {1, 3}, {2, 1}, {1, 0, 2, 1}}, {{1, 2, 11}, {4}, {3}, {}, {2, 1}},
    {{1, 2, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {}, {}},  {{1, 2, 9, 9}, {3, 3}, {2, 2}, {}, {0, 0, 0, 0}, true}, {{1, 1, 10, 16}, {5, 5}, {1, 1}, {}, {2, 2, 2, 2}},     {{0, 2, 8, 8}, {2, 2}, {}, {}, {}},
    {{1, 3, 1, 1}, {1, 1}, {}, {}, {}},               {{1, 1, 6, 6}, {3, 3}, {3, 3}, {}, {2, 2, 2, 2}, true}, {{1, 4, 100, 200}, {3, 3}, {2, 2}, {}, {1, 1, 1, 1}},
};

Shape result_shape(const PoolCase& c) {
  Shape y = {c.x[0], c.x[1]};
  size_t n = c.kernel.size();
  for (size_t d = 0; d < n; ++d) {
    int64_t s = at_or(c.strides, d, 1), room = c.x[d + 2] + at_or(c.pads, d, 0) + at_or(c.pads, d + n, 0) - ((c.kernel[d] - 1) * at_or(c.dilations, d, 1) + 1), out = room / s + 1;
    if (c.ceil && room % s != 0 && (out * s) < c.x[d + 2] + at_or(c.pads, d, 0)) ++out;
    y.push_back(out);
  }
  return y;
}

// kind: 0 max, 1 average, 2 average with padding counted, 3 L2.
std::vector<double> expected_pool(const PoolCase& c, const Shape& y, const std::vector<double>& x, int kind, std::vector<double>* indices) {
  size_t n = c.kernel.size();
  int64_t in_size = 1, out_size = 1, taps = 1;
  for (size_t d = 0; d < n; ++d) in_size *= c.x[d + 2], out_size *= y[d + 2], taps *= c.kernel[d];
  std::vector<double> result;
  for (int64_t i = 0; i < c.x[0] * c.x[1] * out_size; ++i) {
    double best = -INFINITY, sum = 0;
    int64_t where = 0, count = 0;
    for (int64_t t = 0; t < taps; ++t) {
      int64_t ro = i % out_size, rt = t, offset = 0, scale = 1;
      bool inside = true, padded = true;
      for (size_t d = n; d-- > 0;) {
        int64_t p = ro % y[d + 2] * at_or(c.strides, d, 1) - at_or(c.pads, d, 0) + rt % c.kernel[d] * at_or(c.dilations, d, 1);
        ro /= y[d + 2], rt /= c.kernel[d];
        inside = inside && p >= 0 && p < c.x[d + 2];
        padded = padded && p < c.x[d + 2] + at_or(c.pads, d + n, 0);
        offset += p * scale;
        scale *= c.x[d + 2];
      }
      count += kind == 2 ? padded : inside;
      if (!inside) continue;
      double v = x[static_cast<size_t>(i / out_size * in_size + offset)];
      if (v > best) best = v, where = offset;
      sum += kind == 3 ? v * v : v;
    }
    result.push_back(kind == 0 ? best : kind == 3 ? std::sqrt(sum) : count ? sum / static_cast<double>(count) : 0);
    if (indices) indices->push_back(static_cast<double>(i / out_size * in_size + where));
  }
  return result;
}

Attributes attributes(const PoolCase& c) {
  Attributes a{{"kernel_shape", c.kernel}, {"ceil_mode", int64_t{c.ceil}}};
  if (!c.strides.empty()) a.set("strides", c.strides);
  if (!c.dilations.empty()) a.set("dilations", c.dilations);
  if (!c.pads.empty()) a.set("pads", c.pads);
  return a;
}

TEST(Pool, WindowsFollowTheDefinition) {
  const char* references[] = {"ref_max_pool", "ref_average_pool", "ref_average_pool", "ref_lp_pool"};
  const char* fast[][2] = {{"avx512_max_pool_f32_rows", "avx2_max_pool_f32_rows"}, {"avx512_average_pool_f32_rows", "avx2_average_pool_f32_rows"}, {"avx512_average_pool_f32_rows", "avx2_average_pool_f32_rows"}};
  for (const PoolCase& c : kCases)
    for (int kind = 0; kind < 4; ++kind) {
      Shape shape = result_shape(c);
      Tensor x = random_tensor(c.x, 1), y(DType::kF32, shape), indices(DType::kI64, shape);
      Attributes a = attributes(c);
      if (kind == 2) a.set("count_include_pad", int64_t{1});
      std::vector<double> where;
      auto want = expected_pool(c, shape, x.values(), kind, &where);
      for (bool gaps : {false, true}) {
        Tensor xs = gaps ? strided(x) : x;
        Call call{{&xs}, kind == 0 ? std::vector<Tensor*>{&y, &indices} : std::vector<Tensor*>{&y}, a};
        Status s = call.run(references[kind]);
        ASSERT_TRUE(s.ok()) << s.message();
        EXPECT_LE(difference(y.values(), want), 1e-6) << kind << to_string(x.meta);
        if (kind == 0) {
          EXPECT_EQ(indices.values(), where);
        }
      }
      if (kind == 3) continue;
      for (const char* name : fast[kind])
        for (int threads : {1, 2, 3}) {
          if (!can_run(kernel(name))) continue;
          Tensor f(DType::kF32, shape);
          Call call{{&x}, {&f}, a};
          call.threads = threads;
          Status s = call.run(name);
          ASSERT_TRUE(s.ok()) << s.message();
          if (call.accepted) {
            EXPECT_LE(difference(f.values(), y.values()), 0) << name << to_string(x.meta);
          }
        }
    }
}

TEST(Pool, ColumnMajorIndicesBytesAndNaN) {
  Tensor x = tensor(DType::kU8, {1, 1, 2, 3}, {1, 2, 9, 4, 5, 6}), y(DType::kU8, {1, 1, 1, 2}), i(DType::kI64, {1, 1, 1, 2});
  Call call{{&x}, {&y, &i}, {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"storage_order", int64_t{1}}}};
  ASSERT_TRUE(call.run("ref_max_pool").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{5, 9}));
  EXPECT_EQ(i.values(), (std::vector<double>{3, 4}));
  Tensor n = tensor(DType::kF32, {1, 1, 1, 20}, std::vector<double>(20, 1)), out(DType::kF32, {1, 1, 1, 19});
  n.meta.as<float>()[7] = NAN;
  for (const char* name : {"ref_max_pool", "avx512_max_pool_f32_rows", "avx2_max_pool_f32_rows"}) {
    if (!can_run(kernel(name))) continue;
    Call c{{&n}, {&out}, {{"kernel_shape", std::vector<int64_t>{1, 2}}}};
    ASSERT_TRUE(c.run(name).ok());
    for (size_t k = 0; k < 19; ++k) EXPECT_EQ(std::isnan(out.values()[k]), k == 6 || k == 7) << name;
  }
}

TEST(Pool, WholePlanes) {
  for (Shape shape : std::vector<Shape>{{2, 3, 5, 7}, {1, 1, 1}, {1, 4, 2, 3, 4}, {0, 2, 3, 3}, {1, 2, 100, 33}}) {
    Tensor x = random_tensor(shape, 1);
    Shape out = {shape[0], shape[1]};
    out.resize(shape.size(), 1);
    auto v = x.values();
    size_t n = static_cast<size_t>(size_of(shape) / std::max<int64_t>(1, shape[0] * shape[1]));
    std::vector<double> mean, top, norm;
    for (size_t i = 0; i < v.size(); i += n) {
      double s = 0, m = -INFINITY, q = 0;
      for (size_t j = 0; j < n; ++j) s += v[i + j], m = std::max(m, v[i + j]), q += v[i + j] * v[i + j];
      mean.push_back(s / static_cast<double>(n)), top.push_back(m), norm.push_back(std::sqrt(q));
    }
    Tensor y(DType::kF32, out), xs = strided(x);
    for (const char* name : {"ref_global_average_pool", "avx512_global_average_pool_f32", "avx2_global_average_pool_f32"}) {
      if (!can_run(kernel(name))) continue;
      Call call{{name[0] == 'r' ? &xs : &x}, {&y}};
      ASSERT_TRUE(call.run(name).ok());
      EXPECT_LE(difference(y.values(), mean), 1e-6) << name;
    }
    Call a{{&xs}, {&y}}, b{{&xs}, {&y}};
    ASSERT_TRUE(a.run("ref_global_max_pool").ok());
    EXPECT_EQ(y.values(), top);
    ASSERT_TRUE(b.run("ref_global_lp_pool").ok());
    EXPECT_LE(difference(y.values(), norm), 1e-6);
  }
}

TEST(MaxUnpool, PlacesByCoordinates) {
  // ONNX's maxunpool_export_with_output_shape.
  Tensor x = tensor(DType::kF32, {1, 1, 2, 2}, {5, 6, 7, 8}), i = tensor(DType::kI64, {1, 1, 2, 2}, {5, 7, 13, 15}), y(DType::kF32, {1, 1, 5, 5});
  Attributes a{{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}};
  Call call{{&x, &i}, {&y}, a};
  ASSERT_TRUE(call.run("ref_max_unpool").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0}));
  Tensor bad = tensor(DType::kI64, {1, 1, 2, 2}, {5, 7, 13, 16});
  Call wrong{{&x, &bad}, {&y}, a};
  EXPECT_EQ(wrong.run("ref_max_unpool").code(), StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace msvm
