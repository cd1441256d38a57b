#include "msvm/jit/disk/bundle.h"

#include <fmt/format.h>

#include "msvm/base/bytes.h"
#include "msvm/base/file.h"
#include "msvm/jit/disk/build_id.h"

namespace msvm::jit {
namespace {

constexpr uint64_t kMagic = 0x4c444e424d56534d;  // "MSVMBNDL"
constexpr uint32_t kVersion = 1;
constexpr size_t kMaxBytes = size_t{1} << 30;
constexpr size_t kMaxEntries = 1u << 16;
constexpr size_t kMaxText = 4096;

}  // namespace

Status write_bundle(const std::string& path, const std::vector<BundleEntry>& entries, const DiskCache& cache) {
  ByteWriter w;
  w.u64(kMagic);
  w.u32(kVersion);
  w.string(cache.build());
  w.varint(entries.size());
  for (const BundleEntry& e : entries) {
    w.varint(e.request.size());
    w.bytes(e.request);
    w.string(std::string_view(e.label).substr(0, kMaxText));
    w.varint(e.image->size());
    w.bytes(*e.image);
  }
  auto bytes = w.take();
  cache.key().seal(bytes);
  if (bytes.size() > kMaxBytes || entries.size() > kMaxEntries) {
    return resource_limit(fmt::format("{}: {} images of {} bytes together, the limits are {} and {}: choose fewer shapes", path,
                                      entries.size(), bytes.size(), kMaxEntries, kMaxBytes));
  }
  return write_file_atomically(path, bytes);
}

Result<std::vector<BundleEntry>> read_bundle(const std::string& path, const DiskCache* cache, std::string_view build,
                                             bool trust_native) {
  MSVM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(path, kMaxBytes));
  std::span<const std::byte> body = bytes;
  const auto signed_body = cache ? cache->key().unseal(bytes) : std::nullopt;
  if (signed_body) {
    body = *signed_body;
  } else if (trust_native && bytes.size() >= kMacBytes) {
    body = body.first(bytes.size() - kMacBytes);
  } else {
    return Status(StatusCode::kVerification,
                  fmt::format("{}: native code must be signed by this user's key, and isn't: compile the module here, or use trust_native=True "
                              "(--trust-native) if you trust where the file comes from",
                              path));
  }
  ByteReader r(body);
  if (r.u64() != kMagic || r.u32() != kVersion) r.fail(fmt::format("expected a bundle of version {}", kVersion));
  const std::string_view made_for = r.string(kMaxText);
  if (r.ok() && !code_build_serves(made_for, build)) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: compiled by another build of MSVM or its compiler: compile it again", path));
  }
  std::vector<BundleEntry> entries;
  for (size_t n = r.count(kMaxEntries, "image", 3); n > 0 && r.ok(); --n) {
    BundleEntry e;
    auto request = r.bytes(r.count(kMaxRequestBytes, "request byte"));
    e.request.assign(request.begin(), request.end());
    e.label = r.string(kMaxText);
    auto image = r.bytes(r.count(kMaxImageBytes, "image byte"));
    if (image.empty()) r.fail("an image is empty");
    e.image = std::make_shared<const std::vector<std::byte>>(image.begin(), image.end());
    entries.push_back(std::move(e));
  }
  r.expect_end();
  if (!r.ok()) return r.status().with_context(path + ": ");
  return entries;
}

}  // namespace msvm::jit
