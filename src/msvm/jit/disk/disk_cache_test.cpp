#include "msvm/jit/disk/disk_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <random>

#include "msvm/jit/compile/compile_queue.h"
#include "msvm/jit/disk/test_folder.h"

namespace msvm::jit {
namespace {

std::span<const std::byte> bytes_of(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }
std::string text_of(const Image& image) {
  return image ? std::string(reinterpret_cast<const char*>(image->data()), image->size()) : "(none)";
}

std::unique_ptr<DiskCache> open(const std::string& folder, DiskCacheOptions o = {}) {
  o.folder = folder;
  auto cache = DiskCache::open(o);
  EXPECT_TRUE(cache.ok()) << cache.status().message();
  return cache.ok() ? std::move(*cache) : nullptr;
}

class DiskCacheTest : public testing::Test {
 protected:
  void store(std::string_view key, std::string_view image, std::string_view label = "label") {
    cache_->store(bytes_of(key), bytes_of(image), label);
  }
  std::string load(std::string_view key) { return text_of(cache_->load(bytes_of(key))); }
  std::string only_file() {
    auto list = cache_->list();
    EXPECT_EQ(list.size(), 1u);
    return list.empty() ? "" : folder_ + "/" + list[0].file;
  }
  /// Entries and leftovers, without the key.
  size_t files() { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {})) - 1; }

  TestFolder test_;
  std::string folder_ = test_.path() + "/code";
  std::unique_ptr<DiskCache> cache_ = open(folder_);
};

TEST_F(DiskCacheTest, KeepsImagesFromProcessToProcess) {
  EXPECT_EQ(load("key"), "(none)");
  store("key", "image", "jit_1920x1080");
  EXPECT_EQ(load("key"), "image");
  EXPECT_EQ(text_of(open(folder_)->load(bytes_of("key"))), "image");
  EXPECT_EQ(load("other"), "(none)");
  store("key", "newer image");
  EXPECT_EQ(load("key"), "newer image");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(cache_->counters().hits, 2u);
  EXPECT_EQ(cache_->counters().misses, 2u);
  EXPECT_EQ(cache_->counters().written, 2u);
}

TEST_F(DiskCacheTest, FilesAreForThisUserOnly) {
  const mode_t before = ::umask(0);
  store("key", "image");
  cache_ = open(test_.path() + "/code");
  ::umask(before);
  EXPECT_EQ(files(), 1u);
  for (const auto& e : std::filesystem::directory_iterator(folder_)) {
    struct stat info{};
    ASSERT_EQ(::stat(e.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u) << e.path();
  }
}

TEST_F(DiskCacheTest, AnotherBuildsCodeIsOtherCode) {
  store("key", "image", "signature");
  auto other = open(folder_, {.build = "1234"});
  EXPECT_EQ(other->load(bytes_of("key")), nullptr);
  other->store(bytes_of("key"), bytes_of("image of 1234"), "signature");
  EXPECT_EQ(load("key"), "image");
  EXPECT_EQ(text_of(other->load(bytes_of("key"))), "image of 1234");
  auto list = cache_->list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_NE(list[0].same_build, list[1].same_build);
  EXPECT_EQ(list[0].label, "signature");
}

TEST_F(DiskCacheTest, NoAlteredByteIsLoaded) {
  store("a key", "an image that is a little longer");
  const std::string file = only_file(), good = read_text(file);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write_text(file, bad);
    EXPECT_EQ(load("a key"), "(none)") << i;
    EXPECT_FALSE(std::filesystem::exists(file)) << "removed";
  }
  write_text(file, good);
  EXPECT_EQ(load("a key"), "an image that is a little longer");
}

TEST_F(DiskCacheTest, NoTruncatedOrLongerEntryIsLoaded) {
  store("a key", "an image");
  const std::string file = only_file(), good = read_text(file);
  for (size_t size = 0; size < good.size(); ++size) {
    write_text(file, good.substr(0, size));
    EXPECT_EQ(load("a key"), "(none)") << size;
    EXPECT_FALSE(std::filesystem::exists(file));
  }
  write_text(file, good + "x");
  EXPECT_EQ(load("a key"), "(none)");
  EXPECT_EQ(cache_->counters().rejected, good.size() + 1);
}

TEST_F(DiskCacheTest, EntriesSealedWithAnotherKeyAreRemoved) {
  auto other = open(test_.path() + "/other");
  other->store(bytes_of("key"), bytes_of("planted"), "");
  const std::string name = other->list().at(0).file;
  write_text(folder_ + "/" + name, read_text(test_.path() + "/other/" + name));
  EXPECT_EQ(load("key"), "(none)");
  EXPECT_EQ(files(), 0u);
  write_text(folder_ + "/" + name, "anything");
  EXPECT_TRUE(cache_->list().empty());
  EXPECT_EQ(files(), 0u) << "listing removes, too";
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherNameIsNotItsKeys) {
  store("key", "image of key");
  const std::string first = only_file();
  store("other", "image of other");
  for (const auto& e : cache_->list()) {
    if (folder_ + "/" + e.file != first) write_text(folder_ + "/" + e.file, read_text(first));
  }
  EXPECT_EQ(load("other"), "(none)") << "keys are compared in full";
  EXPECT_EQ(load("key"), "image of key");
}

TEST_F(DiskCacheTest, WhatThisProgramWouldNotHaveWrittenIsRemoved) {
  store("key", "image");
  const std::string file = only_file(), good = read_text(file);
  ::chmod(file.c_str(), 0644);
  EXPECT_EQ(load("key"), "(none)") << "readable by others";
  EXPECT_EQ(files(), 0u);

  write_text(test_.path() + "/outside", good);
  std::filesystem::create_symlink(test_.path() + "/outside", file);
  EXPECT_EQ(load("key"), "(none)") << "a link";
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(read_text(test_.path() + "/outside"), good);

  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(load("key"), "(none)") << "a pipe";
  EXPECT_EQ(files(), 0u);

  std::filesystem::create_directory(file);
  EXPECT_EQ(load("key"), "(none)") << "a folder stays, and nothing can be stored in its place";
  store("key", "image");
  EXPECT_EQ(load("key"), "(none)");
  EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, EntriesOfOthersAreRemoved) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  store("key", "image");
  ASSERT_EQ(::chown(only_file().c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(load("key"), "(none)");
  EXPECT_EQ(files(), 0u);
}

TEST_F(DiskCacheTest, AKeyThatOthersMayKnowIsReplaced) {
  const std::string key = folder_ + "/msvm-code.key";
  auto replaced = [&](const char* what) {
    SCOPED_TRACE(what);
    const std::string before = read_text(key);
    cache_ = open(folder_);
    EXPECT_NE(read_text(key), before);
    EXPECT_EQ(read_text(key).size(), 32u);
    EXPECT_EQ(load("key"), "(none)") << "what it sealed counts no more";
    store("key", "image");
    EXPECT_EQ(load("key"), "image");
    cache_ = open(folder_);
    EXPECT_EQ(load("key"), "image");
  };
  store("key", "image");
  ::chmod(key.c_str(), 0640);
  replaced("mode");
  write_text(key, "short");
  replaced("size");
  write_text(key, std::string(33, 'k'));
  replaced("longer");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(key.c_str(), kNobody, kNobody), 0);
    replaced("owner");
  }
  write_text(test_.path() + "/mine", std::string(32, 'k'));
  std::filesystem::remove(key);
  std::filesystem::create_symlink(test_.path() + "/mine", key);
  replaced("link");
}

TEST_F(DiskCacheTest, KeysAreRandom) {
  EXPECT_NE(read_text(folder_ + "/msvm-code.key"), (open(test_.path() + "/other"), read_text(test_.path() + "/other/msvm-code.key")));
}

TEST_F(DiskCacheTest, ManyProcessesAtOnceGetOneKeyAndWholeEntries) {
  const std::string folder = test_.path() + "/together";
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      auto opened = DiskCache::open({.folder = folder});
      if (!opened.ok()) ::_exit(1);
      std::mt19937 rng(static_cast<unsigned>(c));
      for (int i = 0; i < 300; ++i) {
        const std::string key = std::to_string(rng() % 8);
        const std::string image = key + std::string(20000, key[0]);
        if (rng() % 2 == 0) (*opened)->store(bytes_of(key), bytes_of(image), "");
        const std::string got = text_of((*opened)->load(bytes_of(key)));
        if (got != "(none)" && got != image) ::_exit(2);
      }
      const auto n = (*opened)->counters();
      ::_exit(n.rejected != 0 ? 3 : n.not_written != 0 ? 4 : 0);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open(folder)->list().size(), 8u);
}

TEST_F(DiskCacheTest, WorksInForkedChildren) {
  store("key", "image");
  EXPECT_EQ(in_child([&] {
              if (load("key") != "image") return 1;
              store("child's", "image");
              return load("child's") == "image" ? 0 : 2;
            }),
            0);
  EXPECT_EQ(load("child's"), "image");
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoFirst) {
  cache_ = open(folder_, {.max_bytes = 10000});
  const std::string image(1000, 'x');
  for (char c = 'a'; c < 'i'; ++c) store(std::string(1, c), image);
  EXPECT_EQ(load("a"), image);  // used again
  EXPECT_EQ(cache_->counters().evicted, 0u);
  store("i", image);
  store("j", image);
  EXPECT_GT(cache_->counters().evicted, 0u);
  EXPECT_LE(cache_->size(), 10000u);
  EXPECT_EQ(load("b"), "(none)");
  EXPECT_EQ(load("a"), image);
  EXPECT_EQ(load("j"), image);
  store("large", std::string(20000, 'x'));
  EXPECT_EQ(load("large"), "(none)") << "it alone would be too much";
  EXPECT_EQ(load("a"), image);
  EXPECT_EQ(cache_->list()[0].label, "label");
}

TEST_F(DiskCacheTest, TheBoundHoldsForWhatEarlierProcessesLeft) {
  for (int i = 0; i < 10; ++i) store(std::to_string(i), std::string(1000, 'x'));
  cache_ = open(folder_, {.max_bytes = 5000});
  store("new", std::string(1000, 'x'));
  EXPECT_LE(cache_->size(), 5000u);
  EXPECT_NE(load("new"), "(none)");
}

TEST_F(DiskCacheTest, ClearLeavesTheKey) {
  store("a", "image");
  store("b", "image");
  EXPECT_GT(cache_->size(), 0u);
  EXPECT_EQ(cache_->clear(), 2u);
  EXPECT_EQ(cache_->size(), 0u);
  EXPECT_TRUE(cache_->list().empty());
  store("a", "image");
  EXPECT_EQ(text_of(open(folder_)->load(bytes_of("a"))), "image");
}

TEST_F(DiskCacheTest, UnfinishedFilesOfTheDeadAreSweptUp) {
  const std::string dead = folder_ + "/.new.1.0", alive = folder_ + "/.new.2.0";
  write_text(dead, "half");
  write_text(alive, "half");
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, dead.c_str(), old, 0), 0);
  (void)cache_->size();
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(alive));
}

TEST_F(DiskCacheTest, ALimitOnFileSizesIsNoCache) {
  store("small", "image");
  EXPECT_EQ(in_child([&] {
              const rlimit limit{1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              store("large", std::string(5000, 'x'));
              if (load("large") != "(none)" || cache_->counters().not_written != 1) return 1;
              return load("small") == "image" ? 0 : 2;
            }),
            0);
  EXPECT_EQ(files(), 1u) << "nothing is left behind";
}

TEST_F(DiskCacheTest, AFullDiskOrAReadOnlyOneIsNoCache) {
  const std::string mount = test_.path() + "/small";
  std::filesystem::create_directory(mount);
  if (::mount("none", mount.c_str(), "tmpfs", 0, "size=64k,mode=0755") != 0) GTEST_SKIP() << "can't mount a small disk here";
  {
    folder_ = mount + "/code";
    cache_ = open(folder_);
    ASSERT_TRUE(cache_);
    store("small", "image");
    for (int i = 0; i < 10; ++i) store(std::to_string(i), std::string(20000, 'x'));
    EXPECT_GT(cache_->counters().not_written, 0u);
    EXPECT_EQ(load("small"), "image");
    EXPECT_EQ(files(), cache_->counters().written) << "nothing is left behind";
    EXPECT_EQ(::mount("none", mount.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k"), 0);
    store("more", "image");
    EXPECT_EQ(load("more"), "(none)");
    EXPECT_EQ(load("small"), "image");
    EXPECT_TRUE(DiskCache::open({.folder = folder_}).ok());
    EXPECT_FALSE(DiskCache::open({.folder = mount + "/elsewhere"}).ok());
    cache_.reset();
  }
  EXPECT_EQ(::umount(mount.c_str()), 0);
}

TEST_F(DiskCacheTest, OtherFilesStay) {
  const std::string folder = test_.path() + "/mine";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  const std::vector<std::string> files{"key", "morse.code", "0123.code", "notes.txt"};
  for (const std::string& f : files) write_text(folder + "/" + f, "mine");
  // Looking makes no key where there is none.
  EXPECT_EQ(DiskCache::open({.folder = folder, .build = "b", .create = false}).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder + "/msvm-code.key"));
  auto cache = open(folder);
  cache->store(bytes_of("request"), bytes_of("image"), "label");
  EXPECT_EQ(cache->list().size(), 1u);
  EXPECT_EQ(cache->clear(), 1u);
  for (const std::string& f : files) EXPECT_EQ(read_text(folder + "/" + f), "mine") << f;
}

TEST_F(DiskCacheTest, ServesTheCompileQueue) {
  auto outcome = [&](const std::string& compiler) {
    QueueOptions o;
    o.compiler.path = compiler;
    o.compiler.memory_limit = 0;
    o.compiler.idle_priority = false;
    o.deadline = 30;
    o.store = open(folder_);
    Outcome told = Outcome::kCancelled;
    CompileQueue q(o);
    q.submit(
        {.request = encode_request({"host", "", "ok"}), .label = "sig", .done = [&](const CompileResult& r) { told = r.outcome; }});
    q.drain();
    return told;
  };
  EXPECT_EQ(outcome(MSVM_FAKE_COMPILER), Outcome::kCompiled);
  EXPECT_EQ(outcome("/nowhere"), Outcome::kFromDisk);
  EXPECT_EQ(cache_->list().at(0).label, "sig");
}

TEST(DiskCache, ReasonsWhyThereIsNoneAreTold) {
  EXPECT_EQ(DiskCache::open({.folder = "/tmp/msvm_not_there", .create = false}).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(DiskCache::open({.folder = "relative"}).status().message(), testing::HasSubstr("absolute"));
}

}  // namespace
}  // namespace msvm::jit
