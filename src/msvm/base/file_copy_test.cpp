#include "msvm/base/file_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msvm {
namespace {

TEST(FileCopy, ComesBackAfterItWasDropped) {
  auto file = std::make_shared<std::vector<std::byte>>(100'001);
  for (size_t i = 0; i < file->size(); ++i) (*file)[i] = static_cast<std::byte>(i * 7 + 1);
  const auto stored = std::span<const std::byte>(*file).subspan(1);
  auto copy = copy_of_file(stored, file);
  ASSERT_TRUE(copy);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy.get()) % 64, 0u);
  auto same = [&] { return std::equal(stored.begin(), stored.end(), copy.get()); };
  EXPECT_TRUE(same());
  EXPECT_TRUE(is_copy(copy.get()));
  EXPECT_TRUE(drop_copy(copy.get()));
  EXPECT_FALSE(same());
  fill_copy(copy.get());
  EXPECT_TRUE(same());
  const std::byte* first = copy.get();
  EXPECT_EQ(file.use_count(), 2);
  copy.reset();
  EXPECT_EQ(file.use_count(), 1);
  EXPECT_FALSE(is_copy(first));
}

TEST(FileCopy, LeavesOtherMemoryAlone) {
  std::vector<std::byte> own(1 << 16, std::byte{3});
  EXPECT_FALSE(is_copy(own.data()));
  EXPECT_FALSE(drop_copy(own.data()));
  fill_copy(own.data());
  EXPECT_EQ(std::count(own.begin(), own.end(), std::byte{3}), 1 << 16);
  auto copy = copy_of_file(own, nullptr);
  EXPECT_FALSE(drop_copy(copy.get() + 64));  // only as a whole
  EXPECT_EQ(copy.get()[64], std::byte{3});
  EXPECT_FALSE(copy_of_file({}, nullptr));
}

}  // namespace
}  // namespace msvm
