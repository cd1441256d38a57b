// Who may do what: tokens, and the cookies that stand for them in browsers.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "observe/monitor/request.h"

namespace msvm::observe {

/// Keeps digests of the tokens, not the tokens. Comparisons take the same time whatever is wrong. Thread-safe.
class Access {
 public:
  /// Empty: there is no such token. Without both, every caller is an administrator.
  Access(std::string_view admin_token, std::string_view read_token);
  bool open() const { return !has_admin_ && !has_read_; }

  Role of_token(std::string_view token) const;
  /// Cookies are secrets of this monitor's life, not the tokens.
  Role of_cookie(std::string_view cookie) const;
  const std::string& cookie(Role role) const { return role == Role::kAdmin ? admin_cookie_ : read_cookie_; }

  /// An administrator's token that serves once, within a minute: for a browser that this process opens, as others see its arguments.
  std::string ticket();
  Role take_ticket(std::string_view ticket);

 private:
  using Digest = std::array<unsigned char, 32>;
  Digest digest(std::string_view secret) const;

  std::string salt_, admin_cookie_, read_cookie_;
  bool has_admin_, has_read_;
  Digest admin_, read_, admin_cookie_digest_, read_cookie_digest_;
  std::mutex mutex_;
  Digest ticket_{};
  int64_t ticket_until_ = 0;  // ns of the steady clock; 0: there is none
};

/// 64 hexadecimal digits that nobody can guess.
std::string random_secret();

}  // namespace msvm::observe
