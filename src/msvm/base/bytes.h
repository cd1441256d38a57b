// Reading and writing little-endian bytes. Sizes that come from a file are never added, only compared with what remains.
#pragma once
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

static_assert(std::endian::native == std::endian::little, "the byte reader copies little-endian values as they are");

/// Reads a borrowed span from front to back. The first failure sticks: from then on nothing remains, every read gives 0 or
/// an empty view, so loops over counts end by themselves, and `status()` names the first thing that went wrong.
/// Views that it returns point into the span.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::byte> data) : data_(data) {}

  bool ok() const { return error_.empty(); }
  size_t offset() const { return position_; }                  // of the next byte, within the span
  size_t remaining() const { return data_.size() - position_; }
  bool at_end() const { return remaining() == 0; }
  /// OK, or kMalformedFile with the first error and its offset.
  Status status() const { return ok() ? Status() : malformed(error_); }
  /// Fails with a reason of the caller's ("unknown opcode 77"). Only the first reason is kept.
  void fail(std::string_view why);
  /// Fails if bytes are left over.
  void expect_end() {
    if (!at_end()) fail("unexpected bytes at the end");
  }

  uint8_t u8() { return fixed<uint8_t>(); }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  int32_t i32() { return fixed<int32_t>(); }
  int64_t i64() { return fixed<int64_t>(); }
  float f32() { return fixed<float>(); }
  double f64() { return fixed<double>(); }

  /// LEB128, at most 64 bits. Only the shortest spelling is accepted, so that a value has one encoding.
  uint64_t varint();
  /// Zigzag: small magnitudes of both signs are short.
  int64_t svarint() {
    uint64_t v = varint();
    return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1));
  }
  /// A varint that must be < `end`: indices and enums. `what` names it in the error.
  uint64_t index(uint64_t end, std::string_view what);
  /// A varint count of items of at least `min_bytes` (>= 1) each: at most `limit`, and no more than can follow.
  size_t count(uint64_t limit, std::string_view what, size_t min_bytes = 1);

  std::span<const std::byte> bytes(size_t n);
  /// A varint length, at most `limit`, and that many bytes.
  std::string_view string(size_t limit);
  void skip(size_t n) { bytes(n); }
  /// A reader of [offset, offset + size) of the whole span, wherever this reader stands; fails here if that isn't inside.
  ByteReader section(uint64_t offset, uint64_t size, std::string_view what);

 private:
  template <class T>
  T fixed() {
    T v{};
    if (remaining() < sizeof(T)) {
      fail("truncated");
      return v;
    }
    std::memcpy(&v, data_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return v;
  }

  std::span<const std::byte> data_;
  size_t position_ = 0;
  std::string error_;
};

/// Appends to a buffer of its own.
class ByteWriter {
 public:
  size_t size() const { return out_.size(); }
  std::span<const std::byte> data() const { return out_; }
  std::vector<std::byte> take() { return std::move(out_); }

  void u8(uint8_t v) { out_.push_back(std::byte{v}); }
  void u16(uint16_t v) { fixed(v); }
  void u32(uint32_t v) { fixed(v); }
  void u64(uint64_t v) { fixed(v); }
  void i32(int32_t v) { fixed(v); }
  void i64(int64_t v) { fixed(v); }
  void f32(float v) { fixed(v); }
  void f64(double v) { fixed(v); }
  void varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) u8(static_cast<uint8_t>(v) | 0x80);
    u8(static_cast<uint8_t>(v));
  }
  void svarint(int64_t v) { varint((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63)); }
  void bytes(std::span<const std::byte> b) { out_.insert(out_.end(), b.begin(), b.end()); }
  void string(std::string_view s) {
    varint(s.size());
    bytes(std::as_bytes(std::span(s.data(), s.size())));
  }
  /// Zero bytes up to the next multiple of `alignment`, counted from the start of this buffer.
  void align(size_t alignment) {
    while (out_.size() % alignment != 0) u8(0);
  }
  /// Overwrites what was written at `offset` before (sizes and offsets known only later).
  void patch_u32(size_t offset, uint32_t v) { patch(offset, v); }
  void patch_u64(size_t offset, uint64_t v) { patch(offset, v); }

 private:
  template <class T>
  void fixed(T v) {
    size_t at = out_.size();
    out_.resize(at + sizeof(T));
    std::memcpy(out_.data() + at, &v, sizeof(T));
  }
  template <class T>
  void patch(size_t offset, T v) {
    assert(offset <= out_.size() && sizeof(T) <= out_.size() - offset);
    std::memcpy(out_.data() + offset, &v, sizeof(T));
  }

  std::vector<std::byte> out_;
};

}  // namespace msvm
