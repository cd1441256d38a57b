#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

TEST(NonMaxSuppression, Cases) {
  // The standard's examples.
  std::vector<double> corners = {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}, score = {0.9, 0.75, 0.6, 0.95, 0.5, 0.3};
  Tensor boxes = tensor(DType::kF32, {1, 6, 4}, corners), scores = tensor(DType::kF32, {1, 1, 6}, score), iou = tensor(DType::kF32, {1}, {0.5}), least = tensor(DType::kF32, {1}, {0});
  auto run = [&](const Tensor& b, const Tensor& s, double most, const Tensor* threshold, Attributes a = {}) {
    Tensor limit = tensor(DType::kI64, {1}, {most}), out;
    Call call{{&b, &s, &limit, &iou, threshold}, {&out}, a};
    Status st = call.run("ref_non_max_suppression");
    EXPECT_TRUE(st.ok()) << st.message();
    EXPECT_EQ(out.shape().size(), 2u);
    return out.values();
  };
  EXPECT_EQ(run(boxes, scores, 3, &least), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(run(boxes, scores, 2, &least), (std::vector<double>{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(run(boxes, scores, 0, &least), std::vector<double>());
  Tensor high = tensor(DType::kF32, {1}, {0.4});
  EXPECT_EQ(run(boxes, scores, 3, &high), (std::vector<double>{0, 0, 3, 0, 0, 0}));
  std::vector<double> twice = score, all = corners, flipped = {1, 1, 0, 0, 0, 0.1, 1, 1.1, 0, 0.9, 1, -0.1, 0, 10, 1, 11, 1, 10.1, 0, 11.1, 1, 101, 0, 100};
  twice.insert(twice.end(), score.begin(), score.end());
  EXPECT_EQ(run(boxes, tensor(DType::kF32, {1, 2, 6}, twice), 2, &least), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 1, 3, 0, 1, 0}));
  EXPECT_EQ(run(tensor(DType::kF32, {1, 6, 4}, flipped), scores, 3, &least), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  std::vector<double> centers = {0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1, 0.5, 0.4, 1, 1, 0.5, 10.5, 1, 1, 0.5, 10.6, 1, 1, 0.5, 100.5, 1, 1};
  EXPECT_EQ(run(tensor(DType::kF32, {1, 6, 4}, centers), scores, 3, &least, {{"center_point_box", int64_t{1}}}), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(run(Tensor(DType::kF32, {1, 0, 4}), Tensor(DType::kF32, {1, 1, 0}), 3, nullptr), std::vector<double>());
  Tensor bs = strided(boxes), ss = strided(scores);
  EXPECT_EQ(run(bs, ss, 3, nullptr), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  Tensor wild = tensor(DType::kF32, {1}, {1.5}), limit = tensor(DType::kI64, {1}, {3}), out;
  Call bad{{&boxes, &scores, &limit, &wild}, {&out}};
  EXPECT_EQ(bad.run("ref_non_max_suppression").code(), StatusCode::kOutOfRange);
}

TEST(RoiAlign, AverageOfAPlaneIsItsValueAndErrors) {
  Tensor x = random_tensor({2, 3, 8, 9}, 1), rois = tensor(DType::kF32, {2, 4}, {1, 1, 5, 6, 0, 2, 8, 7}), batch = tensor(DType::kI64, {2}, {1, 0}), y(DType::kF32, {2, 3, 2, 3});
  auto v = x.values();
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i / 72) + 0.5 * static_cast<double>(i % 9);  // linear along x: sampled exactly
  x.set(v);
  Attributes a{{"output_height", int64_t{2}}, {"output_width", int64_t{3}}, {"sampling_ratio", int64_t{2}}};
  Call call{{&x, &rois, &batch}, {&y}, a};
  Status s = call.run("ref_roi_align");
  ASSERT_TRUE(s.ok()) << s.message();
  auto got = y.values();
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 6; ++p) EXPECT_NEAR(got[c * 6 + p], 3.0 + static_cast<double>(c) + 0.5 * (0.5 + (static_cast<double>(p % 3) + 0.5) * 4.0 / 3), 1e-5);
  Tensor wrong = tensor(DType::kI64, {2}, {2, 0});
  Call bad{{&x, &rois, &wrong}, {&y}, a};
  EXPECT_EQ(bad.run("ref_roi_align").code(), StatusCode::kOutOfRange);
  Tensor huge = tensor(DType::kF32, {2, 4}, {0, 0, 1e30, 1e30, 0, 0, NAN, 1});
  Call big{{&x, &huge, &batch}, {&y}, {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}}};
  EXPECT_EQ(big.run("ref_roi_align").code(), StatusCode::kOutOfRange);
}

TEST(MaxRoiPool, WholePixels) {
  std::vector<double> v;
  for (int i = 0; i < 16; ++i) v.push_back(i);
  Tensor x = tensor(DType::kF32, {1, 1, 4, 4}, v), rois = tensor(DType::kF32, {1, 5}, {0, 0, 0, 3, 3}), y(DType::kF32, {1, 1, 2, 2});
  Call call{{&x, &rois}, {&y}, {{"pooled_shape", std::vector<int64_t>{2, 2}}}};
  ASSERT_TRUE(call.run("ref_max_roi_pool").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{5, 7, 13, 15}));
}

}  // namespace
}  // namespace msvm
