#include "msvm/jit/disk/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "msvm/jit/disk/build_id.h"
#include "msvm/jit/disk/test_folder.h"

namespace msvm::jit {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view s) {
  auto b = std::as_bytes(std::span(s.data(), s.size()));
  return {b.begin(), b.end()};
}
Image image_of(std::string_view s) { return std::make_shared<const std::vector<std::byte>>(bytes_of(s)); }

class BundleTest : public testing::Test {
 protected:
  void SetUp() override {
    mine_ = DiskCache::open({.folder = test_.path() + "/mine", .build = "b1"}).value();
    theirs_ = DiskCache::open({.folder = test_.path() + "/theirs", .build = "b1"}).value();
    ASSERT_TRUE(
        write_bundle(path_, {{bytes_of("r1"), "sig 1", image_of("code 1")}, {bytes_of("r2"), "sig 2", image_of("code 2")}}, *mine_)
            .ok());
  }
  TestFolder test_;
  std::string path_ = test_.path() + "/model.msbc.code";
  std::unique_ptr<DiskCache> mine_, theirs_;
};

TEST_F(BundleTest, ComesBackForTheUserWhoMadeIt) {
  auto entries = read_bundle(path_, mine_.get(), "b1", false);
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[1].request, bytes_of("r2"));
  EXPECT_EQ((*entries)[1].label, "sig 2");
  EXPECT_EQ(*(*entries)[1].image, bytes_of("code 2"));
}

TEST_F(BundleTest, OfOthersNeedsTrust) {
  for (const DiskCache* cache : {static_cast<const DiskCache*>(theirs_.get()), static_cast<const DiskCache*>(nullptr)}) {
    auto refused = read_bundle(path_, cache, "b1", false);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.status().message(), HasSubstr("trust_native=True"));
    EXPECT_TRUE(read_bundle(path_, cache, "b1", true).ok());
  }
}

TEST_F(BundleTest, IsForOneBuild) {
  EXPECT_THAT(read_bundle(path_, mine_.get(), "b2", false).status().message(), HasSubstr("compile it again"));
  EXPECT_FALSE(read_bundle(path_, nullptr, "b2", true).ok());
}

TEST_F(BundleTest, NoAlteredByteIsLoadedWithoutTrustAndNoneCrashesWithIt) {
  const std::string good = read_text(path_);
  std::mt19937 rng(3);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 + rng() % 255));
    write_text(path_, bad);
    EXPECT_FALSE(read_bundle(path_, mine_.get(), "b1", false).ok()) << i;
    (void)read_bundle(path_, nullptr, "b1", true).ok();
    write_text(path_, good.substr(0, i));
    EXPECT_FALSE(read_bundle(path_, mine_.get(), "b1", false).ok()) << i;
    EXPECT_FALSE(read_bundle(path_, nullptr, "b1", true).ok()) << i;
  }
}

TEST_F(BundleTest, AnEntryOfTheCacheIsNoBundle) {
  mine_->store(bytes_of("r1"), bytes_of("code"), "");
  EXPECT_FALSE(read_bundle(mine_->folder() + "/" + mine_->list().at(0).file, mine_.get(), "b1", false).ok());
}

TEST_F(BundleTest, ServesBeforeTheStore) {
  std::shared_ptr<DiskCache> below = std::move(theirs_);
  BundleStore store(below);
  store.add(read_bundle(path_, mine_.get(), "b1", false).value());
  ASSERT_TRUE(store.load(bytes_of("r1")));
  EXPECT_EQ(*store.load(bytes_of("r1")), bytes_of("code 1"));
  EXPECT_FALSE(store.load(bytes_of("r3")));
  store.store(bytes_of("r3"), bytes_of("code 3"), "");
  EXPECT_TRUE(store.load(bytes_of("r3")));
  EXPECT_TRUE(below->load(bytes_of("r3")));
  EXPECT_FALSE(BundleStore(nullptr).load(bytes_of("r1")));
}

TEST(BuildId, NamesTheBuild) {
  EXPECT_EQ(build_id_of_this_code().size(), 40u);  // of the sources, not of this program
  EXPECT_NE(build_id_of_this_code(), build_id_of_file("/proc/self/exe"));
  EXPECT_EQ(build_id_of_file("/nowhere"), "none");
  EXPECT_NE(code_build("/nowhere"), code_build("/proc/self/exe"));
  // Where there is no compiler, that of any will do; the caller must be the same.
  const std::string none = code_build("/nowhere"), made = code_build("/proc/self/exe");
  EXPECT_TRUE(code_build_serves(made, none));
  EXPECT_TRUE(code_build_serves(made, made));
  EXPECT_FALSE(code_build_serves(none, made));
  EXPECT_FALSE(code_build_serves("0" + made, none));
  EXPECT_FALSE(code_build_serves(made + " more", none));
  EXPECT_FALSE(code_build_serves("", none));
  EXPECT_FALSE(code_build_serves(build_id_of_this_code() + " ", none));
  EXPECT_FALSE(code_build_serves("b1", "b2"));
}

TEST(BuildId, FilesWithoutOneAreToldApartByTheirChange) {
  TestFolder t;
  const std::string path = t.path() + "/script";
  write_text(path, "one");
  const std::string one = build_id_of_file(path);
  write_text(path, "other");
  EXPECT_NE(build_id_of_file(path), one);
}

TEST(BuildId, BrokenProgramsDoNoHarm) {
  TestFolder t;
  const std::string good = read_text("/proc/self/exe").substr(0, 4096), path = t.path() + "/program";
  std::mt19937 rng(5);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good.substr(0, 64 + rng() % 2000);
    for (int n = 0; n < 4; ++n) bad[rng() % std::min<size_t>(bad.size(), 700)] = static_cast<char>(rng());
    write_text(path, bad);
    EXPECT_FALSE(build_id_of_file(path).empty());
  }
}

}  // namespace
}  // namespace msvm::jit
