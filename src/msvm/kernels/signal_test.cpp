#include <complex>

#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

std::vector<std::complex<double>> direct(const std::vector<std::complex<double>>& x, size_t n, bool inverse) {
  std::vector<std::complex<double>> y(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < std::min(n, x.size()); ++i) y[k] += x[i] * std::polar(1.0, (inverse ? 2 : -2) * 3.14159265358979323846 * static_cast<double>(i * k % n) / static_cast<double>(n));
  if (inverse)
    for (auto& v : y) v /= static_cast<double>(n);
  return y;
}

TEST(Dft, LengthsDirectionsAndSides) {
  for (int64_t size : {1, 2, 7, 12, 16, 30})
    for (int64_t length : {size, size + 3, int64_t{5}})
      for (int64_t parts : {1, 2})
        for (bool inverse : {false, true})
          for (bool onesided : {false, true}) {
            if (onesided && (parts == 2) != inverse) continue;
            int64_t n = length, out = onesided && !inverse ? n / 2 + 1 : n, out_parts = onesided && inverse ? 1 : 2;
            Tensor x = random_tensor({2, size, 3, parts}, 1), y(DType::kF32, {2, out, 3, out_parts});
            Call call{{&x}, {&y}, {{"axis", int64_t{1}}, {"inverse", int64_t{inverse}}, {"onesided", int64_t{onesided}}}};
            call.args = {n};
            Status s = call.run("ref_dft");
            ASSERT_TRUE(s.ok()) << s.message();
            auto v = x.values(), got = y.values();
            for (size_t b = 0; b < 2; ++b)
              for (size_t c = 0; c < 3; ++c) {
                std::vector<std::complex<double>> line;
                for (size_t i = 0; i < static_cast<size_t>(size); ++i) {
                  size_t at = ((b * static_cast<size_t>(size) + i) * 3 + c) * static_cast<size_t>(parts);
                  line.emplace_back(v[at], parts == 2 ? v[at + 1] : 0);
                }
                if (onesided && inverse) {
                  line.resize(static_cast<size_t>(n));
                  for (size_t k = static_cast<size_t>(n / 2 + 1); k < static_cast<size_t>(n); ++k) line[k] = std::conj(line[static_cast<size_t>(n) - k]);
                }
                auto want = direct(line, static_cast<size_t>(n), inverse);
                for (size_t k = 0; k < static_cast<size_t>(out); ++k) {
                  size_t at = ((b * static_cast<size_t>(out) + k) * 3 + c) * static_cast<size_t>(out_parts);
                  EXPECT_NEAR(got[at], want[k].real(), 1e-5);
                  if (out_parts == 2) {
                    EXPECT_NEAR(got[at + 1], want[k].imag(), 1e-5);
                  }
                }
              }
          }
}

TEST(Stft, FramesOfAWindowedSignal) {
  Tensor x = random_tensor({2, 20, 1}, 1), window = random_tensor({6}, 2), y(DType::kF32, {2, 5, 4, 2});
  Call call{{&x, &window}, {&y}};
  call.args = {3, 6};
  Status s = call.run("ref_stft");
  ASSERT_TRUE(s.ok()) << s.message();
  auto v = x.values(), w = window.values(), got = y.values();
  for (size_t b = 0; b < 2; ++b)
    for (size_t f = 0; f < 5; ++f) {
      std::vector<std::complex<double>> line;
      for (size_t i = 0; i < 6; ++i) line.emplace_back(v[b * 20 + f * 3 + i] * w[i], 0);
      auto want = direct(line, 6, false);
      for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(got[((b * 5 + f) * 4 + k) * 2], want[k].real(), 1e-5);
        EXPECT_NEAR(got[((b * 5 + f) * 4 + k) * 2 + 1], want[k].imag(), 1e-5);
      }
    }
}

TEST(Windows, Curves) {
  Tensor y(DType::kF32, {4}), none(DType::kF32, {0}), one(DType::kF32, {1});
  Call hann{{}, {&y}};
  hann.args = {4};
  ASSERT_TRUE(hann.run("ref_hann_window").ok());
  EXPECT_LE(difference(y.values(), {0, 0.5, 1, 0.5}), 1e-6);
  Call symmetric{{}, {&y}, {{"periodic", int64_t{0}}}};
  ASSERT_TRUE(symmetric.run("ref_hann_window").ok());
  EXPECT_LE(difference(y.values(), {0, 0.75, 0.75, 0}), 1e-6);
  Call hamming{{}, {&y}};
  ASSERT_TRUE(hamming.run("ref_hamming_window").ok());
  EXPECT_LE(difference(y.values(), {4. / 46, 25. / 46, 1, 25. / 46}), 1e-6);
  Call blackman{{}, {&y}};
  ASSERT_TRUE(blackman.run("ref_blackman_window").ok());
  EXPECT_LE(difference(y.values(), {0, 0.34, 1, 0.34}), 1e-6);
  Call empty{{}, {&none}}, single{{}, {&one}, {{"periodic", int64_t{0}}}};
  EXPECT_TRUE(empty.run("ref_hann_window").ok());
  EXPECT_TRUE(single.run("ref_hann_window").ok());
}

TEST(MelWeights, TheStandardsExample) {
  Tensor low = tensor(DType::kF32, {}, {0}), high = tensor(DType::kF32, {}, {8192.0 / 2}), y(DType::kF32, {9, 8});
  Call call{{&low, &high}, {&y}};
  call.args = {8, 16, 8192};
  Status s = call.run("ref_mel_weight_matrix");
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(y.values(), (std::vector<double>{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                             0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Col2Im, BlocksAddUp) {
  std::vector<double> v;
  for (int i = 0; i < 25; ++i) v.push_back(1 + i / 5 + 5 * (i % 5));  // the standard's example, column by column
  Tensor x = tensor(DType::kF32, {1, 5, 5}, {1, 6, 11, 16, 21, 2, 7, 12, 17, 22, 3, 8, 13, 18, 23, 4, 9, 14, 19, 24, 5, 0, 15, 20, 25}), y(DType::kF32, {1, 1, 5, 5});
  Call call{{&x}, {&y}};
  call.args = {5, 5, 1, 5};
  ASSERT_TRUE(call.run("ref_col2im").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}));
  Tensor ones = tensor(DType::kI32, {1, 4, 4}, std::vector<double>(16, 1)), sum(DType::kI32, {1, 1, 3, 3});
  Call overlap{{&ones}, {&sum}};
  overlap.args = {3, 3, 2, 2};
  ASSERT_TRUE(overlap.run("ref_col2im").ok());
  EXPECT_EQ(sum.values(), (std::vector<double>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

}  // namespace
}  // namespace msvm
