// Images on disk, from process to process of one user. docs/code_cache.md has the rules and what they are good for.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/compile/code_store.h"
#include "msvm/jit/disk/fd.h"
#include "msvm/jit/disk/sealed.h"

namespace msvm::jit {

struct DiskCacheOptions {
  std::string folder;                        // absolute; empty: code_folder()
  std::string build;                         // code_build(): part of every key
  uint64_t max_bytes = uint64_t{256} << 20;  // of all entries
  bool create = true;                        // make the folder if it isn't there
};

/// Safe to use from several threads, processes and in children of forks; takes no lock. After open() nothing fails: what can't be
/// read is missing, what can't be written isn't kept, what isn't this user's own work is removed.
class DiskCache final : public CodeStore {
 public:
  /// The Status says why there is no cache; kNotFound without `create`.
  static Result<std::unique_ptr<DiskCache>> open(DiskCacheOptions options);

  Image load(std::span<const std::byte> request) override;
  void store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) override;

  struct EntryInfo {
    std::string file;
    std::string label;
    uint64_t bytes = 0;      // on disk
    int64_t used_ns = 0;     // when last, since 1970
    bool same_build = true;  // else it waits for its build or for the LRU
  };
  /// Latest used first. Removes what isn't an entry of this user's.
  std::vector<EntryInfo> list();
  uint64_t size() const;
  /// Removes all entries; the key stays. How many there were.
  size_t clear();

  struct Counters {
    uint64_t hits = 0, misses = 0, rejected = 0, written = 0, not_written = 0, evicted = 0;
  };
  Counters counters() const;
  const std::string& folder() const { return options_.folder; }
  const std::string& build() const { return options_.build; }
  const CodeKey& key() const { return *key_; }

 private:
  DiskCache(DiskCacheOptions options, Fd folder, std::unique_ptr<CodeKey> key)
      : options_(std::move(options)), folder_(std::move(folder)), key_(std::move(key)) {}
  struct File {
    std::string name;
    uint64_t bytes;
    int64_t used_ns;
  };
  std::vector<File> files() const;
  std::vector<std::byte> full_key(std::span<const std::byte> request) const;
  void reject(const std::string& name);
  void make_room();

  const DiskCacheOptions options_;
  const Fd folder_;
  const std::unique_ptr<CodeKey> key_;
  std::atomic<int64_t> bytes_{-1};  // about what the folder holds; -1: not counted yet
  std::atomic<uint64_t> hits_{0}, misses_{0}, rejected_{0}, written_{0}, not_written_{0}, evicted_{0};
};

}  // namespace msvm::jit
