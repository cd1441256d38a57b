#include "msvm/jit/disk/private_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "msvm/jit/disk/test_folder.h"

namespace msvm::jit {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& path) {
  auto r = open_private_folder(path, true);
  return r.ok() ? "" : r.status().message();
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(PrivateFolder, IsMadeWithAllThatIsMissingAboveIt) {
  TestFolder t;
  const std::string path = t.path() + "/cache/msvm/code";
  EXPECT_EQ(open_private_folder(path, false).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(open_private_folder(path, true).ok());
  EXPECT_EQ(mode_of(path), 0700u);
  EXPECT_EQ(mode_of(t.path() + "/cache"), 0700u);
  EXPECT_TRUE(open_private_folder(path + "/", false).ok());
  EXPECT_TRUE(open_private_folder(t.path() + "//cache/./msvm/code", false).ok());
}

TEST(PrivateFolder, TheWayToItIsNamedInFull) {
  TestFolder t;
  EXPECT_THAT(refusal("relative/path"), HasSubstr("absolute"));
  EXPECT_THAT(refusal(""), HasSubstr("absolute"));
  EXPECT_THAT(refusal(t.path() + "/a/../b"), HasSubstr(".."));
  EXPECT_NE(refusal("/"), "");
}

TEST(PrivateFolder, LinksAreNotFollowed) {
  TestFolder t;
  std::filesystem::create_directories(t.path() + "/real/code");
  ::chmod((t.path() + "/real/code").c_str(), 0700);
  std::filesystem::create_symlink(t.path() + "/real", t.path() + "/link");
  std::filesystem::create_symlink(t.path() + "/real/code", t.path() + "/last");
  EXPECT_EQ(refusal(t.path() + "/real/code"), "");
  EXPECT_THAT(refusal(t.path() + "/link/code"), HasSubstr("/link is a link"));
  EXPECT_THAT(refusal(t.path() + "/last"), HasSubstr("/last is a link"));
  std::filesystem::create_symlink(t.path() + "/nowhere", t.path() + "/dangling");
  EXPECT_THAT(refusal(t.path() + "/dangling"), HasSubstr("is a link"));
  EXPECT_FALSE(std::filesystem::exists(t.path() + "/nowhere"));
}

TEST(PrivateFolder, OthersMustNotWriteAnywhereOnTheWay) {
  TestFolder t;
  const std::string above = t.path() + "/above", path = above + "/code";
  std::filesystem::create_directories(path);
  ::chmod(path.c_str(), 0700);
  for (mode_t bad : {0777, 0770, 0722, 0702}) {
    ::chmod(above.c_str(), bad);
    EXPECT_THAT(refusal(path), HasSubstr("chmod go-w " + above)) << std::oct << bad;
  }
  ::chmod(above.c_str(), 01777);
  EXPECT_EQ(refusal(path), "") << "as /tmp";
  ::chmod(above.c_str(), 0755);
  EXPECT_EQ(refusal(path), "");
  for (mode_t bad : {0777, 01777, 0750, 0701}) {
    ::chmod(path.c_str(), bad);
    EXPECT_THAT(refusal(path), HasSubstr("chmod ")) << std::oct << bad;
  }
}

TEST(PrivateFolder, NothingOnTheWayBelongsToOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  TestFolder t;
  const std::string above = t.path() + "/above", path = above + "/code";
  std::filesystem::create_directories(path);
  ::chmod(path.c_str(), 0700);
  ASSERT_EQ(::chown(above.c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(refusal(path), HasSubstr(above + " belongs to user 65534"));
  ASSERT_EQ(::chown(above.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(refusal(path), HasSubstr("belongs to user 65534"));
}

TEST(PrivateFolder, RootsFoldersAreGoodAboveButNotAsTheLast) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  TestFolder t;
  ::chmod(t.path().c_str(), 0755);
  const std::string mine = t.path() + "/mine", roots = t.path() + "/roots";
  for (const auto& p : {mine, roots}) {
    std::filesystem::create_directory(p);
    ::chmod(p.c_str(), 0700);
  }
  ASSERT_EQ(::chown(mine.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(in_child([&] {
              if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0) return 9;
              if (!open_private_folder(mine, true).ok()) return 1;
              if (open_private_folder(roots, true).ok()) return 2;
              return open_private_folder(t.path() + "/new", true).ok() ? 3 : 0;
            }),
            0);
}

TEST(PrivateFolder, IsChosenByTheEnvironment) {
  EXPECT_EQ(in_child([] {
              ::setenv("HOME", "/home/u", 1);
              ::unsetenv("XDG_CACHE_HOME");
              ::unsetenv("MSVM_CACHE_DIR");
              if (code_folder().value() != "/home/u/.cache/msvm/code") return 1;
              ::setenv("XDG_CACHE_HOME", "relative", 1);
              if (code_folder().value() != "/home/u/.cache/msvm/code") return 2;
              ::setenv("XDG_CACHE_HOME", "/x", 1);
              if (code_folder().value() != "/x/msvm/code") return 3;
              ::setenv("MSVM_CACHE_DIR", "/y", 1);
              if (code_folder().value() != "/y") return 4;
              for (const char* name : {"HOME", "XDG_CACHE_HOME", "MSVM_CACHE_DIR"}) ::unsetenv(name);
              return code_folder().status().code() == StatusCode::kNotFound ? 0 : 5;
            }),
            0);
}

}  // namespace
}  // namespace msvm::jit
