#include "msvm/jit/compile/compiler_protocol.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "msvm/base/bytes.h"

namespace msvm::jit {
namespace {

constexpr uint32_t kMagic = 0x4343564d;  // "MVCC"
constexpr uint16_t kVersion = 1;
constexpr size_t kHeaderBytes = 16;

/// 0 for types that don't exist.
size_t max_body(uint16_t type) {
  switch (static_cast<FrameType>(type)) {
    case FrameType::kRequest:
      return kMaxRequestBytes;
    case FrameType::kProgress:
      return 1;
    case FrameType::kReply:
      return kMaxImageBytes + kMaxErrorBytes + 128;
  }
  return 0;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

std::vector<std::byte> encode_request(const CompileRequest& request) {
  ByteWriter w;
  w.string(request.target);
  w.string(request.flags);
  w.string(request.program);
  return w.take();
}

Result<CompileRequest> decode_request(std::span<const std::byte> bytes) {
  ByteReader r(bytes);
  CompileRequest request;
  request.target = r.string(kMaxRequestBytes);
  request.flags = r.string(kMaxRequestBytes);
  request.program = r.string(kMaxRequestBytes);
  r.expect_end();
  if (!r.ok()) return r.status().with_context("compile request: ");
  return request;
}

std::vector<std::byte> encode_reply(const CompileReply& reply) {
  ByteWriter w;
  for (double s : reply.seconds) w.f64(s);
  w.string(std::string_view(reply.error).substr(0, kMaxErrorBytes));
  w.varint(reply.image.size());
  w.bytes(reply.image);
  return w.take();
}

Result<CompileReply> decode_reply(std::span<const std::byte> bytes) {
  ByteReader r(bytes);
  CompileReply reply;
  for (double& s : reply.seconds) {
    s = r.f64();
    if (!std::isfinite(s) || s < 0) r.fail("a phase's time is no time");
  }
  reply.error = r.string(kMaxErrorBytes);
  auto image = r.bytes(r.count(kMaxImageBytes, "image byte"));
  reply.image.assign(image.begin(), image.end());
  r.expect_end();
  if (r.ok() && reply.error.empty() == reply.image.empty()) r.fail("expected either an image or an error");
  if (!r.ok()) return r.status().with_context("compile reply: ");
  return reply;
}

std::vector<std::byte> encode_frame(FrameType type, uint32_t job, std::span<const std::byte> body) {
  ByteWriter w;
  w.u32(kMagic);
  w.u16(kVersion);
  w.u16(static_cast<uint16_t>(type));
  w.u32(job);
  w.u32(static_cast<uint32_t>(body.size()));
  w.bytes(body);
  return w.take();
}

void FrameReader::feed(std::span<const std::byte> bytes) {
  if (status_.ok()) buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameReader::next() {
  if (!status_.ok() || buffer_.size() < kHeaderBytes) return {};
  ByteReader r(buffer_);
  const uint32_t magic = r.u32();
  const uint16_t version = r.u16(), type = r.u16();
  const uint32_t job = r.u32(), size = r.u32();
  if (magic != kMagic || version != kVersion || size > max_body(type)) {
    status_ = malformed(fmt::format("expected a frame of version {}, found magic {:#x}, version {}, type {}, {} bytes", kVersion,
                                    magic, version, type, size));
    buffer_.clear();
    return {};
  }
  if (r.remaining() < size) return {};
  auto body = r.bytes(size);
  Frame frame{static_cast<FrameType>(type), job, {body.begin(), body.end()}};
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + size));
  return frame;
}

void PhaseReporter::enter(Phase phase) {
  finish();
  phase_ = phase;
  since_ = now();
  if (tell_) tell_(phase);
}

const PhaseSeconds& PhaseReporter::finish() {
  if (phase_) seconds_[static_cast<size_t>(*phase_)] += now() - since_;
  phase_.reset();
  return seconds_;
}

}  // namespace msvm::jit
