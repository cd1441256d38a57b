// For tests of this room: where golden files and scratch files are.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "msvm/base/file.h"

namespace msvm {

inline std::string golden_directory() { return std::string(MSVM_SOURCE_DIR) + "/tests/golden"; }

inline std::string text_of(const std::filesystem::path& path) {
  auto text = read_text_file(path.string());
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : std::string();
}

/// An empty directory that goes away.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "msvm_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace msvm
