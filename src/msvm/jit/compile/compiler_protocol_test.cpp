#include "msvm/jit/compile/compiler_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

namespace msvm::jit {
namespace {

std::vector<std::byte> bytes_of(std::string_view s) {
  auto b = std::as_bytes(std::span(s.data(), s.size()));
  return {b.begin(), b.end()};
}

const CompileRequest kRequest{"znver4", "level=2", "loops version 1\n"};

TEST(CompilerProtocol, RequestsAndRepliesComeBackEqual) {
  auto request = decode_request(encode_request(kRequest));
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(*request, kRequest);
  CompileReply reply{.error = "", .image = bytes_of("code"), .seconds = {0.1, 0.2, 0.3}};
  auto back = decode_reply(encode_reply(reply));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->image, reply.image);
  EXPECT_EQ(back->seconds, reply.seconds);
}

TEST(CompilerProtocol, PartsOfARequestDontRunTogether) {
  EXPECT_NE(encode_request({"ab", "c", ""}), encode_request({"a", "bc", ""}));
}

TEST(CompilerProtocol, AReplyIsAnImageOrAnError) {
  EXPECT_FALSE(decode_reply(encode_reply({})).ok());
  EXPECT_FALSE(decode_reply(encode_reply({.error = "no", .image = bytes_of("code"), .seconds = {}})).ok());
  EXPECT_FALSE(decode_reply(encode_reply({.error = "", .image = bytes_of("code"), .seconds = {-1, 0, 0}})).ok());
  auto refused = decode_reply(encode_reply({.error = std::string(kMaxErrorBytes + 5, 'x'), .image = {}, .seconds = {}}));
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->error.size(), kMaxErrorBytes);
}

TEST(CompilerProtocol, FramesAreCutWhereverTheBytesAreSplit) {
  auto a = encode_frame(FrameType::kRequest, 7, bytes_of("first"));
  auto b = encode_frame(FrameType::kReply, 8, bytes_of(""));
  std::vector<std::byte> both = a;
  both.insert(both.end(), b.begin(), b.end());
  for (size_t cut = 0; cut <= both.size(); ++cut) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (auto part : {std::span(both).first(cut), std::span(both).subspan(cut)}) {
      reader.feed(part);
      while (auto f = reader.next()) frames.push_back(std::move(*f));
    }
    ASSERT_EQ(frames.size(), 2u) << cut;
    EXPECT_EQ(frames[0].job, 7u);
    EXPECT_EQ(frames[0].body, bytes_of("first"));
    EXPECT_EQ(frames[1].type, FrameType::kReply);
    EXPECT_FALSE(reader.inside_frame());
  }
}

TEST(CompilerProtocol, HeadersThatLieAreRefusedBeforeTheirBodyArrives) {
  auto frame = encode_frame(FrameType::kProgress, 1, bytes_of("x"));
  for (size_t at : {0u, 4u, 6u, 15u}) {  // magic, version, type, length
    auto bad = frame;
    bad[at] ^= std::byte{0x7f};
    FrameReader reader;
    reader.feed(bad);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_EQ(reader.status().code(), StatusCode::kMalformedFile) << at;
    reader.feed(frame);
    EXPECT_FALSE(reader.next().has_value()) << "the error sticks";
  }
}

TEST(CompilerProtocol, NoBytesCrashTheDecoders) {
  std::mt19937 rng(1);
  const auto request = encode_request(kRequest);
  const auto reply = encode_reply({.error = "", .image = bytes_of("image"), .seconds = {}});
  for (int i = 0; i < 20000; ++i) {
    auto bytes = i % 2 != 0 ? request : reply;
    bytes.resize(rng() % (bytes.size() + 4));
    for (unsigned n = rng() % 3; n > 0 && !bytes.empty(); --n) bytes[rng() % bytes.size()] = static_cast<std::byte>(rng());
    if (auto r = decode_request(bytes); r.ok()) { EXPECT_EQ(encode_request(*r), bytes) << "one request, one encoding"; }
    (void)decode_reply(bytes).ok();
    FrameReader reader;
    reader.feed(bytes);
    while (reader.next()) {}
  }
}

/// serve() on a thread, its client's end of the socket here.
class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    client_ = fds[0];
    thread_ = std::thread([this, fd = fds[1]] {
      status_ = serve(fd, fd, [](const CompileRequest& r, PhaseReporter& phases) -> Result<std::vector<std::byte>> {
        phases.enter(Phase::kParse);
        if (r.program.empty()) return invalid_argument("program: expected a kernel, found nothing");
        phases.enter(Phase::kCodeGen);
        return bytes_of("code of " + r.program);
      });
      ::close(fd);
    });
  }
  void TearDown() override {
    if (thread_.joinable()) (void)finish();
  }
  Status finish() {
    ::shutdown(client_, SHUT_WR);
    thread_.join();
    ::close(client_);
    return status_;
  }
  void send(std::span<const std::byte> bytes) {
    ASSERT_EQ(::write(client_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  Frame receive() {
    std::array<std::byte, 100> chunk;
    for (;;) {
      if (auto f = reader_.next()) return *f;
      ssize_t n = ::read(client_, chunk.data(), chunk.size());
      if (n <= 0) return {};
      reader_.feed(std::span(chunk).first(static_cast<size_t>(n)));
    }
  }
  int client_ = -1;
  std::thread thread_;
  Status status_;
  FrameReader reader_;
};

TEST_F(ServeTest, TellsPhasesThenAnswers) {
  send(encode_frame(FrameType::kRequest, 3, encode_request(kRequest)));
  EXPECT_EQ(receive().body, std::vector{static_cast<std::byte>(Phase::kParse)});
  EXPECT_EQ(receive().body, std::vector{static_cast<std::byte>(Phase::kCodeGen)});
  Frame last = receive();
  EXPECT_EQ(last.type, FrameType::kReply);
  EXPECT_EQ(last.job, 3u);
  auto reply = decode_reply(last.body);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->image, bytes_of("code of loops version 1\n"));
  EXPECT_EQ(reply->seconds[static_cast<size_t>(Phase::kOptimize)], 0);
  EXPECT_TRUE(finish().ok());
}

TEST_F(ServeTest, RefusalsAreAnswers) {
  send(encode_frame(FrameType::kRequest, 1, encode_request({})));
  receive();
  auto reply = decode_reply(receive().body);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->error, "program: expected a kernel, found nothing");
}

TEST_F(ServeTest, EndsOnNonsense) {
  send(bytes_of("GET / HTTP/1.1\r\nHost: x\r\n"));
  EXPECT_EQ(receive().job, 0u);
  EXPECT_EQ(finish().code(), StatusCode::kMalformedFile);
}

TEST_F(ServeTest, EndsOnARequestThatStopsInTheMiddle) {
  auto frame = encode_frame(FrameType::kRequest, 1, encode_request(kRequest));
  send(std::span(frame).first(frame.size() - 1));
  EXPECT_EQ(finish().code(), StatusCode::kMalformedFile);
}

TEST_F(ServeTest, RefusesFramesThatAreNoRequests) {
  send(encode_frame(FrameType::kReply, 1, {}));
  EXPECT_EQ(finish().code(), StatusCode::kMalformedFile);
}

}  // namespace
}  // namespace msvm::jit
