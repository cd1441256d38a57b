#include "msvm/jit/disk/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "msvm/base/bytes.h"
#include "msvm/jit/disk/private_file.h"
#include "msvm/jit/disk/private_folder.h"

namespace msvm::jit {
namespace {

constexpr uint64_t kMagic = 0x45444f434d56534d;  // "MSVMCODE"
constexpr uint32_t kVersion = 1;
constexpr std::string_view kSuffix = ".code";
constexpr size_t kMaxLabel = 4096;
constexpr size_t kMaxBuild = 4096;
constexpr size_t kMaxEntry = kMaxRequestBytes + kMaxImageBytes + kMaxLabel + kMaxBuild + 256;
constexpr int64_t kAbandoned = 3600;  // s after which a temporary file's writer is taken for dead

struct Entry {
  std::span<const std::byte> key, image;
  std::string_view label;
};

std::span<const std::byte> bytes_of(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }

std::vector<std::byte> encode(const Entry& e) {
  ByteWriter w;
  w.u64(kMagic);
  w.u32(kVersion);
  for (auto part : {e.key, bytes_of(e.label), e.image}) {
    w.varint(part.size());
    w.bytes(part);
  }
  return w.take();
}

/// Of bytes whose MAC was right: what doesn't fit is of another version.
std::optional<Entry> decode(std::span<const std::byte> bytes) {
  ByteReader r(bytes);
  if (r.u64() != kMagic || r.u32() != kVersion) return {};
  Entry e;
  e.key = r.bytes(r.count(kMaxEntry, "key byte"));
  e.label = r.string(kMaxLabel);
  e.image = r.bytes(r.count(kMaxImageBytes, "image byte"));
  r.expect_end();
  if (!r.ok() || e.image.empty()) return {};
  return e;
}

/// "<32 hex digits>.code": whatever else lies in the folder is somebody else's.
bool is_entry_name(std::string_view name) {
  return name.size() == 32 + kSuffix.size() && name.ends_with(kSuffix) && name.find_first_not_of("0123456789abcdef") == 32;
}

}  // namespace

Result<std::unique_ptr<DiskCache>> DiskCache::open(DiskCacheOptions options) {
  if (options.folder.empty()) { MSVM_ASSIGN_OR_RETURN(options.folder, code_folder()); }
  if (options.build.size() > kMaxBuild) return invalid_argument("the build id is too long");
  MSVM_ASSIGN_OR_RETURN(Fd folder, open_private_folder(options.folder, options.create));
  MSVM_ASSIGN_OR_RETURN(std::unique_ptr<CodeKey> key, CodeKey::open(folder.get(), options.create));
  return std::unique_ptr<DiskCache>(new DiskCache(std::move(options), std::move(folder), std::move(key)));
}

std::vector<std::byte> DiskCache::full_key(std::span<const std::byte> request) const {
  ByteWriter w;
  w.string(options_.build);
  w.bytes(request);
  return w.take();
}

void DiskCache::reject(const std::string& name) {
  ++rejected_;
  ::unlinkat(folder_.get(), name.c_str(), 0);
}

Image DiskCache::load(std::span<const std::byte> request) {
  const auto key = full_key(request);
  const std::string name = name_of(key) + std::string(kSuffix);
  std::vector<std::byte> bytes;
  const ReadOutcome read = read_private(folder_.get(), name, kMaxEntry, true, bytes);
  if (read == ReadOutcome::kRead) {
    const auto body = key_->unseal(bytes);
    const auto entry = body ? decode(*body) : std::nullopt;
    // Names are hashes: another key may have the same one.
    if (entry && std::ranges::equal(entry->key, key)) {
      ++hits_;
      return std::make_shared<const std::vector<std::byte>>(entry->image.begin(), entry->image.end());
    }
    if (!entry) reject(name);
  } else if (read == ReadOutcome::kForeign) {
    reject(name);
  }
  ++misses_;
  return nullptr;
}

void DiskCache::store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) {
  if (request.size() > kMaxRequestBytes || image.empty() || image.size() > kMaxImageBytes) return;
  const auto key = full_key(request);
  auto bytes = encode({key, image, label.substr(0, kMaxLabel)});
  key_->seal(bytes);
  if (bytes.size() > options_.max_bytes ||
      !write_private(folder_.get(), name_of(key) + std::string(kSuffix), bytes, Replace::kYes)) {
    ++not_written_;
    return;
  }
  ++written_;
  if (bytes_ < 0) bytes_ = static_cast<int64_t>(size());
  if ((bytes_ += static_cast<int64_t>(bytes.size())) > static_cast<int64_t>(options_.max_bytes)) make_room();
}

/// Counted anew, because other processes write, too.
void DiskCache::make_room() {
  auto all = files();
  std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used_ns < b.used_ns; });
  uint64_t held = 0;
  for (const File& f : all) held += f.bytes;
  // A little more than needed, so that not every entry after this one counts again.
  const uint64_t target = held > options_.max_bytes ? options_.max_bytes / 10 * 9 : held;
  for (size_t i = 0; i + 1 < all.size() && held > target; ++i) {
    if (::unlinkat(folder_.get(), all[i].name.c_str(), 0) == 0) ++evicted_;
    held -= all[i].bytes;
  }
  bytes_ = static_cast<int64_t>(held);
}

std::vector<DiskCache::File> DiskCache::files() const {
  std::vector<File> all;
  Fd own(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // a place in the list of its own
  DIR* folder = own.ok() ? ::fdopendir(own.get()) : nullptr;
  if (folder == nullptr) return all;
  const int fd = own.release();
  while (const dirent* e = ::readdir(folder)) {
    const std::string name = e->d_name;
    struct stat info{};
    if (::fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (is_entry_name(name)) {
      all.push_back({name, static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec});
    } else if (name.starts_with(kTemporaryPrefix) && info.st_mtim.tv_sec < ::time(nullptr) - kAbandoned) {
      ::unlinkat(fd, name.c_str(), 0);
    }
  }
  ::closedir(folder);
  return all;
}

std::vector<DiskCache::EntryInfo> DiskCache::list() {
  std::vector<EntryInfo> infos;
  for (const File& f : files()) {
    std::vector<std::byte> bytes;
    const ReadOutcome read = read_private(folder_.get(), f.name, kMaxEntry, false, bytes);
    if (read == ReadOutcome::kMissing) continue;
    const auto body = read == ReadOutcome::kRead ? key_->unseal(bytes) : std::nullopt;
    const auto entry = body ? decode(*body) : std::nullopt;
    if (!entry) {
      reject(f.name);
      continue;
    }
    ByteReader key(entry->key);
    infos.push_back({f.name, std::string(entry->label), f.bytes, f.used_ns, key.string(kMaxBuild) == options_.build});
  }
  std::sort(infos.begin(), infos.end(), [](const EntryInfo& a, const EntryInfo& b) { return a.used_ns > b.used_ns; });
  return infos;
}

uint64_t DiskCache::size() const {
  uint64_t bytes = 0;
  for (const File& f : files()) bytes += f.bytes;
  return bytes;
}

size_t DiskCache::clear() {
  size_t removed = 0;
  for (const File& f : files()) removed += ::unlinkat(folder_.get(), f.name.c_str(), 0) == 0 ? 1 : 0;
  bytes_ = 0;
  return removed;
}

DiskCache::Counters DiskCache::counters() const { return {hits_, misses_, rejected_, written_, not_written_, evicted_}; }

}  // namespace msvm::jit
