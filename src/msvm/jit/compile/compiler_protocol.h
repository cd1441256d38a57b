// What the process and its compiler process say to each other: frames over a pair of descriptors. Neither side trusts the other's
// bytes.
//
//   frame     magic "MVCC" | u16 version | u16 type | u32 job | u32 bytes | that many bytes
//   request   three strings (varint length, bytes): target, flags, program
//   progress  u8 phase: the job entered it
//   reply     f64 seconds per phase | string error | varint length, image
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::jit {

enum class Phase : uint8_t {
#define MSVM_COMPILE_PHASE(name, text) k##name,
#include "msvm/jit/compile/phases.def"
#undef MSVM_COMPILE_PHASE
};
inline constexpr std::array kPhaseNames = {
#define MSVM_COMPILE_PHASE(name, text) std::string_view(text),
#include "msvm/jit/compile/phases.def"
#undef MSVM_COMPILE_PHASE
};
inline constexpr size_t kPhases = kPhaseNames.size();
using PhaseSeconds = std::array<double, kPhases>;

inline constexpr size_t kMaxRequestBytes = 16u << 20;
inline constexpr size_t kMaxImageBytes = 64u << 20;
inline constexpr size_t kMaxErrorBytes = 64u << 10;  // longer texts are cut
/// The exit code of a compiler process that ran out of memory.
inline constexpr int kExitOutOfMemory = 78;

/// All that the code depends on, besides the build of the compiler. Its parts are opaque here.
struct CompileRequest {
  std::string target;  // CPU and features
  std::string flags;
  std::string program;  // text of a loop program
  bool operator==(const CompileRequest&) const = default;
};

/// The canonical bytes of a request: equal requests have equal bytes. They are keys of caches and the bundle of a bug report.
std::vector<std::byte> encode_request(const CompileRequest& request);
Result<CompileRequest> decode_request(std::span<const std::byte> bytes);

/// An image, or the error that says why there is none.
struct CompileReply {
  std::string error;  // empty: `image` counts
  std::vector<std::byte> image;
  PhaseSeconds seconds{};
};
std::vector<std::byte> encode_reply(const CompileReply& reply);
Result<CompileReply> decode_reply(std::span<const std::byte> bytes);

enum class FrameType : uint16_t { kRequest = 1, kProgress = 2, kReply = 3 };

struct Frame {
  FrameType type{};
  uint32_t job = 0;
  std::vector<std::byte> body;
};
std::vector<std::byte> encode_frame(FrameType type, uint32_t job, std::span<const std::byte> body);

/// Cuts a stream of bytes into frames. The first error sticks. Memory grows with what arrived, never with what a header claims.
class FrameReader {
 public:
  void feed(std::span<const std::byte> bytes);
  std::optional<Frame> next();
  /// kMalformedFile after bytes that are no frame.
  const Status& status() const { return status_; }
  /// Whether a frame has begun that isn't whole yet.
  bool inside_frame() const { return !buffer_.empty(); }

 private:
  std::vector<std::byte> buffer_;
  Status status_;
};

/// Told by the compile function which phase it enters; measures the time in each and lets the client know.
class PhaseReporter {
 public:
  explicit PhaseReporter(std::function<void(Phase)> tell = {}) : tell_(std::move(tell)) {}
  void enter(Phase phase);
  /// Ends the running phase.
  const PhaseSeconds& finish();

 private:
  std::function<void(Phase)> tell_;
  std::optional<Phase> phase_;
  double since_ = 0;
  PhaseSeconds seconds_{};
};

/// An image, or a Status whose message is for the user. May be killed at any point.
using CompileFunction = std::function<Result<std::vector<std::byte>>(const CompileRequest&, PhaseReporter&)>;

/// The compiler process's side: answers requests until `in` ends (OK), one side fails (kIo) or `in` holds nonsense
/// (kMalformedFile).
Status serve(int in, int out, const CompileFunction& compile);

/// serve() over stdin and stdout as the main program of a compiler process: ends with its parent, leaves with kExitOutOfMemory
/// where operator new fails, and sends what others print on stdout to stderr. Returns the exit code.
int serve_stdio(const CompileFunction& compile);

}  // namespace msvm::jit
