#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

std::vector<double> resize(const char* name, const Tensor& x, const Shape& out, Attributes a, const Tensor* scales = nullptr, const Tensor* roi = nullptr) {
  Tensor y(x.meta.dtype, out);
  Call call{{&x, scales, roi}, {&y}, std::move(a)};
  call.args = out;
  Status s = call.run(name);
  EXPECT_TRUE(s.ok()) << s.message();
  EXPECT_TRUE(call.accepted);
  return y.values();
}

// Expected values are those of the operator's page in the ONNX standard.
TEST(Resize, Nearest) {
  Tensor x = tensor(DType::kF32, {1, 1, 2, 2}, {1, 2, 3, 4});
  Tensor scales = tensor(DType::kF32, {4}, {1, 1, 2, 3});
  std::vector<double> want = {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4};
  EXPECT_EQ(resize("ref_resize", x, {1, 1, 4, 6}, {{"mode", std::string("nearest")}}, &scales), want);
  Tensor wide = tensor(DType::kF32, {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), small = tensor(DType::kF32, {4}, {1, 1, 0.6, 0.6});
  EXPECT_EQ(resize("ref_resize", wide, {1, 1, 1, 2}, {}, &small), (std::vector<double>{1, 3}));
  // Sizes of some axes only, integers, and every nearest_mode at ties.
  Tensor line = tensor(DType::kI32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto mode = [&](std::string m) { return resize("ref_resize", line, {2, 2}, {{"axes", std::vector<int64_t>{1}}, {"nearest_mode", m}}); };
  EXPECT_EQ(mode("round_prefer_floor"), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(mode("round_prefer_ceil"), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(mode("floor"), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(mode("ceil"), (std::vector<double>{2, 4, 6, 8}));
}

TEST(Resize, LinearAndCubic) {
  Tensor x = tensor(DType::kF32, {1, 1, 2, 2}, {1, 2, 3, 4});
  Attributes linear{{"mode", std::string("linear")}, {"scales", std::vector<double>{1, 1, 2, 2}}};
  std::vector<double> want = {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4};
  EXPECT_LE(difference(resize("ref_resize", x, {1, 1, 4, 4}, linear), want), 1e-6);
  linear.set("coordinate_transformation_mode", std::string("align_corners"));
  std::vector<double> corners = {1, 4. / 3, 5. / 3, 2, 5. / 3, 2, 7. / 3, 8. / 3, 7. / 3, 8. / 3, 3, 10. / 3, 3, 10. / 3, 11. / 3, 4};
  EXPECT_LE(difference(resize("ref_resize", x, {1, 1, 4, 4}, linear), corners), 1e-6);
  std::vector<double> sixteen;
  for (int i = 1; i <= 16; ++i) sixteen.push_back(i);
  Tensor big = tensor(DType::kF32, {1, 1, 4, 4}, sixteen);
  Attributes cubic{{"mode", std::string("cubic")}, {"scales", std::vector<double>{1, 1, 0.8, 0.8}}};
  EXPECT_LE(difference(resize("ref_resize", big, {1, 1, 3, 3}, cubic), {1.47119141, 2.78125, 4.08251953, 6.71142578, 8.02148438, 9.32275391, 11.91650391, 13.2265625, 14.52783203}), 1e-6);
  cubic.set("antialias", int64_t{1});
  cubic.set("scales", std::vector<double>{1, 1, 0.6, 0.6});
  EXPECT_LE(difference(resize("ref_resize", big, {1, 1, 2, 2}, cubic), {2.5180721, 4.2858863, 9.589329, 11.357142}), 1e-6);
  Attributes anti{{"mode", std::string("linear")}, {"antialias", int64_t{1}}, {"scales", std::vector<double>{1, 1, 0.6, 0.6}}};
  EXPECT_LE(difference(resize("ref_resize", big, {1, 1, 2, 2}, anti), {2.875, 4.5, 9.375, 11.0}), 1e-6);
  Attributes outside{{"mode", std::string("cubic")}, {"exclude_outside", int64_t{1}}, {"cubic_coeff_a", -0.5}, {"scales", std::vector<double>{1, 1, 0.8, 0.8}}};
  EXPECT_LE(difference(resize("ref_resize", big, {1, 1, 3, 3}, outside), {1.36812675, 2.6695014, 4.0133367, 6.57362535, 7.875, 9.2188353, 11.94896657, 13.25034122, 14.59417652}), 1e-6);
}

TEST(Resize, CropAndResize) {
  std::vector<double> sixteen;
  for (int i = 1; i <= 16; ++i) sixteen.push_back(i);
  Tensor x = tensor(DType::kF32, {1, 1, 4, 4}, sixteen), roi = tensor(DType::kF32, {8}, {0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7});
  Attributes a{{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}, {"extrapolation_value", 10.0}};
  EXPECT_LE(difference(resize("ref_resize", x, {1, 1, 3, 3}, a, nullptr, &roi), {7.6000004, 10, 10, 12.400001, 10, 10, 10, 10, 10}), 1e-6);
}

// The vector kernels read the same positions: nearest gives equal values, linear agrees within 2e-6.
TEST(Resize, FastPlanesMatchTheReference) {
  for (auto [in, out] : std::vector<std::pair<Shape, Shape>>{{{1, 3, 7, 9}, {1, 3, 14, 18}}, {{2, 2, 17, 33}, {2, 2, 5, 11}}, {{1, 1, 4, 4}, {1, 1, 4, 9}}, {{1, 1, 4, 4}, {1, 1, 9, 4}}, {{2, 50, 60}, {2, 300, 97}}, {{0, 1, 2, 2}, {0, 1, 4, 4}}, {{3, 1, 1}, {3, 5, 40}}})
    for (std::string mode : {"nearest", "linear"})
      for (std::string coordinates : {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"}) {
        Tensor x = random_tensor(in, 1), y(DType::kF32, out);
        Attributes a{{"mode", mode}, {"coordinate_transformation_mode", coordinates}};
        auto want = resize("ref_resize", strided(x), out, a);
        for (const char* name : {"avx512_resize_f32_planes", "avx2_resize_f32_planes"}) {
          if (!can_run(kernel(name))) continue;
          for (int threads : {1, 2, 3}) {
            Call call{{&x}, {&y}, a};
            call.threads = threads;
            Status s = call.run(name);
            ASSERT_TRUE(s.ok()) << s.message();
            EXPECT_LE(difference(y.values(), want), mode == "nearest" ? 0 : 2e-6) << name << coordinates;
          }
        }
      }
}

TEST(Resize, StringsAndErrors) {
  Tensor x(DType::kF32, {1, 1, 0, 2}), y(DType::kF32, {1, 1, 3, 2});
  Call grow{{&x}, {&y}};
  EXPECT_FALSE(grow.run("ref_resize").ok());
  Tensor z = random_tensor({1, 1, 2, 2}, 1), w(DType::kF32, {1, 1, 4, 4}), bad = tensor(DType::kF32, {4}, {1, 1, -1, 2});
  Call negative{{&z, &bad}, {&w}};
  EXPECT_EQ(negative.run("ref_resize").code(), StatusCode::kOutOfRange);
}

TEST(GridSample, ModesAndPaddings) {
  // The standard's example: bilinear, zeros.
  Tensor x = tensor(DType::kF32, {1, 1, 3, 2}, {0, 1, 2, 3, 4, 5});
  Tensor grid = tensor(DType::kF32, {1, 2, 4, 2}, {-10, -10, -5, -5, -0.2, -0.2, 10, 10, 10, 10, -0.2, -0.2, 5, 5, 10, 10});
  Tensor y(DType::kF32, {1, 1, 2, 4});
  auto run = [&](std::string mode, std::string padding) {
    Call call{{&x, &grid}, {&y}, {{"mode", mode}, {"padding_mode", padding}}};
    Status s = call.run("ref_grid_sample");
    EXPECT_TRUE(s.ok()) << s.message();
    return y.values();
  };
  EXPECT_LE(difference(run("linear", "zeros"), {0, 0, 1.7, 0, 0, 1.7, 0, 0}), 1e-6);
  EXPECT_LE(difference(run("linear", "border"), {0, 0, 1.7, 5, 5, 1.7, 5, 5}), 1e-6);
  EXPECT_LE(difference(run("linear", "reflection"), {2.5, 0, 1.7, 2.5, 2.5, 1.7, 5, 2.5}), 1e-5);
  EXPECT_LE(difference(run("nearest", "zeros"), {0, 0, 2, 0, 0, 2, 0, 0}), 1e-6);
}

TEST(AffineGrid, Identity) {
  Tensor theta = tensor(DType::kF32, {1, 2, 3}, {1, 0, 0, 0, 1, 0}), y(DType::kF32, {1, 2, 3, 2});
  Call call{{&theta}, {&y}, {{"align_corners", int64_t{1}}}};
  call.args = {1, 1, 2, 3};
  ASSERT_TRUE(call.run("ref_affine_grid").ok());
  EXPECT_LE(difference(y.values(), {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1}), 1e-6);
  Call half{{&theta}, {&y}};
  ASSERT_TRUE(half.run("ref_affine_grid").ok());
  EXPECT_LE(difference(y.values(), {-2. / 3, -.5, 0, -.5, 2. / 3, -.5, -2. / 3, .5, 0, .5, 2. / 3, .5}), 1e-6);
}

}  // namespace
}  // namespace msvm
