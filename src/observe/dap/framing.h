// Messages as the protocol frames them: a header with Content-Length, then so many bytes.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "msvm/base/status.h"

namespace msvm::observe::dap {

inline constexpr size_t kMaxMessage = 16 << 20, kMaxHeader = 8 << 10;

/// "Content-Length: N\r\n\r\n" and the message.
std::string framed(std::string_view message);

/// Bytes in, messages out, however the bytes were cut.
class FrameReader {
 public:
  void push(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole message; nothing while it isn't there yet. An error is final: where the next message begins can't be known.
  Result<std::optional<std::string>> next();
  /// Whether a message has begun that isn't whole.
  bool within() const { return at_ < buffer_.size(); }

 private:
  std::string buffer_;
  size_t at_ = 0;                  // of the next message's header, or body once `length_` is known
  size_t searched_ = 0;            // of that header, without its end
  std::optional<size_t> length_;
  Status failed_;
};

}  // namespace msvm::observe::dap
