// Images: bytes there and back, damage refused, code that runs.
#include "msvm/jit/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace msvm::jit {
namespace {

using ::testing::HasSubstr;

// mov rax, [rdi]; mov qword [rax], 7 or 8; ret
const uint8_t kCode[] = {0x48, 0x8b, 0x07, 0x48, 0xc7, 0x00, 7, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90,
                         0x48, 0x8b, 0x07, 0x48, 0xc7, 0x00, 8, 0, 0, 0, 0xc3};

std::vector<std::byte> sample(ImageIsa isa = ImageIsa::kAvx2) { return encode_image({isa, {0, 16, 0}, std::as_bytes(std::span(kCode)), {}}); }

const LineTable kLines{{11, 11, 11}, {{0, 2}, {3, 300}, {16, 0}, {26, 7}}};
std::vector<std::byte> with_lines() { return encode_image({ImageIsa::kAvx2, {0, 16, 0}, std::as_bytes(std::span(kCode)), kLines}); }
constexpr size_t kLinesAt = 64 + sizeof kCode;

TEST(Image, RoundTripAndRun) {
  const auto bytes = sample();
  auto view = decode_image(bytes);
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_THAT(view->offsets, ::testing::ElementsAre(0, 16, 0));
  EXPECT_EQ(view->code.size(), sizeof kCode);
  auto image = NativeImage::load(bytes, ImageIsa::kAvx2);
  ASSERT_TRUE(image.ok()) << image.status().message();
  ASSERT_EQ((*image)->kernels(), 3u);
  int64_t x = 0;
  void* pointers[] = {&x};
  (*image)->entry(1)(pointers, nullptr, 0, 1, 0, 1);
  EXPECT_EQ(x, 8);
  (*image)->entry(2)(pointers, nullptr, 0, 1, 0, 1);
  EXPECT_EQ(x, 7);
}

TEST(Image, CodeOutlivesOtherImages) {
  auto a = NativeImage::load(sample(), ImageIsa::kAvx2);
  ASSERT_TRUE(a.ok());
  std::shared_ptr<const NativeImage> kept = *a;
  a = NativeImage::load(sample(), ImageIsa::kAvx2);
  int64_t x = 0;
  void* pointers[] = {&x};
  kept->entry(0)(pointers, nullptr, 0, 1, 0, 1);
  EXPECT_EQ(x, 7);
}

TEST(Image, Refused) {
  auto wrong = [](size_t at, int value, std::string_view error) {
    auto bytes = sample();
    bytes[at] = static_cast<std::byte>(value);
    auto view = decode_image(bytes);
    ASSERT_FALSE(view.ok()) << error;
    EXPECT_THAT(view.status().message(), HasSubstr(error));
  };
  wrong(0, 'X', "not an image");
  wrong(4, 3, "image version 3, known is 2");
  wrong(6, 3, "unknown instruction set 3");
  wrong(7, 2, "unknown parts 2");
  wrong(7, 1, "truncated");
  wrong(8, 200, "200 kernels are more than follow");
  wrong(12, 0xff, "truncated");
  wrong(16, 27, "kernel 0 lies at 27 of 27 bytes");
  wrong(30, 1, "padding");
  auto bytes = sample();
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_image(bytes).ok());
  for (size_t n = 0; n + 1 < bytes.size(); ++n) EXPECT_FALSE(decode_image(std::span(bytes).first(n)).ok()) << n;
  EXPECT_THAT(NativeImage::load(sample(ImageIsa::kAvx512), ImageIsa::kAvx2).status().message(), HasSubstr("AVX-512"));
}

TEST(ImageLines, RoundTripAndKept) {
  auto view = decode_image(with_lines());
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->lines, kLines);
  EXPECT_EQ(view->code.size(), sizeof kCode);
  auto image = NativeImage::load(with_lines(), ImageIsa::kAvx2);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ((*image)->lines(), kLines);
  EXPECT_EQ((*image)->encode(), with_lines());
  EXPECT_TRUE((*NativeImage::load(sample(), ImageIsa::kAvx2))->lines().sizes.empty());
  EXPECT_THAT(std::vector((*image)->code().begin(), (*image)->code().end()), ::testing::ElementsAreArray(std::as_bytes(std::span(kCode))));
}

TEST(ImageLines, Refused) {
  auto wrong = [](size_t at, int value, std::string_view error) {
    auto bytes = with_lines();
    bytes[kLinesAt + at] = static_cast<std::byte>(value);
    auto view = decode_image(bytes);
    ASSERT_FALSE(view.ok()) << error;
    EXPECT_THAT(view.status().message(), HasSubstr(error));
  };
  wrong(4, 12, "kernel 1 has 12 bytes of instructions, 11 follow");
  wrong(3, 0xff, "kernel 0 has");
  wrong(12, 5, "truncated");                 // one row more than there are
  wrong(12, 3, "unexpected bytes at the end");
  wrong(15, 0xff, "more than follow");
  wrong(16, 27, "row 0 of lines lies outside");
  wrong(18, 0, "row 1 of lines lies outside of the code or out of order");
  wrong(17, 3, "row 0 names a line that can't be");  // -2
  auto bytes = with_lines();
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_image(std::span(bytes).first(n)).ok()) << n;
  // A line beyond any text.
  LineTable far = kLines;
  far.rows.back().line = 0x7fffffff;
  EXPECT_THAT(decode_image(encode_image({ImageIsa::kAvx2, {0, 16, 0}, std::as_bytes(std::span(kCode)), far})).status().message(), HasSubstr("row 3 names a line"));
}

TEST(ImageLines, AnyDamageIsRefusedOrHarmless) {
  std::mt19937 random(3);
  const auto good = with_lines();
  int taken = 0;
  for (int k = 0; k < 20'000; ++k) {
    auto bytes = good;
    for (int n = static_cast<int>(random() % 3); n >= 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    auto view = decode_image(bytes);
    if (!view.ok()) continue;
    ++taken;
    ASSERT_EQ(encode_image(*view), bytes);  // one spelling
    for (size_t i = 0; i < view->lines.sizes.size(); ++i) ASSERT_LE(view->lines.sizes[i], view->code.size() - view->offsets[i]);
    const auto& rows = view->lines.rows;
    for (const LineRow& row : rows) ASSERT_LT(row.offset, view->code.size());
    for (size_t i = 1; i < rows.size(); ++i) ASSERT_GT(rows[i].offset, rows[i - 1].offset);
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace msvm::jit
