// msvm.Conv over an input that it reads as if it had been resized: what the same call gives for the resized tensor.
#include <map>

#include "msvm/kernels/layout_testing.h"

namespace msvm {
namespace {
using namespace testing;

struct Case {
  Shape x, w;  // w: [M, C / groups, kernel...]
  std::vector<int64_t> upsample, pads, strides = {}, dilations = {};
  int64_t groups = 1;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{1, 16, 5, 7}, {16, 16, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{2, 24, 9, 4}, {40, 24, 3, 3}, {2, 3}, {1, 0, 1, 2}},
      {{1, 96, 5, 6}, {24, 96, 3, 3}, {4, 4}, {1, 1, 1, 1}},
      {{1, 3, 5, 7}, {5, 3, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{1, 8, 6, 5}, {20, 8, 5, 5}, {1, 2}, {2, 2, 2, 2}},
      {{1, 8, 6, 5}, {20, 8, 5, 5}, {3, 1}, {2, 2, 2, 2}, {2, 2}},
      {{2, 12, 7, 3}, {12, 4, 3, 3}, {2, 2}, {2, 2, 2, 2}, {}, {2, 2}, 3},
      {{1, 6, 4, 4}, {6, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, {}, 6},
      {{1, 40, 3, 5}, {7, 40, 1, 1}, {2, 2}, {0, 0, 0, 0}},
      {{1, 5, 11}, {9, 5, 3}, {3}, {1, 1}},
      {{1, 4, 2, 3, 5}, {17, 4, 3, 3, 3}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}},
      {{1, 17, 1, 1}, {33, 17, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{1, 64, 13, 17}, {64, 64, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{0, 4, 3, 3}, {4, 4, 3, 3}, {2, 2}, {1, 1, 1, 1}},
  };
  return all;
}

Tensor resized(const Tensor& x, const std::vector<int64_t>& times) {
  Shape shape = x.shape();
  for (size_t d = 0; d < times.size(); ++d) shape[d + 2] *= times[d];
  const auto from = x.values();
  std::vector<double> to;
  for (int64_t i = 0; i < size_of(shape); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (size_t a = shape.size(); a-- > 0;) {
      const int64_t index = rest % shape[a];
      rest /= shape[a];
      at += (a < 2 ? index : index / times[a - 2]) * step;
      step *= x.shape()[a];
    }
    to.push_back(from[static_cast<size_t>(at)]);
  }
  return tensor(DType::kF32, shape, to);
}

Shape result_shape(const Case& c) {
  Shape y = {c.x[0], c.w[0]};
  for (size_t d = 0; d < c.upsample.size(); ++d) {
    const int64_t total = c.x[d + 2] * c.upsample[d] + c.pads[d] + c.pads[d + c.upsample.size()], extent = (c.w[d + 2] - 1) * (c.dilations.empty() ? 1 : c.dilations[d]) + 1;
    y.push_back((total - extent) / (c.strides.empty() ? 1 : c.strides[d]) + 1);
  }
  return y;
}

TEST(ConvUpsample, GivesWhatTheResizedTensorGives) {
  const std::vector<std::vector<std::string>> bodies = {{}, {"Relu(y)"}, {"Silu(y)"}, {"Add(y, i3)", "Relu(s0)"}};
  std::map<std::string, int> accepted;
  for (const KernelInfo& k : all_kernels())
    if (k.op == "msvm.Conv" && can_run(k)) accepted[std::string(k.name)] = 0;
  for (const Case& c : cases())
    for (const auto& body : bodies) {
      const Shape shape = result_shape(c);
      const Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2), b = random_tensor({c.w[0]}, 3), residual = random_tensor(shape, 4), wide = resized(x, c.upsample);
      Attributes attrs;
      attrs.set("group", c.groups);
      attrs.set("pads", c.pads);
      if (!c.strides.empty()) attrs.set("strides", c.strides);
      if (!c.dilations.empty()) attrs.set("dilations", c.dilations);
      if (!body.empty()) attrs.set("body", body);
      Tensor want(DType::kF32, shape);
      Call plain{{&wide, &w, &b, &residual}, {&want}, attrs};
      ASSERT_TRUE(plain.run("ref_fused_conv").ok());
      attrs.set("upsample", c.upsample);
      double largest = 1;
      for (double v : want.values()) largest = std::max(largest, std::fabs(v));
      for (Memory in : {Memory::kRowMajor, Memory::kChannelsLast, Memory::kChannelSlice})
        for (Memory out : {Memory::kRowMajor, Memory::kChannelsLast, Memory::kChannelSlice})
          for (auto& [name, count] : accepted) {
            const Tensor xm = in_memory(x, in), rm = in_memory(residual, out);
            if (name == "ref_fused_conv" && (in != Memory::kRowMajor || out != Memory::kChannelSlice)) continue;  // slow
            for (int threads : {1, 2, 3}) {
              Tensor y = in_memory(Tensor(DType::kF32, shape), out);
              Call call{{&xm, &w, &b, &rm}, {&y}, attrs};
              call.threads = threads;
              call.const_inputs = 2;
              const Status s = call.run(name);
              ASSERT_TRUE(s.ok()) << s.message();
              if (!call.accepted) break;
              ++count;
              const auto got = y.values(), expected = want.values();
              const double bound = name.ends_with("_winograd") ? 1e-5 * largest : body.empty() || body[0] == "Relu(y)" ? 0 : 1e-6 * largest;
              for (size_t i = 0; i < got.size(); ++i)
                ASSERT_LE(std::fabs(got[i] - expected[i]), bound) << name << " " << to_string(x.meta) << to_string(w.meta) << " element " << i << " from " << name_of(in) << " to " << name_of(out) << " threads " << threads;
            }
          }
    }
  for (const auto& [name, count] : accepted) {
    const bool serves = name == "ref_fused_conv" || name.ends_with("_upsampled") || name.ends_with("_winograd");
    EXPECT_EQ(count > 0, serves) << name;
  }
}

TEST(ConvUpsample, WrongNumbersAreRefused) {
  const Tensor x = random_tensor({1, 4, 3, 3}, 1), w = random_tensor({4, 4, 3, 3}, 2);
  Tensor y(DType::kF32, {1, 4, 4, 4});
  for (const std::vector<int64_t>& times : {std::vector<int64_t>{2}, {2, int64_t{1} << 62}, {0, 2}}) {
    Call call{{&x, &w, nullptr}, {&y}, {}};
    call.attrs.set("upsample", times);
    EXPECT_FALSE(call.run("ref_fused_conv").ok());
  }
}

}  // namespace
}  // namespace msvm
