// A compiler process for tests: does what the program text says, in words separated by spaces.
//   ok [text]       the image is "code:" and the whole text
//   slow MS text    the same after a while in phase Optimize; busy MS text: burning CPU
//   hang, crash, abort, exit CODE, oom, refuse
//   garbage         answers with bytes that are no frame; wrongjob: to another job
//   midreply        leaves in the middle of its reply; midheader: of its header
//   huge MIB        an image of that size
//   mute            closes its output
//   quit            answers, then leaves
//   pid             the image is the process id
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "msvm/jit/compile/compiler_protocol.h"

namespace {

using msvm::jit::CompileRequest;
using msvm::jit::Phase;
using msvm::jit::PhaseReporter;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& s) {
  auto b = std::as_bytes(std::span(s));
  return {b.begin(), b.end()};
}

// serve_stdio() moved the real output to the lowest free descriptor.
void say(const Bytes& bytes) {
  for (int fd = 3; fd < 10; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) {
      (void)!::write(fd, bytes.data(), bytes.size());
      return;
    }
  }
}

void burn(int ms) {
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < end) {}
}

msvm::Result<Bytes> compile(const CompileRequest& request, PhaseReporter& phases) {
  phases.enter(Phase::kParse);
  std::istringstream words(request.program);
  std::string what;
  int number = 0;
  words >> what >> number;
  phases.enter(Phase::kOptimize);
  if (what == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(number));
  if (what == "busy") burn(number);
  if (what == "hang") {
    for (;;) ::pause();
  }
  if (what == "crash") {
    fmt::print(stderr, "LLVM ERROR: Cannot select\n");
    std::signal(SIGSEGV, SIG_DFL);  // sanitizers catch it
    std::raise(SIGSEGV);
  }
  if (what == "abort") std::abort();
  if (what == "exit") ::_exit(number);
  if (what == "oom") {
    for (;;) std::memset(::operator new(64u << 20), 1, 64u << 20);
  }
  phases.enter(Phase::kCodeGen);
  if (what == "refuse") return msvm::unsupported("pow: expected f32, found f16");
  if (what == "garbage") say(bytes_of("segment fault? 0123456789 0123456789"));
  if (what == "wrongjob")
    say(msvm::jit::encode_frame(msvm::jit::FrameType::kReply, 999,
                                msvm::jit::encode_reply({.error = "x", .image = {}, .seconds = {}})));
  if (what == "midreply" || what == "midheader") {
    auto frame = msvm::jit::encode_frame(msvm::jit::FrameType::kReply, 1, bytes_of("a body that goes on and on"));
    frame.resize(what == "midreply" ? 20 : 5);
    say(frame);
    ::_exit(0);
  }
  if (what == "mute") {
    for (int fd = 0; fd < 10; ++fd) ::close(fd);
    for (;;) ::pause();
  }
  if (what == "huge") return Bytes(static_cast<size_t>(number) << 20, std::byte{7});
  if (what == "pid") return bytes_of(std::to_string(::getpid()));
  if (what == "quit") {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ::_exit(0);
    }).detach();
  }
  return bytes_of("code:" + request.program);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "--serve") != 0) return 2;
  return msvm::jit::serve_stdio(compile);
}
