#include "msvm/base/file.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace msvm {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "msvm_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

std::string text_of(const MappedFile& f) { return {reinterpret_cast<const char*>(f.data().data()), f.data().size()}; }

TEST_F(FileTest, DroppedPagesComeBackFromTheFile) {
  std::string text(5 * 4096 + 7, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  ASSERT_TRUE(write_file_atomically(at("pages"), text).ok());
  auto mapped = MappedFile::open(at("pages"));
  ASSERT_TRUE(mapped.ok());
  drop_mapped_pages(mapped->data());
  EXPECT_EQ(text_of(*mapped), text);
  drop_mapped_pages(mapped->data().subspan(100, 3 * 4096));
  drop_mapped_pages(mapped->data().subspan(9, 20));
  drop_mapped_pages({});
  EXPECT_EQ(text_of(*mapped), text);
  std::vector<std::byte> own(3 * 4096 * 4, std::byte{7});
  drop_mapped_pages(own);  // no file: left alone
  EXPECT_EQ(std::count(own.begin(), own.end(), std::byte{7}), static_cast<std::ptrdiff_t>(own.size()));
}

TEST_F(FileTest, WriteThenReadAndMap) {
  ASSERT_TRUE(write_file_atomically(at("a"), "first").ok());
  ASSERT_TRUE(write_file_atomically(at("a"), "second").ok());
  EXPECT_EQ(*read_text_file(at("a")), "second");
  EXPECT_EQ(read_file(at("a"))->size(), 6u);
  auto mapped = MappedFile::open(at("a"));
  ASSERT_TRUE(mapped.ok());
  ASSERT_TRUE(write_file_atomically(at("a"), "third").ok());
  EXPECT_EQ(text_of(*mapped), "second") << "a mapping keeps the file it was made from";
  MappedFile moved = std::move(*mapped);
  EXPECT_EQ(text_of(moved), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

TEST_F(FileTest, NothingTakesThePlaceOfAPipe) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(write_file_atomically(at("pipe"), "x").message(), at("pipe") + ": not a regular file");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(FileTest, EmptyFile) {
  ASSERT_TRUE(write_file_atomically(at("e"), "").ok());
  EXPECT_EQ(MappedFile::open(at("e"))->data().size(), 0u);
  EXPECT_EQ(*read_text_file(at("e")), "");
}

TEST_F(FileTest, Refusals) {
  EXPECT_EQ(MappedFile::open(at("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(read_file(at("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(read_file(folder_.string()).status().code(), StatusCode::kIo);
  EXPECT_EQ(MappedFile::open(folder_.string()).status().code(), StatusCode::kIo);
  ASSERT_TRUE(write_file_atomically(at("a"), "12345").ok());
  EXPECT_EQ(read_file(at("a"), 4).status().code(), StatusCode::kResourceLimit);
  EXPECT_TRUE(read_file(at("a"), 5).ok());
  EXPECT_FALSE(write_file_atomically(at("no/such/folder"), "x").ok());
}

TEST_F(FileTest, BeneathCantLeaveTheFolder) {
  fs::create_directories(folder_ / "model/weights");
  ASSERT_TRUE(write_file_atomically(at("secret"), "s").ok());
  ASSERT_TRUE(write_file_atomically(at("model/weights/w"), "w").ok());
  fs::create_symlink(at("secret"), folder_ / "model/link");
  fs::create_symlink("weights/w", folder_ / "model/inner");
  fs::create_directory_symlink(folder_, folder_ / "model/up");
  std::string model = at("model");
  EXPECT_EQ(text_of(*MappedFile::open_beneath(model, "weights/w")), "w");
  EXPECT_EQ(text_of(*MappedFile::open_beneath(model, "inner")), "w") << "a link that stays inside";
  for (const char* bad : {"../secret", "link", "up/secret", "weights/../../secret", "", "/etc/passwd"})
    EXPECT_EQ(MappedFile::open_beneath(model, bad).status().code(), StatusCode::kInvalidArgument) << bad;
  EXPECT_EQ(MappedFile::open_beneath(model, "none").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace msvm
