#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

TEST(Quantize, PerTensorAxisAndBlock) {
  Tensor x = tensor(DType::kF32, {6}, {0, 2, 3, 1000, -254, -1000}), scale = tensor(DType::kF32, {}, {2}), zero = tensor(DType::kU8, {}, {128}), y(DType::kU8, {6});
  Call call{{&x, &scale, &zero}, {&y}};
  ASSERT_TRUE(call.run("ref_quantize_linear").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{128, 129, 130, 255, 1, 0}));  // the standard's example
  Tensor m = tensor(DType::kF32, {2, 2}, {1, 2, 3, 4}), per = tensor(DType::kF32, {2}, {1, 2}), z(DType::kI8, {2, 2}), zz = tensor(DType::kI8, {2}, {0, 10});
  Call axis{{&m, &per, &zz}, {&z}, {{"axis", int64_t{1}}}};
  ASSERT_TRUE(axis.run("ref_quantize_linear").ok());
  EXPECT_EQ(z.values(), (std::vector<double>{1, 11, 3, 12}));
  Call axis0{{&m, &per, &zz}, {&z}, {{"axis", int64_t{0}}}};
  ASSERT_TRUE(axis0.run("ref_quantize_linear").ok());
  EXPECT_EQ(z.values(), (std::vector<double>{1, 2, 12, 12}));  // 1.5 to even, 2
  Tensor b = tensor(DType::kF32, {1, 3, 2}, {2, 3, 4, 6, 8, 9}), blocks = tensor(DType::kF32, {1, 2, 2}, {1, 3, 2, 0.5}), q(DType::kI16, {1, 3, 2}), back(DType::kF32, {1, 3, 2});
  Attributes blocked{{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
  Call block{{&b, &blocks}, {&q}, blocked};
  ASSERT_TRUE(block.run("ref_quantize_linear").ok());
  EXPECT_EQ(q.values(), (std::vector<double>{2, 1, 4, 2, 4, 18}));
  Call inverse{{&q, &blocks}, {&back}, blocked};
  ASSERT_TRUE(inverse.run("ref_dequantize_linear").ok());
  EXPECT_EQ(back.values(), b.values());
  Tensor nan = tensor(DType::kF32, {1}, {NAN}), out(DType::kU8, {1});
  Call n{{&nan, &scale, &zero}, {&out}};
  ASSERT_TRUE(n.run("ref_quantize_linear").ok());
  EXPECT_EQ(out.values()[0], 128);
  Tensor wrong = tensor(DType::kF32, {3}, {1, 1, 1});
  Call bad{{&m, &wrong}, {&z}};
  EXPECT_EQ(bad.run("ref_quantize_linear").code(), StatusCode::kShapeMismatch);
}

TEST(Quantize, VectorsAgreeWithTheReference) {
  for (DType t : {DType::kU8, DType::kI8})
    for (int64_t n : {1, 7, 8, 15, 16, 17, 63, 64, 65, 5003})
      for (bool per_axis : {false, true})
        for (bool with_zero : {false, true}) {
          Tensor x = random_tensor({2, 3, n}, 1, DType::kF32, -50, 50);
          std::vector<double> v = x.values();
          v[0] = NAN, v.back() = 1e30, v[v.size() / 2] = 2.5 * 0.25;
          x.set(v);
          const Tensor scale = per_axis ? tensor(DType::kF32, {3}, {0.25, 0.1, 1.5}) : tensor(DType::kF32, {}, {0.25});
          const double z = t == DType::kU8 ? 100 : -9;
          const Tensor zero = per_axis ? tensor(t, {3}, {z, 0, z + 3}) : tensor(t, {}, {z});
          const Attributes attrs = {{"axis", int64_t{1}}};
          for (bool gaps : {false, true}) {
            const Tensor in = gaps ? strided(strided(x)) : x;
            Tensor want(t, x.shape()), want_back(DType::kF32, x.shape());
            Call q{{&x, &scale, with_zero ? &zero : nullptr}, {&want}, attrs};
            ASSERT_TRUE(q.run("ref_quantize_linear").ok());
            Call d{{&want, &scale, with_zero ? &zero : nullptr}, {&want_back}, attrs};
            ASSERT_TRUE(d.run("ref_dequantize_linear").ok());
            for (const std::string isa : {"avx2_", "avx512_"}) {
              if (!can_run(kernel(isa + "quantize_linear_f32"))) continue;
              for (int threads : {1, 2}) {
                Tensor y(t, x.shape()), back(DType::kF32, x.shape());
                Call fast{{&in, &scale, with_zero ? &zero : nullptr}, {&y}, attrs};
                fast.threads = threads;
                ASSERT_TRUE(fast.run(isa + "quantize_linear_f32").ok());
                const bool rows = !per_axis || n > 1;  // else each element has a scale of its own
                EXPECT_TRUE(fast.accepted || gaps || !rows);
                if (fast.accepted) { EXPECT_TRUE(same_bits(y, want)) << isa << n; }
                Call inverse{{&want, &scale, with_zero ? &zero : nullptr}, {&back}, attrs};
                inverse.threads = threads;
                ASSERT_TRUE(inverse.run(isa + "dequantize_linear_f32").ok());
                EXPECT_EQ(inverse.accepted, rows);
                if (rows) { EXPECT_TRUE(same_bits(back, want_back)) << isa << n; }
              }
            }
          }
        }
}

TEST(Quantize, DequantizeKinds) {
  Tensor x = tensor(DType::kU8, {4}, {0, 3, 128, 255}), scale = tensor(DType::kF32, {}, {2}), zero = tensor(DType::kU8, {}, {128}), y(DType::kF32, {4}), h(DType::kF16, {4});
  Call call{{&x, &scale, &zero}, {&y}};
  ASSERT_TRUE(call.run("ref_dequantize_linear").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{-256, -250, 0, 254}));
  Call half{{&x, &scale, &zero}, {&h}};
  ASSERT_TRUE(half.run("ref_dequantize_linear").ok());
  EXPECT_EQ(h.values(), y.values());
  Tensor wide = tensor(DType::kI32, {2}, {-2147483648.0, 2147483647.0}), y2(DType::kF32, {2});
  Call big{{&wide, &scale}, {&y2}};
  ASSERT_TRUE(big.run("ref_dequantize_linear").ok());
  EXPECT_EQ(y2.values(), (std::vector<double>{-4294967296.0, 4294967296.0}));
}

TEST(Quantize, Dynamic) {
  Tensor x = tensor(DType::kF32, {6}, {0, 2, -3, -2.5, 1.34, 0.5}), y(DType::kU8, {6}), scale(DType::kF32, {}), zero(DType::kU8, {});
  Call call{{&x}, {&y, &scale, &zero}};
  ASSERT_TRUE(call.run("ref_dynamic_quantize_linear").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{153, 255, 0, 26, 221, 179}));
  EXPECT_NEAR(scale.values()[0], 0.0196078438, 1e-8);
  EXPECT_EQ(zero.values()[0], 153);
  Tensor none(DType::kF32, {0}), none_y(DType::kU8, {0});
  Call empty{{&none}, {&none_y, &scale, &zero}};
  ASSERT_TRUE(empty.run("ref_dynamic_quantize_linear").ok());
  EXPECT_EQ(scale.values()[0], 1);
}

TEST(Quantize, IntegerConvolutions) {
  Tensor x = tensor(DType::kU8, {1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}), w = tensor(DType::kU8, {1, 1, 2, 2}, {1, 1, 1, 1}), zero = tensor(DType::kU8, {}, {1}), y(DType::kI32, {1, 1, 4, 4});
  Call call{{&x, &w, &zero}, {&y}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}};
  ASSERT_TRUE(call.run("ref_conv_integer").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}));  // the standard's example
  // QLinearConv against the float computation, per-channel weights.
  Tensor xq = random_tensor({2, 4, 5, 6}, 1, DType::kU8, 0, 256), wq = random_tensor({6, 2, 3, 3}, 2, DType::kI8, -128, 128), bias = random_tensor({6}, 3, DType::kI32, -1000, 1000);
  Tensor xs = tensor(DType::kF32, {}, {0.02}), xz = tensor(DType::kU8, {}, {120}), ws = random_tensor({6}, 4, DType::kF32, 0.01, 0.03), wz = tensor(DType::kI8, {6}, {0, 1, -2, 0, 3, 0}), ys = tensor(DType::kF32, {}, {0.1}), yz = tensor(DType::kU8, {}, {100});
  Tensor out(DType::kU8, {2, 6, 3, 6}), xqs = strided(xq);
  Call q{{&xqs, &xs, &xz, &wq, &ws, &wz, &ys, &yz, &bias}, {&out}, {{"group", int64_t{2}}, {"pads", std::vector<int64_t>{0, 1, 0, 1}}}};
  Status s = q.run("ref_qlinear_conv");
  ASSERT_TRUE(s.ok()) << s.message();
  auto xv = xq.values(), wv = wq.values(), bv = bias.values(), wsv = ws.values(), wzv = wz.values(), got = out.values();
  for (int n = 0; n < 2; ++n)
    for (int m = 0; m < 6; ++m)
      for (int h = 0; h < 3; ++h)
        for (int v = 0; v < 6; ++v) {
          double sum = bv[static_cast<size_t>(m)];
          for (int c = 0; c < 2; ++c)
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 3; ++j) {
                int col = v - 1 + j;
                if (col < 0 || col >= 6) continue;
                sum += (xv[static_cast<size_t>(((n * 4 + m / 3 * 2 + c) * 5 + h + i) * 6 + col)] - 120) * (wv[static_cast<size_t>(((m * 2 + c) * 3 + i) * 3 + j)] - wzv[static_cast<size_t>(m)]);
              }
          double y1 = std::min(255.0, std::max(0.0, std::nearbyint(sum * 0.02 * wsv[static_cast<size_t>(m)] / 0.1) + 100));
          EXPECT_NEAR(got[static_cast<size_t>(((n * 6 + m) * 3 + h) * 6 + v)], y1, 1);
        }
}

TEST(Quantize, LinearMatMul) {
  Tensor a = tensor(DType::kU8, {2, 4}, {208, 236, 0, 238, 3, 214, 255, 29}), b = tensor(DType::kU8, {4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247});
  Tensor as = tensor(DType::kF32, {1}, {0.0066}), az = tensor(DType::kU8, {1}, {113}), bs = tensor(DType::kF32, {1}, {0.00705}), bz = tensor(DType::kU8, {1}, {114}), ys = tensor(DType::kF32, {1}, {0.0107}), yz = tensor(DType::kU8, {1}, {118}), y(DType::kU8, {2, 3});
  Call call{{&a, &as, &az, &b, &bs, &bz, &ys, &yz}, {&y}};
  ASSERT_TRUE(call.run("ref_qlinear_matmul").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{168, 115, 255, 1, 66, 151}));  // the standard's example
}

}  // namespace
}  // namespace msvm
