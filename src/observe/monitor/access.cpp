#include "observe/monitor/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <chrono>
#include <cstdlib>

namespace msvm::observe {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
constexpr int64_t kTicketNs = 60'000'000'000;

}  // namespace

std::string random_secret() {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof bytes) != 1) std::abort();  // no randomness, no secrets: the kernel always has some
  std::string out;
  for (unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

Access::Access(std::string_view admin_token, std::string_view read_token)
    : salt_(random_secret()), admin_cookie_(random_secret()), read_cookie_(random_secret()), has_admin_(!admin_token.empty()), has_read_(!read_token.empty()),
      admin_(digest(admin_token)), read_(digest(read_token)), admin_cookie_digest_(digest(admin_cookie_)), read_cookie_digest_(digest(read_cookie_)) {}

Access::Digest Access::digest(std::string_view secret) const {
  std::string text = salt_;
  text += secret;
  Digest out{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data());
  OPENSSL_cleanse(text.data(), text.size());
  return out;
}

Role Access::of_token(std::string_view token) const {
  const Digest d = digest(token);
  const bool admin = (CRYPTO_memcmp(d.data(), admin_.data(), d.size()) == 0) & has_admin_;
  const bool read = (CRYPTO_memcmp(d.data(), read_.data(), d.size()) == 0) & has_read_;
  return admin ? Role::kAdmin : read ? Role::kRead : Role::kNone;
}

Role Access::of_cookie(std::string_view cookie) const {
  const Digest d = digest(cookie);
  const bool admin = CRYPTO_memcmp(d.data(), admin_cookie_digest_.data(), d.size()) == 0;
  const bool read = CRYPTO_memcmp(d.data(), read_cookie_digest_.data(), d.size()) == 0;
  return admin ? Role::kAdmin : read ? Role::kRead : Role::kNone;
}

std::string Access::ticket() {
  std::string secret = random_secret();
  std::lock_guard lock(mutex_);
  ticket_ = digest(secret);
  ticket_until_ = now_ns() + kTicketNs;
  return secret;
}

Role Access::take_ticket(std::string_view ticket) {
  const Digest d = digest(ticket);
  std::lock_guard lock(mutex_);
  if (now_ns() >= ticket_until_ || CRYPTO_memcmp(d.data(), ticket_.data(), d.size()) != 0) return Role::kNone;
  ticket_until_ = 0;
  return has_admin_ || !has_read_ ? Role::kAdmin : Role::kRead;
}

}  // namespace msvm::observe
