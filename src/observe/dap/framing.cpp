#include "observe/dap/framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "msvm/base/trim.h"

namespace msvm::observe::dap {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == (y >= 'A' && y <= 'Z' ? y + 32 : y); });
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c < 127 ? c : '?';
  return text.size() > 40 ? out + "..." : out;
}

Result<size_t> length_of(std::string_view header) {
  std::optional<size_t> length;
  for (size_t at = 0; at < header.size();) {
    const size_t end = std::min(header.find("\r\n", at), header.size());
    const std::string_view line = header.substr(at, end - at);
    at = end + 2;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return malformed(fmt::format("a header line without a colon: expected Content-Length: N, found \"{}\"", shown(line)));
    if (!same_name(trimmed(line.substr(0, colon), " \t"), "Content-Length")) continue;  // Content-Type, say
    const std::string_view digits = trimmed(line.substr(colon + 1), " \t");
    size_t n = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error == std::errc::invalid_argument || stop != digits.data() + digits.size()) return malformed(fmt::format("Content-Length: expected a number of bytes, found \"{}\"", shown(digits)));
    if (error != std::errc() || n > kMaxMessage) return resource_limit(fmt::format("Content-Length: expected {} at most, found {}", kMaxMessage, shown(digits)));
    if (length && *length != n) return malformed("Content-Length: two that differ");
    length = n;
  }
  if (!length) return malformed("a header without Content-Length");
  return *length;
}

}  // namespace

std::string framed(std::string_view message) { return fmt::format("Content-Length: {}\r\n\r\n{}", message.size(), message); }

Result<std::optional<std::string>> FrameReader::next() {
  MSVM_RETURN_IF_ERROR(failed_);
  if (!length_) {
    const size_t from = std::max(at_, searched_ < 3 ? 0 : searched_ - 3), end = buffer_.find("\r\n\r\n", from);
    searched_ = buffer_.size();
    const size_t seen = (end == std::string::npos ? buffer_.size() : end) - at_;
    if (seen > kMaxHeader) return failed_ = resource_limit(fmt::format("a header of more than {} bytes: expected Content-Length: N and an empty line", kMaxHeader));
    if (end == std::string::npos) return std::optional<std::string>();
    const auto length = length_of(std::string_view(buffer_).substr(at_, end - at_));
    if (!length.ok()) return failed_ = length.status();
    length_ = *length;
    at_ = end + 4;
  }
  if (buffer_.size() - at_ < *length_) return std::optional<std::string>();
  std::optional<std::string> message = buffer_.substr(at_, *length_);
  at_ += *length_;
  length_.reset();
  searched_ = at_;
  if (at_ == buffer_.size() || at_ > (1 << 20)) {  // what was given is let go, seldom enough that it costs nothing
    buffer_.erase(0, at_);
    at_ = searched_ = 0;
  }
  return message;
}

}  // namespace msvm::observe::dap
