#include "msvm/base/bytes.h"

#include <fmt/format.h>

namespace msvm {

void ByteReader::fail(std::string_view why) {
  if (!ok()) return;
  error_ = fmt::format("{} (at byte {} of {})", why, position_, data_.size());
  position_ = data_.size();
}

uint64_t ByteReader::varint() {
  uint64_t value = 0;
  size_t at = position_;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == data_.size()) {
      fail("truncated");
      return 0;
    }
    uint8_t byte = std::to_integer<uint8_t>(data_[at++]);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if (byte == 0 && shift > 0) {
      fail("integer is longer than it needs to be");
      return 0;
    }
    position_ = at;
    return value;
  }
  fail("integer is longer than 64 bits");
  return 0;
}

uint64_t ByteReader::index(uint64_t end, std::string_view what) {
  uint64_t v = varint();
  if (!ok()) return 0;
  if (v >= end) {
    fail(fmt::format("{} {} is out of range, {} exist", what, v, end));
    return 0;
  }
  return v;
}

size_t ByteReader::count(uint64_t limit, std::string_view what, size_t min_bytes) {
  uint64_t v = varint();
  if (!ok()) return 0;
  if (v > limit) {
    fail(fmt::format("{} {} exceed the limit of {}", v, what, limit));
    return 0;
  }
  if (v > remaining() / min_bytes) {
    fail(fmt::format("{} {} can't fit into what follows", v, what));
    return 0;
  }
  return static_cast<size_t>(v);
}

std::span<const std::byte> ByteReader::bytes(size_t n) {
  if (n > remaining()) {
    fail("truncated");
    return {};
  }
  auto out = data_.subspan(position_, n);
  position_ += n;
  return out;
}

std::string_view ByteReader::string(size_t limit) {
  auto b = bytes(count(limit, "bytes of text"));
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

ByteReader ByteReader::section(uint64_t offset, uint64_t size, std::string_view what) {
  if (!ok()) return {};
  if (offset > data_.size() || size > data_.size() - offset) {
    fail(fmt::format("{} lies outside the file (offset {}, size {})", what, offset, size));
    return {};
  }
  return ByteReader(data_.subspan(offset, size));
}

}  // namespace msvm
