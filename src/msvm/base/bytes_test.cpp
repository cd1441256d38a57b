#include "msvm/base/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace msvm {
namespace {

using testing::HasSubstr;

TEST(Bytes, EveryKindRoundTrips) {
  ByteWriter w;
  w.u8(0xab);
  w.u16(0xbeef);
  w.u32(0xdeadbeef);
  w.u64(0x0123456789abcdef);
  w.i32(-5);
  w.i64(INT64_MIN);
  w.f32(0.1f);
  w.f64(-0.0);
  w.string("Größe");
  w.align(8);
  EXPECT_EQ(w.size() % 8, 0u);
  EXPECT_EQ(std::to_integer<int>(w.data()[1]), 0xef) << "little-endian";

  ByteReader r(w.data());
  EXPECT_EQ(r.u8(), 0xab);
  EXPECT_EQ(r.u16(), 0xbeef);
  EXPECT_EQ(r.u32(), 0xdeadbeefu);
  EXPECT_EQ(r.u64(), 0x0123456789abcdefu);
  EXPECT_EQ(r.i32(), -5);
  EXPECT_EQ(r.i64(), INT64_MIN);
  EXPECT_EQ(r.f32(), 0.1f);
  EXPECT_TRUE(std::signbit(r.f64()));
  EXPECT_EQ(r.string(100), "Größe");
  r.skip(r.remaining());
  r.expect_end();
  EXPECT_TRUE(r.status().ok());
}

TEST(Bytes, VarintsRoundTrip) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values = {0, 1, 127, 128, 16383, 16384, UINT64_MAX, UINT64_MAX - 1, uint64_t{1} << 63};
  for (int i = 0; i < 2000; ++i) values.push_back(random() >> (random() % 64));
  ByteWriter w;
  for (uint64_t v : values) {
    w.varint(v);
    w.svarint(static_cast<int64_t>(v));
    w.svarint(-static_cast<int64_t>(v >> 1));
  }
  ByteReader r(w.data());
  for (uint64_t v : values) {
    ASSERT_EQ(r.varint(), v);
    ASSERT_EQ(r.svarint(), static_cast<int64_t>(v));
    ASSERT_EQ(r.svarint(), -static_cast<int64_t>(v >> 1));
  }
  EXPECT_TRUE(r.ok() && r.at_end());
}

ByteReader reader_of(const std::vector<uint8_t>& bytes) { return ByteReader(std::as_bytes(std::span(bytes))); }

TEST(Bytes, VarintHasOneSpelling) {
  for (const std::vector<uint8_t>& bad : std::vector<std::vector<uint8_t>>{
           {0x80}, {0x80, 0x00}, {0xff, 0x80, 0x00}, {},
           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00}}) {
    ByteReader r = reader_of(bad);
    EXPECT_EQ(r.varint(), 0u);
    EXPECT_FALSE(r.ok());
  }
}

TEST(Bytes, FirstErrorSticksAndNothingRemains) {
  std::vector<uint8_t> bytes = {1, 2, 3};
  ByteReader r = reader_of(bytes);
  EXPECT_EQ(r.u8(), 1);
  EXPECT_EQ(r.u32(), 0u);
  r.fail("later");
  EXPECT_EQ(r.u8(), 0) << "bytes that were left can't be read any more";
  EXPECT_EQ(r.bytes(1).size(), 0u);
  EXPECT_EQ(r.status().code(), StatusCode::kMalformedFile);
  EXPECT_EQ(r.status().message(), "truncated (at byte 1 of 3)");
}

TEST(Bytes, CountsAreHeldAgainstLimitAndRemainder) {
  std::vector<uint8_t> bytes = {4, 0, 0, 0, 0};
  EXPECT_EQ(reader_of(bytes).count(10, "items"), 4u);
  ByteReader limit = reader_of(bytes);
  EXPECT_EQ(limit.count(3, "items"), 0u);
  EXPECT_THAT(limit.status().message(), HasSubstr("4 items exceed the limit of 3"));
  ByteReader wide = reader_of(bytes);
  EXPECT_EQ(wide.count(10, "items", 2), 0u);
  EXPECT_FALSE(wide.ok());
  ByteReader index = reader_of(bytes);
  EXPECT_EQ(index.index(4, "type"), 0u);
  EXPECT_THAT(index.status().message(), HasSubstr("type 4 is out of range"));
}

TEST(Bytes, SectionsStayInside) {
  std::vector<uint8_t> bytes = {0, 1, 2, 3, 4, 5, 6, 7};
  ByteReader r = reader_of(bytes);
  EXPECT_EQ(r.section(2, 2, "code").u16(), 0x0302);
  EXPECT_EQ(r.section(8, 0, "code").remaining(), 0u);
  EXPECT_TRUE(r.ok());
  for (auto [offset, size] : std::vector<std::pair<uint64_t, uint64_t>>{{9, 0}, {0, 9}, {7, 2}, {UINT64_MAX, 2}, {2, UINT64_MAX - 1}}) {
    ByteReader bad = reader_of(bytes);
    EXPECT_EQ(bad.section(offset, size, "code").remaining(), 0u);
    EXPECT_FALSE(bad.ok());
  }
}

TEST(Bytes, RandomInputNeverReadsOutside) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes(random() % 40);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    ByteReader r = reader_of(bytes);
    for (int step = 0; step < 20; ++step) {
      switch (random() % 6) {
        case 0: r.varint(); break;
        case 1: r.string(1000); break;
        case 2: r.u64(); break;
        case 3: r.skip(random() >> (random() % 64)); break;
        case 4: r.section(random() >> (random() % 64), random() >> (random() % 64), "s").u32(); break;
        case 5: r.count(UINT64_MAX, "items", 3); break;
      }
      ASSERT_LE(r.offset(), bytes.size());
    }
  }
}

TEST(Bytes, Patch) {
  ByteWriter w;
  w.u32(0);
  w.u64(0);
  w.patch_u32(0, 7);
  w.patch_u64(4, 9);
  ByteReader r(w.data());
  EXPECT_EQ(r.u32(), 7u);
  EXPECT_EQ(r.u64(), 9u);
}

}  // namespace
}  // namespace msvm
