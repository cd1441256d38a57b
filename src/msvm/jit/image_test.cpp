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

std::vector<std::byte> sample(ImageIsa isa = ImageIsa::kAvx2) { return encode_image({isa, {0, 16, 0}, std::as_bytes(std::span(kCode))}); }

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
  wrong(4, 2, "image version 2, known is 1");
  wrong(6, 3, "unknown instruction set 3");
  wrong(7, 1, "reserved");
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

}  // namespace
}  // namespace msvm::jit
