#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

struct ConvCase {
  Shape x, w;  // w: [M, C / groups, kernel...]
  int64_t groups = 1;
  std::vector<int64_t> strides, dilations, pads;
  std::string auto_pad = "NOTSET";
  bool bias = true;
};

int64_t at_or(const std::vector<int64_t>& v, size_t i, int64_t fallback) { return i < v.size() ? v[i] : fallback; }

Shape result_shape(const ConvCase& c, std::vector<int64_t>& begin) {
  size_t n = c.x.size() - 2;
  Shape y = {c.x[0], c.w[0]};
  begin.assign(n, 0);
  for (size_t d = 0; d < n; ++d) {
    int64_t s = at_or(c.strides, d, 1), extent = (c.w[d + 2] - 1) * at_or(c.dilations, d, 1) + 1, in = c.x[d + 2], out;
    if (c.auto_pad == "SAME_UPPER" || c.auto_pad == "SAME_LOWER") {
      out = (in + s - 1) / s;
      int64_t total = std::max<int64_t>(0, (out - 1) * s + extent - in);
      begin[d] = c.auto_pad == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
    } else {
      int64_t total = c.auto_pad == "VALID" ? 0 : at_or(c.pads, d, 0) + at_or(c.pads, d + n, 0);
      begin[d] = c.auto_pad == "VALID" ? 0 : at_or(c.pads, d, 0);
      out = in + total < extent ? 0 : (in + total - extent) / s + 1;
    }
    y.push_back(out);
  }
  return y;
}

// Straight from the definition, in f64.
std::vector<double> expected_conv(const ConvCase& c, const Shape& y, const std::vector<int64_t>& begin, const std::vector<double>& x, const std::vector<double>& w, const std::vector<double>* b) {
  size_t n = c.x.size() - 2;
  int64_t in_size = 1, out_size = 1, taps = 1, gc = c.w[1], gm = c.w[0] / c.groups;
  for (size_t d = 0; d < n; ++d) in_size *= c.x[d + 2], out_size *= y[d + 2], taps *= c.w[d + 2];
  std::vector<double> out;
  for (int64_t i = 0; i < c.x[0]; ++i)
    for (int64_t m = 0; m < c.w[0]; ++m)
      for (int64_t o = 0; o < out_size; ++o) {
        double sum = b ? (*b)[static_cast<size_t>(m)] : 0;
        for (int64_t ic = 0; ic < gc; ++ic)
          for (int64_t t = 0; t < taps; ++t) {
            int64_t ro = o, rt = t, offset = 0, scale = 1;
            bool inside = true;
            for (size_t d = n; d-- > 0;) {
              int64_t p = ro % y[d + 2] * at_or(c.strides, d, 1) - begin[d] + rt % c.w[d + 2] * at_or(c.dilations, d, 1);
              ro /= y[d + 2], rt /= c.w[d + 2];
              inside = inside && p >= 0 && p < c.x[d + 2];
              offset += p * scale;
              scale *= c.x[d + 2];
            }
            if (inside) sum += x[static_cast<size_t>((i * c.x[1] + m / gm * gc + ic) * in_size + offset)] * w[static_cast<size_t>((m * gc + ic) * taps + t)];
          }
        out.push_back(sum);
      }
  return out;
}

std::vector<ConvCase> cases() {
  std::vector<ConvCase> list;
  auto add = [&](ConvCase c) { list.push_back(std::move(c)); };
  add({{1, 3, 8, 9}, {5, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});
  add({{2, 3, 17, 23}, {16, 3, 3, 3}, 1, {2, 2}, {}, {1, 1, 1, 1}});
  add({{1, 4, 7, 7}, {9, 4, 1, 1}});
  add({{1, 17, 5, 53}, {13, 17, 1, 1}, 1, {}, {}, {}, "NOTSET", false});
  add({{1, 8, 6, 6}, {8, 1, 3, 3}, 8, {}, {}, {1, 1, 1, 1}});
  add({{2, 7, 31, 33}, {7, 1, 5, 5}, 7, {2, 2}, {}, {2, 2, 2, 2}});
  add({{1, 3, 20, 65}, {6, 1, 3, 3}, 3, {1, 3}, {2, 2}, {0, 2, 1, 3}});
  add({{1, 5, 40, 7}, {5, 1, 7, 1}, 5, {3, 1}, {}, {3, 0, 3, 0}, "NOTSET", false});
  add({{1, 6, 9, 10}, {9, 2, 3, 2}, 3, {1, 2}, {2, 1}, {1, 0, 2, 1}});
  add({{1, 4, 11}, {6, 4, 3}, 1, {2}, {}, {1, 1}});
  add({{3, 2, 130}, {2, 1, 4}, 2, {}, {3}, {5, 4}});
  add({{1, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, 1, {1, 2, 1}, {1, 1, 2}, {1, 0, 1, 1, 1, 1}});
  add({{1, 2, 3, 4, 5, 4}, {2, 2, 2, 2, 2, 2}, 1, {}, {}, {}, "NOTSET", false});
  add({{1, 3, 13, 14}, {4, 3, 4, 4}, 1, {3, 2}, {}, {}, "SAME_UPPER"});
  add({{1, 3, 13, 14}, {4, 3, 4, 4}, 1, {3, 2}, {}, {}, "SAME_LOWER"});
  add({{1, 3, 13, 14}, {4, 3, 4, 4}, 1, {3, 2}, {}, {}, "VALID"});
  add({{1, 600, 3, 3}, {10, 600, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});   // sums longer than one block
  add({{0, 3, 8, 8}, {4, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});         // empty batch
  add({{1, 3, 0, 8}, {4, 3, 3, 3}, 1, {}, {}, {2, 1, 2, 1}});         // nothing but padding
  add({{1, 0, 4, 4}, {3, 0, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});         // no channels: bias alone
  add({{1, 2, 2, 2}, {3, 2, 5, 5}});                                    // no output
  add({{1, 2, 9, 9}, {2, 2, 3, 3}, 1, {1, 1}, {}, {-1, -1, -1, -1}});  // cropping
  for (int64_t width : {1, 2, 15, 16, 17, 47, 48, 49, 97})
    for (int64_t rows : {1, 7, 8, 9, 24}) add({{1, 3, 2, width}, {rows, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});
  return list;
}

Attributes attributes(const ConvCase& c) {
  Attributes a;
  a.set("group", c.groups);
  if (!c.strides.empty()) a.set("strides", c.strides);
  if (!c.dilations.empty()) a.set("dilations", c.dilations);
  if (!c.pads.empty()) a.set("pads", c.pads);
  a.set("auto_pad", c.auto_pad);
  return a;
}

TEST(Conv, ReferenceFollowsTheDefinition) {
  for (const ConvCase& c : cases()) {
    std::vector<int64_t> begin;
    Shape shape = result_shape(c, begin);
    for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      if (t != DType::kF32 && size_of(c.w) > 2000) continue;
      Tensor x = random_tensor(c.x, 1, t), w = random_tensor(c.w, 2, t), b = random_tensor({c.w[0]}, 3, t), y(t, shape);
      auto bias = b.values();
      auto want = expected_conv(c, shape, begin, x.values(), w.values(), c.bias ? &bias : nullptr);
      double bound = t == DType::kF64 ? 1e-12 : t == DType::kF32 ? 3e-5 : t == DType::kF16 ? 1e-3 : 8e-3;
      Call call{{&x, &w, c.bias ? &b : nullptr}, {&y}, attributes(c)};
      Status s = call.run("ref_conv");
      ASSERT_TRUE(s.ok()) << s.message();
      EXPECT_LE(difference(y.values(), want), bound) << to_string(x.meta) << to_string(w.meta);
      Tensor xs = strided(x), ws = strided(w), y2(t, shape);
      Call again{{&xs, &ws, c.bias ? &b : nullptr}, {&y2}, attributes(c)};
      ASSERT_TRUE(again.run("ref_conv").ok());
      EXPECT_TRUE(same_bits(y, y2));
    }
  }
}

// The fast kernels keep the declared order: the same bits as the reference (zeros by value), for any number of threads.
TEST(Conv, FastKernelsGiveTheReferencesBits) {
  int accepted[6] = {};
  const char* names[] = {"avx512_conv_f32_im2col", "avx512_conv_f32_pointwise", "avx512_conv_f32_depthwise", "avx2_conv_f32_im2col", "avx2_conv_f32_pointwise", "avx2_conv_f32_depthwise"};
  for (const ConvCase& c : cases()) {
    std::vector<int64_t> begin;
    Shape shape = result_shape(c, begin);
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({c.w[0]}, 3), want(DType::kF32, shape);
    Call reference{{&x, &w, c.bias ? &b : nullptr}, {&want}, attributes(c)};
    ASSERT_TRUE(reference.run("ref_conv").ok());
    for (int i = 0; i < 6; ++i) {
      if (!can_run(kernel(names[i]))) continue;
      for (int threads : {1, 2, 3}) {
        Tensor y(DType::kF32, shape);
        Call call{{&x, &w, c.bias ? &b : nullptr}, {&y}, attributes(c)};
        call.threads = threads;
        call.const_inputs = threads == 1 ? 0 : 2;
        Status s = call.run(names[i]);
        ASSERT_TRUE(s.ok()) << s.message();
        if (!call.accepted) break;
        ++accepted[i];
        EXPECT_EQ(y.values(), want.values()) << names[i] << " " << to_string(x.meta) << to_string(w.meta) << " threads " << threads;
      }
    }
  }
  for (int i = 0; i < 6; ++i)
    if (can_run(kernel(names[i]))) {
      EXPECT_GT(accepted[i], 0) << names[i];
    }
}

TEST(Conv, PackedWeightsServeChangingShapes) {
  if (!can_run(kernel("avx2_conv_f32_im2col"))) GTEST_SKIP();
  Tensor w = random_tensor({12, 5, 3, 3}, 2);
  Call call;
  call.attrs.set("pads", std::vector<int64_t>{1, 1, 1, 1});
  call.const_inputs = 2;
  for (int64_t size : {5, 33, 1, 20}) {
    Tensor x = random_tensor({1, 5, size, size + 1}, 1), y(DType::kF32, {1, 12, size, size + 1}), want = y;
    call.inputs = {&x, &w};
    call.outputs = {&y};
    ASSERT_TRUE(call.run("avx2_conv_f32_im2col").ok());
    Call reference{{&x, &w}, {&want}, call.attrs};
    ASSERT_TRUE(reference.run("ref_conv").ok());
    EXPECT_EQ(y.values(), want.values());
  }
}

TEST(Conv, RefusesWhatDoesNotFit) {
  Tensor x = random_tensor({1, 4, 5, 5}, 1), w = random_tensor({2, 3, 3, 3}, 2), y(DType::kF32, {1, 2, 3, 3});
  Call call{{&x, &w}, {&y}, {}};
  EXPECT_EQ(call.run("ref_conv").code(), StatusCode::kShapeMismatch);
  Tensor w2 = random_tensor({2, 4, 3, 3}, 2), b = random_tensor({3}, 3);
  Call bias{{&x, &w2, &b}, {&y}, {}};
  EXPECT_EQ(bias.run("ref_conv").code(), StatusCode::kShapeMismatch);
  Call huge{{&x, &w2}, {&y}, {}};
  huge.attrs.set("dilations", std::vector<int64_t>{INT64_MAX, 1});
  EXPECT_FALSE(huge.run("ref_conv").ok());
}

// ---- ConvTranspose ----

TEST(ConvTranspose, MatchesTheDefinition) {
  struct Case {
    Shape x, w;
    int64_t groups;
    std::vector<int64_t> strides, dilations, pads, extra;
  };
  std::vector<Case> list = {
      {{1, 3, 4, 5}, {3, 2, 2, 2}, 1, {2, 2}, {}, {}, {}},
      {{2, 4, 5, 3}, {4, 3, 3, 3}, 2, {2, 1}, {}, {1, 1, 1, 0}, {1, 0}},
      {{1, 2, 7}, {2, 5, 4}, 1, {3}, {2}, {2, 1}, {}},
      {{1, 2, 3, 2, 3}, {2, 2, 2, 3, 2}, 1, {1, 2, 2}, {}, {}, {}},
      {{1, 24, 31, 17}, {24, 24, 2, 2}, 1, {2, 2}, {}, {}, {}},
      {{0, 2, 3, 3}, {2, 2, 2, 2}, 1, {}, {}, {}, {}},
      {{1, 0, 3, 3}, {0, 2, 2, 2}, 1, {}, {}, {}, {}},
  };
  for (const Case& c : list) {
    size_t n = c.x.size() - 2;
    Shape shape = {c.x[0], c.w[1] * c.groups};
    int64_t in_size = 1, out_size = 1, taps = 1;
    for (size_t d = 0; d < n; ++d) {
      shape.push_back(at_or(c.strides, d, 1) * (c.x[d + 2] - 1) + at_or(c.extra, d, 0) + (c.w[d + 2] - 1) * at_or(c.dilations, d, 1) + 1 - at_or(c.pads, d, 0) - at_or(c.pads, d + n, 0));
      in_size *= c.x[d + 2], out_size *= shape[d + 2], taps *= c.w[d + 2];
    }
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({shape[1]}, 3), y(DType::kF32, shape);
    auto xv = x.values(), wv = w.values(), bv = b.values();
    std::vector<double> want(static_cast<size_t>(size_of(shape)));
    for (size_t i = 0; i < want.size(); ++i) want[i] = bv[i / static_cast<size_t>(out_size) % static_cast<size_t>(shape[1])];
    int64_t gc = c.x[1] / c.groups, gm = c.w[1];
    for (int64_t i = 0; i < c.x[0] * c.x[1] * in_size; ++i)
      for (int64_t m = 0; m < gm; ++m)
        for (int64_t t = 0; t < taps; ++t) {
          int64_t image = i / in_size / c.x[1], ic = i / in_size % c.x[1], ri = i % in_size, rt = t, offset = 0, scale = 1;
          bool inside = true;
          for (size_t d = n; d-- > 0;) {
            int64_t p = ri % c.x[d + 2] * at_or(c.strides, d, 1) - at_or(c.pads, d, 0) + rt % c.w[d + 2] * at_or(c.dilations, d, 1);
            ri /= c.x[d + 2], rt /= c.w[d + 2];
            inside = inside && p >= 0 && p < shape[d + 2];
            offset += p * scale;
            scale *= shape[d + 2];
          }
          if (inside) want[static_cast<size_t>((image * shape[1] + ic / gc * gm + m) * out_size + offset)] += xv[static_cast<size_t>(i)] * wv[static_cast<size_t>((ic * gm + m) * taps + t)];
        }
    Attributes a;
    a.set("group", c.groups);
    if (!c.strides.empty()) a.set("strides", c.strides);
    if (!c.dilations.empty()) a.set("dilations", c.dilations);
    if (!c.pads.empty()) a.set("pads", c.pads);
    if (!c.extra.empty()) a.set("output_padding", c.extra);
    Call call{{&x, &w, &b}, {&y}, a};
    Status s = call.run("ref_conv_transpose");
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_LE(difference(y.values(), want), 1e-5) << to_string(x.meta);
    Tensor xs = strided(x), ws = strided(w), y2(DType::kF32, shape);
    Call again{{&xs, &ws, &b}, {&y2}, a};
    ASSERT_TRUE(again.run("ref_conv_transpose").ok());
    EXPECT_TRUE(same_bits(y, y2));
    for (const char* name : {"avx512_conv_transpose_f32_gemm", "avx2_conv_transpose_f32_gemm"})
      for (int threads : {1, 2, 3}) {
        if (!can_run(kernel(name))) continue;
        Tensor fast(DType::kF32, shape);
        Call f{{&x, &w, &b}, {&fast}, a};
        f.threads = threads;
        ASSERT_TRUE(f.run(name).ok());
        EXPECT_EQ(fast.values(), y.values()) << name;
      }
  }
}

TEST(ConvTranspose, GivenOutputShapeSplitsPadding) {
  // ONNX: with auto_pad NOTSET the larger half of the padding comes first.
  Tensor x = tensor(DType::kF32, {1, 1, 3}, {1, 2, 3}), w = tensor(DType::kF32, {1, 1, 3}, {1, 10, 100}), y(DType::kF32, {1, 1, 6});
  Attributes a;
  a.set("strides", std::vector<int64_t>{2});
  a.set("output_shape", std::vector<int64_t>{6});
  Call call{{&x, &w}, {&y}, a};
  ASSERT_TRUE(call.run("ref_conv_transpose").ok());
  // Full result: 1 10 102 20 203 30 300; one element too many is cut in front.
  EXPECT_EQ(y.values(), (std::vector<double>{10, 102, 20, 203, 30, 300}));
  a.set("auto_pad", std::string("SAME_UPPER"));
  Call upper{{&x, &w}, {&y}, a};
  ASSERT_TRUE(upper.run("ref_conv_transpose").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{1, 10, 102, 20, 203, 30}));
}

}  // namespace
}  // namespace msvm
