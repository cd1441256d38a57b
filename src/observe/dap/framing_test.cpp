#include "observe/dap/framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msvm::observe::dap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The messages of bytes that come in pieces of so many, and the error after them.
struct Read {
  std::vector<std::string> messages;
  Status error;
};
Read read(std::string_view bytes, size_t piece) {
  FrameReader reader;
  Read out;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.push(bytes.substr(at, piece));
    for (;;) {
      auto m = reader.next();
      if (!m.ok()) {
        out.error = m.status();
        EXPECT_FALSE(reader.next().ok());  // it stays wrong
        return out;
      }
      if (!*m) break;
      out.messages.push_back(std::move(**m));
    }
  }
  return out;
}

TEST(Framing, HoweverTheBytesAreCut) {
  const std::string bytes = framed("{}") + "content-length:3\r\nContent-Type: x\r\n\r\nabc" + framed("") + framed(std::string(5000, 'x')) + "Content-Length: 4\r\n\r\n\r\n\r\n" + "Content-Length: 9\r\n\r\ncut";
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{100}, bytes.size()}) {
    const Read r = read(bytes, piece);
    EXPECT_TRUE(r.error.ok());
    EXPECT_THAT(r.messages, ElementsAre("{}", "abc", "", std::string(5000, 'x'), "\r\n\r\n"));
  }
}

TEST(Framing, WhatCantBeAHeader) {
  for (const auto& [bytes, says] : {std::pair{"Content-Length: x\r\n\r\n", "expected a number of bytes, found \"x\""}, {"Content-Length: -1\r\n\r\n", "found \"-1\""}, {"Content-Length:\r\n\r\n", "found \"\""},
                                    {"Content-Length: 12a\r\n\r\n", "found \"12a\""}, {"Content-Length: 16777217\r\n\r\n", "expected 16777216 at most, found 16777217"},
                                    {"Content-Length: 99999999999999999999999\r\n\r\n", "expected 16777216 at most"}, {"Length: 3\r\n\r\nabc", "without Content-Length"}, {"{\"seq\":1}\r\n\r\n", "without Content-Length"},
                                    {"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two that differ"}, {"hello\r\n\r\n", "without a colon"}, {"\r\n\r\n", "Content-Length"}}) {
    for (const size_t piece : {size_t{1}, size_t{1000}}) {
      const Read r = read(bytes, piece);
      ASSERT_FALSE(r.error.ok()) << bytes;
      EXPECT_THAT(r.error.message(), HasSubstr(says)) << bytes;
      EXPECT_TRUE(r.messages.empty());
    }
  }
}

TEST(Framing, AHeaderWithoutEnd) {
  const Read r = read(std::string(kMaxHeader + 1, 'a'), 1000);
  EXPECT_THAT(r.error.message(), HasSubstr("a header of more than 8192 bytes"));
  EXPECT_TRUE(read(std::string(kMaxHeader, 'a'), 1000).error.ok());
}

TEST(Framing, MessagesBeforeWhatIsWrongCount) {
  const Read r = read(framed("{}") + "nonsense\r\n\r\n" + framed("{}"), 5);
  EXPECT_THAT(r.messages, ElementsAre("{}"));
  EXPECT_FALSE(r.error.ok());
}

TEST(Framing, ManyMessagesAreLetGo) {
  FrameReader reader;
  const std::string one = framed(std::string(10'000, 'y'));
  for (int i = 0; i < 1000; ++i) {
    reader.push(one);
    reader.push(one.substr(0, 20));  // the next has begun
    const auto m = reader.next();
    ASSERT_TRUE(m.ok() && *m);
    EXPECT_EQ((**m).size(), 10'000u);
    reader.push(one.substr(20));
    ASSERT_TRUE(reader.next().ok());
    EXPECT_FALSE(reader.within());
  }
}

}  // namespace
}  // namespace msvm::observe::dap
