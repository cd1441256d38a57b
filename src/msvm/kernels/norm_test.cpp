#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

// mean and variance over groups of `n` consecutive elements, then x * scale[f(i)] + bias[f(i)].
std::vector<double> normalized(const std::vector<double>& x, size_t n, double epsilon, bool center, const std::function<double(size_t)>& scale, const std::function<double(size_t)>& bias) {
  std::vector<double> y(x.size());
  for (size_t g = 0; g < x.size(); g += n) {
    double mean = 0, variance = 0;
    for (size_t i = 0; center && i < n; ++i) mean += x[g + i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) variance += (x[g + i] - mean) * (x[g + i] - mean) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) y[g + i] = (x[g + i] - mean) / std::sqrt(variance + epsilon) * scale(g + i) + bias(g + i);
  }
  return y;
}

// The vector kernels agree with the reference within 1e-5 of 1 + |y|.
constexpr double kBound = 1e-5;

TEST(Norm, LayerAndRms) {
  for (Shape shape : std::vector<Shape>{{2, 3, 5}, {4, 384}, {1, 1}, {3, 17}, {0, 4}, {2, 2, 33}, {7, 64}})
    for (int axis : {-1, 1})
      for (bool rms : {false, true}) {
        Shape part(axis < 0 ? shape.end() - 1 : shape.begin() + 1, shape.end());
        size_t n = static_cast<size_t>(size_of(part));
        Tensor x = random_tensor(shape, 1, DType::kF32, -2, 3), scale = random_tensor(part, 2), bias = random_tensor(part, 3), y(DType::kF32, shape);
        Shape stats(shape.begin(), shape.end());
        for (size_t d = axis < 0 ? shape.size() - 1 : 1; d < shape.size(); ++d) stats[d] = 1;
        Tensor mean(DType::kF32, stats), inverse(DType::kF32, stats);
        auto s = scale.values(), b = bias.values();
        auto want = normalized(x.values(), n, 1e-5, !rms, [&](size_t i) { return s[i % n]; }, [&](size_t i) { return rms ? 0 : b[i % n]; });
        Tensor xs = strided(x);
        for (const char* name : {rms ? "ref_rms_normalization" : "ref_layer_normalization", rms ? "avx512_rms_normalization_f32" : "avx512_layer_normalization_f32", rms ? "avx2_rms_normalization_f32" : "avx2_layer_normalization_f32"}) {
          if (!can_run(kernel(name))) continue;
          for (int threads : {1, 3}) {
            Call call{{name[0] == 'r' ? &xs : &x, &scale, rms ? nullptr : &bias}, {&y}, {{"axis", int64_t{axis}}}};
            if (!rms) call.outputs = {&y, &mean, &inverse};
            call.threads = threads;
            Status st = call.run(name);
            ASSERT_TRUE(st.ok()) << st.message();
            EXPECT_TRUE(call.accepted);
            EXPECT_LE(difference(y.values(), want), kBound) << name;
          }
        }
      }
}

TEST(Norm, GroupInstanceAndBatch) {
  for (Shape shape : std::vector<Shape>{{2, 6, 5, 7}, {1, 4, 33}, {3, 2, 1, 1}, {0, 4, 3, 3}, {1, 8, 16, 17}}) {
    Tensor x = random_tensor(shape, 1, DType::kF32, -1, 2), scale = random_tensor({shape[1]}, 2), bias = random_tensor({shape[1]}, 3), y(DType::kF32, shape), xs = strided(x);
    auto s = scale.values(), b = bias.values();
    size_t channels = static_cast<size_t>(shape[1]), plane = static_cast<size_t>(size_of(shape) / std::max<int64_t>(1, shape[0] * shape[1]));
    auto channel = [&](size_t i) { return i / plane % channels; };
    auto check = [&](const char* name, const Attributes& a, std::vector<const Tensor*> in, const std::vector<double>& want) {
      if (!can_run(kernel(name))) return;
      if (name[0] == 'r') in[0] = &xs;
      Call call{in, {&y}, a};
      Status st = call.run(name);
      ASSERT_TRUE(st.ok()) << st.message();
      EXPECT_TRUE(call.accepted);
      EXPECT_LE(difference(y.values(), want), kBound) << name << to_string(x.meta);
    };
    auto sc = [&](size_t i) { return s[channel(i)]; };
    auto bi = [&](size_t i) { return b[channel(i)]; };
    auto group = normalized(x.values(), std::max<size_t>(1, plane * channels / 2), 1e-3, true, sc, bi), instance = normalized(x.values(), std::max<size_t>(1, plane), 1e-5, true, sc, bi);
    for (const char* name : {"ref_group_normalization", "avx512_group_normalization_f32", "avx2_group_normalization_f32"}) check(name, {{"num_groups", int64_t{2}}, {"epsilon", 1e-3}}, {&x, &scale, &bias}, group);
    for (const char* name : {"ref_instance_normalization", "avx512_instance_normalization_f32", "avx2_instance_normalization_f32"}) check(name, {}, {&x, &scale, &bias}, instance);
    Tensor mean = random_tensor({shape[1]}, 4), variance = random_tensor({shape[1]}, 5, DType::kF32, 0.1, 2);
    auto m = mean.values(), v = variance.values(), batch = x.values();
    for (size_t i = 0; i < batch.size(); ++i) batch[i] = (batch[i] - m[channel(i)]) / std::sqrt(v[channel(i)] + 1e-5) * s[channel(i)] + b[channel(i)];
    for (const char* name : {"ref_batch_normalization", "avx512_batch_normalization_f32", "avx2_batch_normalization_f32"}) check(name, {}, {&x, &scale, &bias, &mean, &variance}, batch);
  }
}

TEST(Norm, BatchTraining) {
  Tensor x = tensor(DType::kF32, {2, 1, 2}, {1, 2, 3, 4}), one = tensor(DType::kF32, {1}, {1}), zero = tensor(DType::kF32, {1}, {0}), y(DType::kF32, {2, 1, 2}), mean(DType::kF32, {1}), variance(DType::kF32, {1});
  Call call{{&x, &one, &zero, &zero, &one}, {&y, &mean, &variance}, {{"training_mode", int64_t{1}}, {"epsilon", 0.0}}};
  ASSERT_TRUE(call.run("ref_batch_normalization").ok());
  EXPECT_LE(difference(y.values(), {-1.5 / std::sqrt(1.25), -0.5 / std::sqrt(1.25), 0.5 / std::sqrt(1.25), 1.5 / std::sqrt(1.25)}), 1e-6);
  EXPECT_LE(difference(mean.values(), {0.25}), 1e-6);
  EXPECT_LE(difference(variance.values(), {0.9 + 0.125}), 1e-6);
}

TEST(Norm, LpLrnAndMeanVariance) {
  Tensor x = tensor(DType::kF32, {1, 2, 2}, {3, 0, 4, 0}), y(DType::kF32, {1, 2, 2});
  Call lp{{&x}, {&y}, {{"axis", int64_t{1}}}};
  ASSERT_TRUE(lp.run("ref_lp_normalization").ok());
  EXPECT_LE(difference(y.values(), {0.6, 0, 0.8, 0}), 1e-6);
  Call l1{{&x}, {&y}, {{"axis", int64_t{1}}, {"p", int64_t{1}}}};
  ASSERT_TRUE(l1.run("ref_lp_normalization").ok());
  EXPECT_LE(difference(y.values(), {3.0 / 7, 0, 4.0 / 7, 0}), 1e-6);
  Tensor c = random_tensor({2, 5, 3}, 1), z(DType::kF32, {2, 5, 3});
  Call lrn{{&c}, {&z}, {{"size", int64_t{4}}, {"alpha", 0.5}, {"beta", 0.6}, {"bias", 2.0}}};
  ASSERT_TRUE(lrn.run("ref_lrn").ok());
  auto v = c.values();
  std::vector<double> want(v.size());
  for (int n = 0; n < 2; ++n)
    for (int k = 0; k < 5; ++k)
      for (int p = 0; p < 3; ++p) {
        double s = 0;
        for (int q = std::max(0, k - 1); q <= std::min(4, k + 2); ++q) s += v[static_cast<size_t>((n * 5 + q) * 3 + p)] * v[static_cast<size_t>((n * 5 + q) * 3 + p)];
        want[static_cast<size_t>((n * 5 + k) * 3 + p)] = v[static_cast<size_t>((n * 5 + k) * 3 + p)] / std::pow(2 + 0.5 / 4 * s, 0.6);
      }
  EXPECT_LE(difference(z.values(), want), 1e-6);
  Tensor m = random_tensor({2, 3, 2, 2}, 1), o(DType::kF32, {2, 3, 2, 2});
  Call mvn{{&m}, {&o}};
  ASSERT_TRUE(mvn.run("ref_mean_variance_normalization").ok());
  auto r = o.values();
  for (size_t k = 0; k < 3; ++k) {
    double s = 0, q = 0;
    for (size_t n = 0; n < 2; ++n)
      for (size_t p = 0; p < 4; ++p) s += r[(n * 3 + k) * 4 + p], q += r[(n * 3 + k) * 4 + p] * r[(n * 3 + k) * 4 + p];
    EXPECT_NEAR(s, 0, 1e-5);
    EXPECT_NEAR(q / 8, 1, 1e-5);
  }
}

TEST(Softmax, AxesAndKinds) {
  for (Shape shape : std::vector<Shape>{{2, 3, 4}, {5}, {}, {3, 0}, {0, 3}, {2, 257}, {3, 1}, {4, 16, 33}, {2, 3, 300}})
    for (int64_t axis = shape.empty() ? -1 : -static_cast<int64_t>(shape.size()); axis < 0; ++axis)
      for (int kind = 0; kind < 3; ++kind) {
        Tensor x = random_tensor(shape, 1, DType::kF32, -8, 8), y(DType::kF32, shape), xs = strided(x);
        size_t a = shape.empty() ? 0 : static_cast<size_t>(axis + static_cast<int64_t>(shape.size()));
        int64_t n = shape.empty() ? 1 : shape[a], inner = 1;
        for (size_t d = a + 1; d < shape.size(); ++d) inner *= shape[d];
        auto v = x.values();
        std::vector<double> want(v.size());
        for (size_t i = 0; i < v.size(); ++i) {
          size_t base = i - i / static_cast<size_t>(inner) % static_cast<size_t>(n) * static_cast<size_t>(inner);
          double sum = 0, top = -INFINITY;
          size_t first = 0;
          for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
            double e = v[base + k * static_cast<size_t>(inner)];
            if (e > top) top = e, first = base + k * static_cast<size_t>(inner);
            sum += std::exp(e);
          }
          want[i] = kind == 0 ? std::exp(v[i]) / sum : kind == 1 ? v[i] - std::log(sum) : i == first;
        }
        const char* names[][4] = {{"ref_softmax", "avx512_softmax_f32_rows", "avx2_softmax_f32_rows", "avx512_softmax_f32_columns"}, {"ref_log_softmax", "avx512_log_softmax_f32_rows", "avx2_log_softmax_f32_rows", nullptr}, {"ref_hardmax", nullptr, nullptr, nullptr}};
        for (const char* name : names[kind])
          for (int threads : {1, 3}) {
            if (!name || !can_run(kernel(name))) continue;
            Call call{{name[0] == 'r' ? &xs : &x}, {&y}, {{"axis", axis}}};
            call.threads = threads;
            Status s = call.run(name);
            ASSERT_TRUE(s.ok()) << s.message();
            if (call.accepted) {
              EXPECT_LE(difference(y.values(), want), 2e-6) << name << to_string(x.meta) << axis;
            }
          }
      }
}

TEST(Softmax, ExtremeValues) {
  for (const char* name : {"ref_softmax", "avx512_softmax_f32_rows", "avx2_softmax_f32_rows"}) {
    if (!can_run(kernel(name))) continue;
    Tensor x = tensor(DType::kF32, {1, 4}, {-INFINITY, 3e38, 3e38, -3e38}), y(DType::kF32, {1, 4});
    Call call{{&x}, {&y}};
    ASSERT_TRUE(call.run(name).ok());
    EXPECT_EQ(y.values(), (std::vector<double>{0, 0.5, 0.5, 0})) << name;
  }
}

}  // namespace
}  // namespace msvm
