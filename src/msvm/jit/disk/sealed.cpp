#include "msvm/jit/disk/sealed.h"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "msvm/jit/disk/private_file.h"

namespace msvm::jit {
namespace {

constexpr const char* kFile = "msvm-code.key";  // nobody else's file has this name

const unsigned char* raw(std::span<const std::byte> bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

bool random_bytes(std::span<unsigned char> out) {
  while (!out.empty()) {
    ssize_t n = ::getrandom(out.data(), out.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out = out.subspan(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<CodeKey>> CodeKey::open(int folder, bool create) {
  if (::sodium_init() < 0) return internal_error("libsodium doesn't start");
  std::unique_ptr<CodeKey> key(new CodeKey);
  // Twice round where another process makes or replaces the key at the same time.
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::vector<std::byte> bytes;
    const ReadOutcome read = read_private(folder, kFile, key->key_.size(), false, bytes);
    if (read == ReadOutcome::kRead && bytes.size() == key->key_.size()) {
      std::memcpy(key->key_.data(), bytes.data(), bytes.size());
      ::sodium_memzero(bytes.data(), bytes.size());
      return key;
    }
    if (!create && read == ReadOutcome::kMissing) return Status(StatusCode::kNotFound, "the folder has no key, so no code of this program");
    if (read != ReadOutcome::kMissing) ::unlinkat(folder, kFile, 0);
    std::array<unsigned char, 32> fresh{};
    if (!random_bytes(fresh)) return Status(StatusCode::kIo, "the system gives no random numbers");
    write_private(folder, kFile, std::as_bytes(std::span(fresh)), Replace::kOnlyNew);
    ::sodium_memzero(fresh.data(), fresh.size());
  }
  return Status(StatusCode::kIo, "the key of the code cache can't be written: is the disk full, or the folder read-only?");
}

CodeKey::~CodeKey() { ::sodium_memzero(key_.data(), key_.size()); }

CodeKey::Mac CodeKey::mac(std::span<const std::byte> bytes) const {
  Mac mac{};
  ::crypto_generichash(mac.data(), mac.size(), raw(bytes), bytes.size(), key_.data(), key_.size());
  return mac;
}

void CodeKey::seal(std::vector<std::byte>& bytes) const {
  const Mac m = mac(bytes);
  auto b = std::as_bytes(std::span(m));
  bytes.insert(bytes.end(), b.begin(), b.end());
}

std::optional<std::span<const std::byte>> CodeKey::unseal(std::span<const std::byte> bytes) const {
  if (bytes.size() < kMacBytes) return {};
  const auto body = bytes.first(bytes.size() - kMacBytes);
  const Mac m = mac(body);
  if (::sodium_memcmp(m.data(), raw(bytes.last(kMacBytes)), kMacBytes) != 0) return {};
  return body;
}

std::string name_of(std::span<const std::byte> bytes) {
  std::array<unsigned char, 16> hash{};
  ::crypto_generichash(hash.data(), hash.size(), raw(bytes), bytes.size(), nullptr, 0);
  std::string name;
  for (unsigned char c : hash) name += fmt::format("{:02x}", c);
  return name;
}

}  // namespace msvm::jit
