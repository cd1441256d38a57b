// Convolutions over channels-last images: the reference's bits (zeros by value) at every size, stride and number of threads.
#include <map>

#include "msvm/kernels/layout_testing.h"

namespace msvm {
namespace {
using namespace testing;

/// The same values with channels innermost; pixels of `extra` more floats than channels, so that the tensor is a slice of wider pixels.
Tensor channels_last(const Tensor& t, int64_t extra = 0) {
  Tensor s = t;
  const size_t rank = t.meta.rank;
  int64_t stride = t.meta.shape[1] + extra;
  s.meta.strides[1] = 1;
  for (size_t d = rank; d-- > 2;) {
    s.meta.strides[d] = stride;
    stride *= std::max<int64_t>(1, t.meta.shape[d]);
  }
  s.meta.strides[0] = stride;
  const int64_t floats = t.meta.elements() == 0 ? 0 : stride * t.meta.shape[0] - extra;
  s.bytes.assign(static_cast<size_t>(floats) * sizeof(float), std::byte{0x7f});
  s.meta.data = s.bytes.data();
  s.set(t.values());
  return s;
}

/// Largest |a - b| in terms of the largest |b|, or of 1.
double error_of_largest(const std::vector<double>& a, const std::vector<double>& b) {
  double error = 0, largest = 1;
  for (size_t i = 0; i < b.size(); ++i) {
    const double d = std::fabs(a[i] - b[i]);
    error = d <= error ? error : d;  // a NaN stays
    largest = std::max(largest, std::fabs(b[i]));
  }
  return error / largest;
}
bool has_order_of_its_own(const std::string& name) { return name.ends_with("_narrow") || name.ends_with("_winograd"); }

struct ConvCase {
  Shape x, w;  // w: [M, C / groups, kernel...]
  int64_t groups = 1;
  std::vector<int64_t> strides, dilations, pads;
  bool bias = true;
};
int64_t at_or(const std::vector<int64_t>& v, size_t i, int64_t fallback) { return i < v.size() ? v[i] : fallback; }

Shape result_shape(const ConvCase& c) {
  const size_t n = c.x.size() - 2;
  Shape y = {c.x[0], c.w[0]};
  for (size_t d = 0; d < n; ++d) {
    int64_t total = c.x[d + 2] + at_or(c.pads, d, 0) + at_or(c.pads, d + n, 0), extent = (c.w[d + 2] - 1) * at_or(c.dilations, d, 1) + 1;
    y.push_back(total < extent ? 0 : (total - extent) / at_or(c.strides, d, 1) + 1);
  }
  return y;
}
Attributes attributes(const ConvCase& c) {
  Attributes a;
  a.set("group", c.groups);
  if (!c.strides.empty()) a.set("strides", c.strides);
  if (!c.dilations.empty()) a.set("dilations", c.dilations);
  if (!c.pads.empty()) a.set("pads", c.pads);
  return a;
}

std::vector<ConvCase> cases() {
  std::vector<ConvCase> list = {
      {{1, 3, 8, 9}, {5, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{2, 3, 17, 23}, {16, 3, 3, 3}, 1, {2, 2}, {}, {1, 1, 1, 1}},
      {{1, 17, 5, 53}, {13, 17, 1, 1}, 1, {}, {}, {}, false},
      {{3, 20, 7, 7}, {70, 20, 1, 1}, 1, {2, 2}},
      {{2, 64, 14, 14}, {64, 64, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{1, 40, 7, 7}, {96, 40, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{1, 40, 9, 13}, {3, 40, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{1, 33, 9, 13}, {2, 33, 7, 3}, 1, {1, 2}, {}, {3, 1, 3, 1}},
      {{2, 19, 13, 6}, {21, 19, 3, 3}, 1, {}, {}, {0, 1, 2, 1}},
      {{1, 16, 33, 34}, {130, 16, 3, 3}, 1, {}, {}, {1, 1, 1, 1}, false},
      {{1, 16, 40, 30}, {24, 16, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{1, 24, 9, 33}, {40, 24, 3, 3}, 1, {1, 2}, {2, 1}, {2, 0, 1, 3}},
      {{1, 8, 6, 6}, {8, 1, 3, 3}, 8, {}, {}, {1, 1, 1, 1}},
      {{2, 37, 31, 33}, {37, 1, 5, 5}, 37, {2, 2}, {}, {2, 2, 2, 2}},
      {{1, 32, 20, 65}, {32, 1, 3, 3}, 32, {1, 3}, {2, 2}, {0, 2, 1, 3}},
      {{1, 70, 3, 9}, {70, 1, 7, 7}, 70, {}, {}, {3, 3, 3, 3}},
      {{1, 5, 40, 7}, {5, 1, 7, 1}, 5, {3, 1}, {}, {3, 0, 3, 0}, false},
      {{1, 16, 50}, {16, 1, 3}, 16, {}, {}, {2, 0}},
      {{1, 4, 9, 9}, {8, 1, 3, 3}, 4, {}, {}, {1, 1, 1, 1}},  // two filters for each channel
      {{1, 6, 9, 10}, {9, 2, 3, 2}, 3, {1, 2}, {2, 1}, {1, 0, 2, 1}},
      {{1, 64, 11, 12}, {64, 16, 3, 3}, 4, {}, {}, {1, 1, 1, 1}},
      {{1, 4, 11}, {6, 4, 3}, 1, {2}, {}, {1, 1}},
      {{3, 2, 130}, {2, 1, 4}, 2, {}, {3}, {5, 4}},
      {{1, 129, 50}, {128, 129, 3}, 1, {}, {}, {1, 1}},
      {{1, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, 1, {1, 2, 1}, {1, 1, 2}, {1, 0, 1, 1, 1, 1}},
      {{2, 4, 5, 6, 9}, {20, 4, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1, 1, 1}},
      {{1, 8, 5, 6, 9}, {8, 1, 3, 3, 3}, 8, {}, {}, {1, 1, 1, 1, 1, 1}},
      {{1, 600, 3, 3}, {10, 600, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},   // sums longer than one block
      {{1, 2100, 4, 5}, {50, 2100, 1, 1}},
      {{1, 1, 33, 40}, {1, 1, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{1, 1, 20, 40}, {24, 1, 7, 7}, 1, {2, 2}, {}, {3, 3, 3, 3}},
      {{0, 3, 8, 8}, {4, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},          // empty batch
      {{1, 3, 0, 8}, {4, 3, 3, 3}, 1, {}, {}, {2, 1, 2, 1}},          // nothing but padding
      {{1, 0, 4, 4}, {3, 0, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},          // no channels: bias alone
      {{1, 2, 2, 2}, {3, 2, 5, 5}},                                     // no output
      {{1, 2, 9, 9}, {2, 2, 3, 3}, 1, {1, 1}, {}, {-1, -1, -1, -1}},   // cropping
      {{1, 2, 3, 3}, {4, 2, 3, 3}, 1, {}, {}, {4, 4, 4, 4}},           // windows beyond the image
  };
  auto add = [&](ConvCase c) { list.push_back(std::move(c)); };
  for (int64_t width : {1, 2, 5, 6, 7, 8, 9, 15, 16, 17, 49, 97})
    for (int64_t filters : {1, 7, 8, 9, 16, 17, 24, 33, 48, 56, 65, 88}) add({{1, 3, 2, width}, {filters, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1}});
  for (int64_t width : {1, 7, 8, 31})
    for (int64_t channels : {1, 3, 8, 15, 16, 17, 31, 48, 65, 130}) add({{1, channels, 4, width}, {channels, 1, 3, 3}, channels, {}, {}, {1, 1, 1, 1}});
  for (int64_t kernel : {3, 5, 7})  // depthwise rows: every number of pixels, borders on each side, groups of rows
    for (int64_t stride : {1, 2})
      for (int64_t width : {1, 2, 4, 5, 11, 12, 20}) {
        const int64_t pad = kernel / 2;
        add({{1, 24, 6, width}, {24, 1, kernel, kernel}, 24, {stride, stride}, {}, {pad, pad, pad, pad}});
        add({{1, 17, kernel, width + kernel}, {17, 1, kernel, kernel}, 17, {1, stride}, {}, {pad, 0, 0, kernel - 1}, false});
      }
  for (int64_t kernel : {3, 5, 7})  // pixels that fall into few sets of a cache
    for (int64_t stride : {1, 2})
      for (int64_t channels : {256, 520, 1024}) add({{1, channels, 9, 37}, {channels, 1, kernel, kernel}, channels, {stride, stride}, {}, {1, 2, 2, 1}});
  add({{1, 512, 8, 12}, {512, 1, 5, 5}, 512, {}, {2, 1}, {4, 2, 4, 2}});
  add({{1, 512, 3, 4, 11}, {512, 1, 2, 5, 5}, 512, {}, {}, {1, 2, 2, 0, 2, 2}});
  return list;
}

std::vector<std::string> nhwc_kernels(std::string_view op) {
  std::vector<std::string> names;
  KernelList list;
  add_conv_kernels(list);
  for (const KernelInfo& k : list)
    if (k.op == op && k.name.find("_nhwc") != std::string_view::npos && can_run(k)) names.emplace_back(k.name);
  return names;
}

TEST(ConvNhwc, GivesTheReferencesBits) {
  std::map<std::string, int> accepted;
  for (const std::string& name : nhwc_kernels("Conv")) accepted[name] = 0;
  for (const ConvCase& c : cases()) {
    const Shape shape = result_shape(c);
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({c.w[0]}, 3), want(DType::kF32, shape);
    Call reference{{&x, &w, c.bias ? &b : nullptr}, {&want}, attributes(c)};
    ASSERT_TRUE(reference.run("ref_conv").ok());
    for (int layout = 0; layout < 4; ++layout) {  // of input and result: dense, slices, row-major input, row-major result
      Tensor in = layout == 2 ? x : channels_last(x, layout == 1 ? 5 : 0);
      for (auto& [name, count] : accepted)
        for (int threads : {1, 2, 3}) {
          Tensor y = layout == 3 ? Tensor(DType::kF32, shape) : channels_last(Tensor(DType::kF32, shape), layout == 1 ? 3 : 0);
          const std::vector<std::byte> before = y.bytes;
          Call call{{&in, &w, c.bias ? &b : nullptr}, {&y}, attributes(c)};
          call.threads = threads;
          call.const_inputs = threads == 1 ? 0 : 2;
          Status s = call.run(name);
          ASSERT_TRUE(s.ok()) << s.message();
          if (!call.accepted) continue;
          ++count;
          if (has_order_of_its_own(name)) ASSERT_LE(error_of_largest(y.values(), want.values()), 1e-5) << name << " " << to_string(x.meta) << to_string(w.meta);
          else ASSERT_EQ(y.values(), want.values()) << name << " " << to_string(x.meta) << to_string(w.meta) << " layout " << layout << " threads " << threads;
          if (layout == 1) {  // what lies between the channels of two pixels stays
            y.set(std::vector<double>(want.values().size(), 0.0));
            Tensor untouched = y;
            untouched.bytes = before;
            untouched.meta.data = untouched.bytes.data();
            untouched.set(std::vector<double>(want.values().size(), 0.0));
            ASSERT_EQ(y.bytes, untouched.bytes) << name;
          }
        }
    }
  }
  for (auto& [name, count] : accepted) EXPECT_GT(count, 0) << name;
}

// Sums have the reference's bits; activations are within what elementwise_f32.inc states (bound here: 2e-6 of 1 + |y|); kernels with an order of their own
// are within 5e-5 of the largest |y|, or of 1 where bounds leave less.
TEST(ConvNhwc, BodiesRunOnTheResult) {
  using Strings = std::vector<std::string>;
  const std::vector<ConvCase> shapes = {
      {{1, 3, 17, 23}, {16, 3, 3, 3}, 1, {2, 2}, {}, {1, 1, 1, 1}}, {{2, 20, 9, 11}, {70, 20, 1, 1}},          {{1, 40, 7, 7}, {24, 40, 3, 3}, 1, {}, {}, {1, 1, 1, 1}},
      {{2, 37, 12, 21}, {37, 1, 5, 5}, 37, {}, {}, {2, 2, 2, 2}},    {{1, 64, 11, 12}, {64, 16, 3, 3}, 4},      {{1, 129, 50}, {128, 129, 3}, 1, {}, {}, {1, 1}},
      {{1, 16, 70}, {16, 1, 3}, 16, {}, {}, {2, 0}, false},          {{1, 512, 5, 9}, {512, 1, 5, 5}, 512, {}, {}, {2, 2, 2, 2}},          {{2, 4, 5, 6, 9}, {20, 4, 3, 3, 3}, 1, {}, {}, {1, 1, 1, 1, 1, 1}}, {{1, 600, 5, 8}, {1, 600, 1, 1}},
      {{1, 2100, 4, 5}, {50, 2100, 1, 1}, 1, {}, {}, {}, false},     {{0, 3, 8, 8}, {4, 3, 3, 3}}};
  const std::vector<Strings> bodies = {{},
                                       {"Relu(y)"},
                                       {"Clip(y, 0.0, 0.5)"},
                                       {"Add(y, i3)", "Relu(s0)"},
                                       {"Relu(y)", "Add(s0, i3)"},
                                       {"HardSwish(y)"},
                                       {"Add(y, i3)", "HardSigmoid(s0, 0.2, 0.5)"},
                                       {"Sigmoid(y)", "Mul(y, s0)"},
                                       {"HardSwish(y)", "Add(i3, s0)"},
                                       {"HardSwish(y)", "Mul(-0.3, s0)", "Add(s1, 0.25)"},
                                       {"Add(y, i3)", "Relu(s0)", "Mul(s1, 1.7)"},
                                       {"Clip(y, -0.5, 0.5)", "Add(s0, 1.1)"},
                                       {"Add(i3, y)", "LeakyRelu(s0, 0.1)"},
                                       {"Mul(y, i4)", "Add(s0, i3)", "Tanh(s1)"}};
  std::map<std::string, int> accepted;
  for (const std::string& name : nhwc_kernels("msvm.Conv"))
    if (!name.ends_with("_upsampled")) accepted[name] = 0;
  for (const ConvCase& c : shapes)
    for (const Strings& body : bodies) {
      const Shape shape = result_shape(c);
      Shape scale(shape.size(), 1);
      scale[0] = shape[0], scale[1] = shape[1];
      const Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({c.w[0]}, 3), residual = random_tensor(shape, 4), gate = random_tensor(scale, 5);
      Attributes attrs = attributes(c);
      if (!body.empty()) attrs.set("body", body);
      Tensor want(DType::kF32, shape);
      Call reference;
      reference.inputs = {&x, &w, c.bias ? &b : nullptr, &residual, &gate};
      reference.outputs = {&want};
      reference.attrs = attrs;
      ASSERT_TRUE(reference.run("ref_fused_conv").ok());
      for (Memory in : all_memories())
        for (Memory out : all_memories()) {
          const Tensor xm = in_memory(x, in);
          for (bool same : {true, false}) {  // the residual in the result's memory layout, or not
            const Tensor rm = in_memory(residual, same == (out == Memory::kRowMajor) ? Memory::kRowMajor : same ? out : Memory::kChannelsLast);
            if (!same && body.size() < 2) continue;
            for (auto& [name, count] : accepted) {
              Tensor y = in_memory(Tensor(DType::kF32, shape), out);
              Call call;
              call.inputs = {&xm, &w, c.bias ? &b : nullptr, &rm, &gate};
              call.outputs = {&y};
              call.attrs = attrs;
              call.threads = 1 + count % 2;
              call.const_inputs = 2;
              Status s = call.run(name);
              ASSERT_TRUE(s.ok()) << s.message();
              if (!call.accepted) continue;
              ++count;
              ASSERT_LE(has_order_of_its_own(name) ? error_of_largest(y.values(), want.values()) / 25 : difference(y.values(), want.values()), 2e-6) << name << " " << to_string(x.meta) << to_string(w.meta) << " body " << (body.empty() ? "" : body.back()) << " from " << name_of(in) << " to " << name_of(out);
              ASSERT_TRUE(out == Memory::kRowMajor || gaps_untouched(y)) << name;
            }
          }
        }
    }
  for (auto& [name, count] : accepted) EXPECT_GT(count, 0) << name;
}

TEST(ConvNhwc, TransposeGivesTheReferencesBits) {
  struct Case {
    Shape x, w;  // w: [C, M / groups, kernel...]
    int64_t groups = 1;
    std::vector<int64_t> strides, dilations, pads, extra;
  };
  std::vector<Case> list = {
      {{1, 3, 4, 5}, {3, 2, 2, 2}, 1, {2, 2}},
      {{1, 24, 31, 17}, {24, 24, 2, 2}, 1, {2, 2}},
      {{2, 24, 9, 33}, {24, 1, 2, 2}, 1, {2, 2}},
      {{1, 7, 6, 5}, {7, 3, 3, 2}, 1, {3, 2}, {}, {1, 1, 0, 1}},
      {{1, 7, 6, 5}, {7, 3, 2, 2}, 1, {2, 2}, {}, {}, {1, 1}},       // outputs that no tap reaches
      {{2, 4, 5, 3}, {4, 3, 3, 3}, 2, {2, 1}, {}, {1, 1, 1, 0}, {1, 0}},
      {{1, 33, 9, 12}, {33, 40, 4, 4}, 1, {2, 2}, {}, {1, 1, 1, 1}},
      {{1, 16, 8, 8}, {16, 48, 3, 3}, 1, {1, 1}, {2, 2}, {1, 2, 1, 2}},
      {{1, 8, 5, 6}, {8, 20, 1, 1}, 1, {3, 3}},                       // stride beyond the kernel
      {{1, 2, 7}, {2, 5, 4}, 1, {3}, {2}, {2, 1}},
      {{1, 2, 3, 2, 3}, {2, 2, 2, 3, 2}, 1, {1, 2, 2}},
      {{1, 9, 3, 2, 3}, {9, 17, 2, 2, 2}, 1, {2, 2, 2}},
      {{1, 1200, 2, 3}, {1200, 9, 2, 2}, 1, {2, 2}},
      {{0, 2, 3, 3}, {2, 2, 2, 2}},
      {{1, 0, 3, 3}, {0, 2, 2, 2}},
  };
  for (const Case& c : list) {
    const size_t n = c.x.size() - 2;
    Shape shape = {c.x[0], c.w[1] * c.groups};
    for (size_t d = 0; d < n; ++d) shape.push_back(at_or(c.strides, d, 1) * (c.x[d + 2] - 1) + at_or(c.extra, d, 0) + (c.w[d + 2] - 1) * at_or(c.dilations, d, 1) + 1 - at_or(c.pads, d, 0) - at_or(c.pads, d + n, 0));
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({shape[1]}, 3), want(DType::kF32, shape);
    Attributes a;
    a.set("group", c.groups);
    if (!c.strides.empty()) a.set("strides", c.strides);
    if (!c.dilations.empty()) a.set("dilations", c.dilations);
    if (!c.pads.empty()) a.set("pads", c.pads);
    if (!c.extra.empty()) a.set("output_padding", c.extra);
    for (bool with_bias : {true, false}) {
      Call reference{{&x, &w, with_bias ? &b : nullptr}, {&want}, a};
      ASSERT_TRUE(reference.run("ref_conv_transpose").ok());
      for (const std::string& name : nhwc_kernels("ConvTranspose"))
        for (int64_t extra : {0, 3})
          for (int threads : {1, 2, 3}) {
            Tensor in = channels_last(x, extra), y = channels_last(Tensor(DType::kF32, shape), extra);
            Call call{{&in, &w, with_bias ? &b : nullptr}, {&y}, a};
            call.threads = threads;
            call.const_inputs = threads == 1 ? 0 : 2;
            Status s = call.run(name);
            ASSERT_TRUE(s.ok()) << s.message();
            ASSERT_TRUE(call.accepted);
            if (has_order_of_its_own(name)) ASSERT_LE(error_of_largest(y.values(), want.values()), 1e-5) << name << " " << to_string(x.meta) << to_string(w.meta);
          else ASSERT_EQ(y.values(), want.values()) << name << " " << to_string(x.meta) << to_string(w.meta) << " threads " << threads;
          }
    }
  }
}

TEST(ConvNhwc, LeavesWindowsBeyondReasonToOthers) {
  Tensor x = channels_last(random_tensor({1, 4, 5, 5}, 1)), w = random_tensor({4, 4, 3, 3}, 2), y(DType::kF32, {1, 4, 3, 3});
  for (const char* attr : {"dilations", "strides"})
    for (const std::string& name : nhwc_kernels("Conv")) {
      Call call{{&x, &w}, {&y}, {}};
      call.attrs.set(attr, std::vector<int64_t>{int64_t{1} << 31, 1});
      ASSERT_TRUE(call.run(name).ok());
      EXPECT_FALSE(call.accepted) << name;
    }
}

TEST(ConvNhwc, PackedWeightsServeChangingShapes) {
  for (const std::string& name : nhwc_kernels("Conv")) {
    if (!name.ends_with("_nhwc")) continue;
    Tensor w = random_tensor({12, 5, 3, 3}, 2);
    Call call;
    call.attrs.set("pads", std::vector<int64_t>{1, 1, 1, 1});
    call.const_inputs = 2;
    for (int64_t size : {5, 33, 1, 20}) {
      Tensor x = random_tensor({1, 5, size, size + 1}, 1), want(DType::kF32, {1, 12, size, size + 1}), in = channels_last(x), y = channels_last(want);
      call.inputs = {&in, &w};
      call.outputs = {&y};
      ASSERT_TRUE(call.run(name).ok());
      Call reference{{&x, &w}, {&want}, call.attrs};
      ASSERT_TRUE(reference.run("ref_conv").ok());
      EXPECT_EQ(y.values(), want.values());
    }
  }
}

}  // namespace
}  // namespace msvm
