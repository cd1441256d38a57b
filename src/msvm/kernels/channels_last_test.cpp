// Kernels that take images whose channels lie side by side, against the references: layouts, sizes, instruction sets, threads.
#include "msvm/kernels/layout_testing.h"

namespace msvm::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  std::string reference;
  std::vector<std::string> kernels;   // without "avx2_", "avx512_"
  std::vector<Shape> inputs;          // the first one is the image
  Shape output;
  Attributes attrs = {};
  std::vector<int64_t> args = {};
  double bound = 0;                   // of |a - b| / (1 + |b|)
  double low = -1;                    // least value of the other inputs
};

Status run(const std::string& name, const Case& c, const std::vector<const Tensor*>& inputs, Tensor& y, int threads, bool& accepted) {
  Call call;
  call.inputs = inputs;
  call.outputs = {&y};
  call.attrs = c.attrs;
  call.args = c.args;
  call.threads = threads;
  Status s = call.run(name);
  accepted = call.accepted;
  return s;
}

void check(const Case& c, const std::vector<Memory>& memories = {Memory::kChannelsLast, Memory::kChannelSlice}, bool must_accept = true) {
  const Tensor x = random_tensor(c.inputs[0], 11);
  std::vector<Tensor> rest;
  for (size_t i = 1; i < c.inputs.size(); ++i) rest.push_back(random_tensor(c.inputs[i], static_cast<unsigned>(i), DType::kF32, c.low, 2));
  // The other inputs are row-major.
  auto with = [&](const Tensor& image) {
    std::vector<const Tensor*> in = {&image};
    for (const Tensor& t : rest) in.push_back(&t);
    return in;
  };
  bool accepted = false;
  Tensor want(DType::kF32, c.output);
  Status s = run(c.reference, c, with(x), want, 1, accepted);
  ASSERT_TRUE(s.ok()) << c.reference << ": " << s.message();
  for (Memory in : memories)
    for (Memory out : memories)
      for (const std::string& base : c.kernels)
        for (const char* isa : {"avx2_", "avx512_"}) {
          const std::string name = base.starts_with("ref_") ? base : isa + base;
          if (!can_run(kernel(name))) continue;
          const Tensor image = in_memory(x, in);
          const auto inputs = with(image);
          Tensor first;
          for (int threads : {1, 2}) {
            Tensor y = in_memory(Tensor(DType::kF32, c.output), out);
            s = run(name, c, inputs, y, threads, accepted);
            ASSERT_TRUE(s.ok()) << name << ": " << s.message();
            if (!accepted) {
              EXPECT_FALSE(must_accept) << name << " refuses " << to_string(image.meta) << ", " << name_of(in) << " to " << name_of(out);
              continue;
            }
            EXPECT_LE(difference(y.values(), want.values()), c.bound) << name << " of " << to_string(image.meta) << ", " << name_of(in) << " to " << name_of(out);
            EXPECT_TRUE(out == Memory::kRowMajor || gaps_untouched(y)) << name << " writes between the elements, " << name_of(out);
            if (threads == 1) first = y;
            else EXPECT_TRUE(same_bits(y, first)) << name << " depends on the number of threads";
          }
        }
}

const Ints& channel_counts() {
  static const Ints list = {2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67};
  return list;
}

Shape pooled(const Shape& x, int64_t k, int64_t s, int64_t pad, int64_t dilation = 1, bool ceil = false) {
  Shape y = x;
  for (size_t d = 2; d < y.size(); ++d) {
    const int64_t room = x[d] + 2 * pad - ((k - 1) * dilation + 1);
    y[d] = (ceil ? (room + s - 1) / s : room / s) + 1;
    if (ceil && (y[d] - 1) * s >= x[d] + pad) --y[d];
  }
  return y;
}
Attributes pool_attrs(size_t axes, int64_t k, int64_t s, int64_t pad, int64_t dilation = 1, bool ceil = false) {
  return {{"kernel_shape", Ints(axes, k)}, {"strides", Ints(axes, s)}, {"pads", Ints(2 * axes, pad)}, {"dilations", Ints(axes, dilation)}, {"ceil_mode", int64_t{ceil}}};
}

TEST(ChannelsLast, MaxPool) {
  for (int64_t c : channel_counts())
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 5, 4}, {1, c, 13}})
      for (auto [k, s, pad, dilation] : std::vector<std::array<int64_t, 4>>{{2, 2, 0, 1}, {3, 2, 1, 1}, {3, 1, 1, 1}, {5, 1, 2, 1}, {2, 1, 0, 2}, {1, 2, 0, 1}, {4, 3, 1, 1}})
        check({"ref_max_pool", {"max_pool_f32_channels_last"}, {x}, pooled(x, k, s, pad, dilation), pool_attrs(x.size() - 2, k, s, pad, dilation)});
  check({"ref_max_pool", {"max_pool_f32_channels_last"}, {{1, 24, 40, 40}}, {1, 24, 40, 40}, pool_attrs(2, 9, 1, 4)});
  check({"ref_max_pool", {"max_pool_f32_channels_last"}, {{1, 6, 10, 10}}, pooled({1, 6, 10, 10}, 3, 2, 0, 1, true), pool_attrs(2, 3, 2, 0, 1, true)});
  check({"ref_max_pool", {"max_pool_f32_channels_last"}, {{1, 6, 4, 5, 6}}, pooled({1, 6, 4, 5, 6}, 2, 2, 0), pool_attrs(3, 2, 2, 0)});
  check({"ref_max_pool", {"max_pool_f32_channels_last"}, {{1, 1, 6, 7}}, pooled({1, 1, 6, 7}, 2, 2, 0), pool_attrs(2, 2, 2, 0)});
  check({"ref_max_pool", {"max_pool_f32_channels_last"}, {{0, 4, 6, 7}}, pooled({0, 4, 6, 7}, 2, 2, 0), pool_attrs(2, 2, 2, 0)});
}
TEST(ChannelsLast, MaxPoolKeepsNaN) {
  Tensor x = random_tensor({1, 17, 6, 6}, 1);
  std::vector<double> v = x.values();
  v[40] = v[200] = v[17 * 36 - 1] = NAN;
  x.set(v);
  for (int64_t k : {2, 5}) {
    Case c{"ref_max_pool", {}, {}, pooled(x.shape(), k, 1, k / 2), pool_attrs(2, k, 1, k / 2)};
    Tensor want(DType::kF32, c.output);
    bool accepted;
    ASSERT_TRUE(run(c.reference, c, {&x}, want, 1, accepted).ok());
    for (const char* name : {"avx2_max_pool_f32_channels_last", "avx512_max_pool_f32_channels_last"}) {
      if (!can_run(kernel(name))) continue;
      const Tensor image = in_memory(x, Memory::kChannelsLast);
      Tensor y = in_memory(want, Memory::kChannelsLast);
      ASSERT_TRUE(run(name, c, {&image}, y, 1, accepted).ok());
      EXPECT_EQ(difference(y.values(), want.values()), 0);
    }
  }
}
TEST(ChannelsLast, AveragePool) {
  for (int64_t c : channel_counts())
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 5, 4}, {1, c, 13}})
      for (bool include : {false, true})
        for (auto [k, s, pad] : std::vector<std::array<int64_t, 3>>{{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {4, 3, 2}}) {
          Attributes a = pool_attrs(x.size() - 2, k, s, pad);
          a.set("count_include_pad", int64_t{include});
          check({"ref_average_pool", {"average_pool_f32_channels_last"}, {x}, pooled(x, k, s, pad), a, {}, 2e-7});
        }
  Attributes a = pool_attrs(2, 3, 2, 0, 1, true);
  check({"ref_average_pool", {"average_pool_f32_channels_last"}, {{1, 6, 10, 10}}, pooled({1, 6, 10, 10}, 3, 2, 0, 1, true), a, {}, 2e-7});
}

TEST(ChannelsLast, GlobalPoolsAndReductions) {
  const std::vector<Memory> some = {Memory::kChannelSlice};
  for (const Shape& x : std::vector<Shape>{{1, 24, 9, 11}, {3, 17, 4, 4}, {1, 480, 20, 20}, {2, 3, 200, 201}, {1, 16, 1, 5}, {1, 1, 7, 7}, {1, 1500, 2, 3}}) {
    const Shape one = {x[0], x[1], 1, 1};
    const auto& all = size_of(x) < 100000 ? all_memories() : some;
    check({"ref_global_average_pool", {"global_average_pool_f32_strided"}, {x}, one, {}, {}, 2e-7}, all, false);
    check({"ref_global_max_pool", {"global_max_pool_f32"}, {x}, one}, all, false);
    for (const Ints& axes : std::vector<Ints>{{2, 3}, {1}, {3}, {2}, {0, 1, 2, 3}, {1, 3}, {0, 2}}) {
      Attributes a = {{"axes", axes}, {"keepdims", int64_t{1}}};
      Shape y = x;
      double count = 1;
      for (int64_t d : axes) count *= static_cast<double>(x[static_cast<size_t>(d)]), y[static_cast<size_t>(d)] = 1;
      if (count == 1) continue;
      check({"ref_reducemean", {"reducemean_f32"}, {x}, y, a, {}, 2e-7}, all, false);
      check({"ref_reducesum", {"reducesum_f32"}, {x}, y, a, {}, 1e-6 * std::sqrt(count)}, all, false);
      check({"ref_reducesumsquare", {"reducesumsquare_f32"}, {x}, y, a, {}, 1e-6}, all, false);
      check({"ref_reducemax", {"reducemax_f32"}, {x}, y, a}, all, false);
      check({"ref_reducemin", {"reducemin_f32"}, {x}, y, a}, all, false);
    }
  }
  // Large enough for partial results.
  for (Memory m : {Memory::kRowMajor, Memory::kChannelsLast}) {
    check({"ref_global_average_pool", {"global_average_pool_f32_strided"}, {{1, 3, 400, 300}}, {1, 3, 1, 1}, {}, {}, 2e-7}, {m});
    check({"ref_reducemax", {"reducemax_f32"}, {{1, 3, 400, 300}}, {1, 1, 1, 1}, {{"axes", Ints{0, 1, 2, 3}}}}, {m});
  }
  // Those that matter are accepted.
  check({"ref_reducemean", {"reducemean_f32"}, {{2, 24, 9, 9}}, {2, 24}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}}, {}, 2e-7}, {Memory::kRowMajor});
  check({"ref_global_average_pool", {"global_average_pool_f32_strided"}, {{2, 24, 9, 9}}, {2, 24, 1, 1}, {}, {}, 2e-7});
  check({"ref_global_max_pool", {"global_max_pool_f32"}, {{2, 24, 9, 9}}, {2, 24, 1, 1}});
}
TEST(ChannelsLast, ReductionsOfShortRows) {
  for (int64_t n : {2, 3, 8, 17, 31, 32, 33})
    for (int64_t rows : {1, 63, 64, 65, 1000}) {
      const Attributes a = {{"axes", Ints{1}}, {"keepdims", int64_t{0}}};
      check({"ref_reducemean", {"reducemean_f32"}, {{rows, n}}, {rows}, a, {}, 2e-7}, {Memory::kRowMajor});
      check({"ref_reducesum", {"reducesum_f32"}, {{rows, n}}, {rows}, a, {}, 1e-6}, {Memory::kRowMajor});
      check({"ref_reducemax", {"reducemax_f32"}, {{rows, n}}, {rows}, a}, {Memory::kRowMajor});
      check({"ref_reducemin", {"reducemin_f32"}, {{rows, n}}, {rows}, a}, {Memory::kRowMajor});
    }
}
TEST(ChannelsLast, ReductionsKeepNaN) {
  for (size_t at : {0u, 5u, 16u, 31u, 99u}) {
    Tensor x = random_tensor({100}, 1);
    std::vector<double> v = x.values();
    v[at] = NAN;
    x.set(v);
    for (const char* name : {"avx2_reducemax_f32", "avx512_reducemax_f32", "avx2_reducemin_f32", "avx512_reducemin_f32"}) {
      if (!can_run(kernel(name))) continue;
      Tensor y(DType::kF32, {1});
      Case c{"", {}, {}, {1}, {{"axes", Ints{0}}, {"keepdims", int64_t{1}}}};
      bool accepted;
      ASSERT_TRUE(run(name, c, {&x}, y, 1, accepted).ok());
      EXPECT_TRUE(std::isnan(y.values()[0])) << name << " " << at;
    }
  }
}

TEST(ChannelsLast, Resize) {
  for (const std::string mode : {"nearest", "linear"})
    for (const std::string coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"})
      for (int64_t c : {1, 3, 16, 24, 33})
        for (const Shape& y : std::vector<Shape>{{1, c, 10, 14}, {1, c, 5, 7}, {1, c, 8, 3}, {1, c, 5, 21}, {1, c, 13, 7}}) {
          Attributes a = {{"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", std::string("floor")}};
          check({"ref_resize", {"resize_f32_channels_last"}, {{1, c, 5, 7}}, y, a, {}, 1e-6});
        }
  check({"ref_resize", {"resize_f32_channels_last"}, {{2, 24, 40, 40}}, {2, 24, 80, 80}, {{"mode", std::string("linear")}}, {}, 1e-6});
}

TEST(ChannelsLast, Normalizations) {
  for (int64_t c : {4, 8, 16, 36, 68})
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 30, 31}, {1, c, 1, 1}, {1, c, 700}, {2, c, 3, 4, 5}}) {
      check({"ref_batch_normalization", {"batch_normalization_f32_channels_last"}, {x, {c}, {c}, {c}, {c}}, x, {}, {}, 2e-6, 0.1});
      check({"ref_group_normalization", {"group_normalization_f32_channels_last"}, {x, {c}, {c}}, x, {{"num_groups", int64_t{4}}}, {}, 4e-6});
      if (x.size() > 2 && size_of(x) / c / x[0] > 1) check({"ref_instance_normalization", {"instance_normalization_f32_channels_last"}, {x, {c}, {c}}, x, {}, {}, 4e-6});
    }
}

TEST(ChannelsLast, Lrn) {
  for (int64_t c : {1, 2, 5, 16, 33})
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 8, 8}, {2, c, 1, 1}, {1, c, 70}})
      for (int64_t size : {1, 3, 4, 5, 9})
        for (double beta : {0.75, 0.5}) {
          const Attributes a = {{"size", size}, {"beta", beta}, {"alpha", 0.7}, {"bias", 1.5}};
          check({"ref_lrn", {"lrn_f32"}, {x}, x, a, {}, 1e-6}, {Memory::kRowMajor, Memory::kChannelsLast, Memory::kChannelSlice});
        }
}

TEST(ChannelsLast, SoftmaxOverChannels) {
  for (int64_t c : {2, 3, 7, 8, 17, 31, 47, 48, 49, 100}) {
    const Shape x = {2, c, 5, 7};
    check({"ref_softmax", {"softmax_f32_strided_rows"}, {x}, x, {{"axis", int64_t{1}}}, {}, 1e-6});
    check({"ref_log_softmax", {"log_softmax_f32_strided_rows"}, {x}, x, {{"axis", int64_t{1}}}, {}, 1e-6});
  }
}

TEST(ChannelsLast, ConcatOfChannelsInOneLayout) {
  for (Memory in : all_memories())
    for (Memory out : all_memories())
      for (const Shape& x : std::vector<Shape>{{1, 24, 9, 11}, {2, 5, 30, 31}, {1, 48, 40, 50}, {1, 1, 7, 5}}) {
        std::vector<Tensor> parts;
        std::vector<const Tensor*> inputs;
        for (int64_t c : {x[1], int64_t{3}, int64_t{1}, 2 * x[1]}) parts.push_back(in_memory(random_tensor({x[0], c, x[2], x[3]}, static_cast<unsigned>(c)), in));
        for (const Tensor& t : parts) inputs.push_back(&t);
        Case c{"ref_concat", {}, {}, {x[0], 3 * x[1] + 4, x[2], x[3]}, {{"axis", int64_t{1}}}};
        Tensor y = in_memory(Tensor(DType::kF32, c.output), out);
        bool accepted;
        ASSERT_TRUE(run("ref_concat", c, inputs, y, 2, accepted).ok());
        const std::vector<double> got = y.values();
        const int64_t plane = x[2] * x[3];
        size_t wrong = 0;
        for (int64_t n = 0, at = 0; n < x[0]; ++n)
          for (const Tensor& t : parts) {
            const std::vector<double> v = t.values();
            const int64_t size = t.meta.shape[1] * plane;
            for (int64_t i = 0; i < size; ++i) wrong += got[static_cast<size_t>(at++)] != v[static_cast<size_t>(n * size + i)];
          }
        EXPECT_EQ(wrong, 0u) << name_of(in) << " to " << name_of(out) << " " << to_string(y.meta);
        EXPECT_TRUE(out == Memory::kRowMajor || gaps_untouched(y)) << name_of(out);
      }
}

// Movement has one kernel each, which takes any strides: here against itself on dense tensors, in every pair of layouts.
TEST(ChannelsLast, Movement) {
  const auto& all = all_memories();
  for (int64_t c : {1, 8, 24, 33})
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 17, 16}}) {
      const int64_t n = x[0], h = x[2], w = x[3];
      check({"ref_identity", {"ref_identity"}, {x}, x}, all);
      check({"ref_concat", {"ref_concat"}, {x, x}, {n, 2 * c, h, w}, {{"axis", int64_t{1}}}}, all);
      check({"ref_concat", {"ref_concat"}, {x, x}, {n, c, 2 * h, w}, {{"axis", int64_t{2}}}}, all);
      check({"ref_concat", {"ref_concat"}, {x, {n, 3, h, w}, {n, 1, h, w}, {n, 16, h, w}}, {n, c + 20, h, w}, {{"axis", int64_t{1}}}}, all);
      check({"ref_transpose", {"ref_transpose"}, {x}, {n, h, w, c}, {{"perm", Ints{0, 2, 3, 1}}}}, all);
      check({"ref_transpose", {"ref_transpose"}, {x}, {w, n, c, h}, {{"perm", Ints{3, 0, 1, 2}}}}, all);
      if (c > 1) check({"ref_slice", {"ref_slice"}, {x}, {n, c - 1, h, w}, {{"axes", Ints{1}}}, {1, c}}, all);
      check({"ref_slice", {"ref_slice"}, {x}, {n, c, h / 2, w}, {{"axes", Ints{2}}, {"steps", Ints{2}}}, {1, h / 2 * 2 + 1}}, all);
      for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
        check({"ref_pad", {"ref_pad"}, {x}, {n, c, h + 3, w + 3}, {{"mode", mode}}, {0, 0, 1, 2, 0, 0, 2, 1}}, all);
        check({"ref_pad", {"ref_pad"}, {x}, {n, c + 1, h + 1, w - 1}, {{"mode", mode}}, {0, 1, 1, -1, 0, 0, 0, 0}}, all);
      }
      check({"ref_depthtospace", {"ref_depthtospace"}, {{n, 4 * c, h, w}}, {n, c, 2 * h, 2 * w}, {{"blocksize", int64_t{2}}}}, all);
      check({"ref_spacetodepth", {"ref_spacetodepth"}, {{n, c, 2 * h, 2 * w}}, {n, 4 * c, h, w}, {{"blocksize", int64_t{2}}}}, all);
    }
}
TEST(ChannelsLast, CopiesOfAnyElement) {
  for (DType t : {DType::kU8, DType::kF16, DType::kI32, DType::kF64})
    for (const Shape& x : std::vector<Shape>{{1, 3, 33, 47}, {2, 24, 7, 9}, {1, 64, 20, 20}, {1, 2, 8, 8}}) {
      const Tensor source = random_tensor(x, 5, t, 0, 100);
      for (Memory in : all_memories())
        for (Memory out : all_memories()) {
          const Tensor from = in_memory(source, in);
          Tensor y = in_memory(Tensor(t, x), out);
          bool accepted;
          ASSERT_TRUE(run("ref_identity", {}, {&from}, y, 2, accepted).ok());
          EXPECT_EQ(y.values(), source.values()) << to_string(source.meta) << " " << name_of(in) << " to " << name_of(out);
          EXPECT_TRUE(out == Memory::kRowMajor || gaps_untouched(y));
        }
    }
}

TEST(ChannelsLast, ElementwiseWithBroadcasts) {
  const auto& all = all_memories();
  for (int64_t c : {1, 16, 33})
    for (const Shape& x : std::vector<Shape>{{1, c, 9, 11}, {2, c, 3, 4}}) {
      for (const char* op : {"add", "sub", "mul", "prelu"}) {
        const std::string base = op;
        for (const Shape& b : std::vector<Shape>{x, {x[0], c, 1, 1}, {c, 1, 1}, {1}, {x[0], 1, x[2], x[3]}, {x[3]}})
          check({"ref_" + base, {base + "_f32"}, {x, b}, x}, all);
      }
      check({"ref_relu", {"relu_f32"}, {x}, x}, all);
      check({"ref_max", {"ref_max"}, {x, {c, 1, 1}}, x}, all);
    }
}

}  // namespace
}  // namespace msvm::testing
