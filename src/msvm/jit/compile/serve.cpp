// The compiler process's side of the protocol.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "msvm/base/file.h"
#include "msvm/jit/compile/compiler_protocol.h"

namespace msvm::jit {
namespace {

Status io_error(const char* what) { return {StatusCode::kIo, fmt::format("{}: {}", what, std::strerror(errno))}; }

Status send(int fd, std::span<const std::byte> bytes) { return write_all(fd, bytes) ? Status() : io_error("can't answer"); }

Status answer(int out, const Frame& frame, const CompileFunction& compile) {
  if (frame.type != FrameType::kRequest) return malformed("expected a request");
  MSVM_ASSIGN_OR_RETURN(CompileRequest request, decode_request(frame.body));
  Status told;  // where the client is gone, the compile function isn't bothered with it
  PhaseReporter reporter([&](Phase phase) {
    const std::array body = {static_cast<std::byte>(phase)};
    if (told.ok()) told = send(out, encode_frame(FrameType::kProgress, frame.job, body));
  });
  Result<std::vector<std::byte>> image = compile(request, reporter);
  CompileReply reply;
  reply.seconds = reporter.finish();
  if (!image.ok()) {
    reply.error = image.status().message().empty() ? "refused without a reason" : image.status().message();
  } else if (image->empty() || image->size() > kMaxImageBytes) {
    reply.error = fmt::format("the image has {} bytes, expected 1 to {}: split the region", image->size(), kMaxImageBytes);
  } else {
    reply.image = std::move(*image);
  }
  MSVM_RETURN_IF_ERROR(told);
  return send(out, encode_frame(FrameType::kReply, frame.job, encode_reply(reply)));
}

void leave_out_of_memory() { ::_exit(kExitOutOfMemory); }

}  // namespace

Status serve(int in, int out, const CompileFunction& compile) {
  FrameReader frames;
  std::array<std::byte, 65536> chunk;
  for (;;) {
    while (auto frame = frames.next()) MSVM_RETURN_IF_ERROR(answer(out, *frame, compile));
    MSVM_RETURN_IF_ERROR(frames.status());
    ssize_t n = ::read(in, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("can't read requests");
    if (n == 0) return frames.inside_frame() ? malformed("a request ends early") : Status();
    frames.feed(std::span(chunk).first(static_cast<size_t>(n)));
  }
}

int serve_stdio(const CompileFunction& compile) {
  std::set_new_handler(leave_out_of_memory);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that line: then stdin has hung up already.
  pollfd parent{0, POLLIN, 0};
  if (::poll(&parent, 1, 0) > 0 && (parent.revents & (POLLHUP | POLLERR)) != 0) return 0;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // Where memory ends, the system shall take this process and not its parent.
  if (const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    (void)!::write(score, "500", 3);
    ::close(score);
  }
  const int out = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || ::dup2(2, 1) < 0) return 1;
  Status status = serve(0, out, compile);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.message());
  return 1;
}

}  // namespace msvm::jit
