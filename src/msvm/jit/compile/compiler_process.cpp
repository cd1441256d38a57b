#include "msvm/jit/compile/compiler_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <utility>

#include "msvm/jit/compile/find_compiler.h"

namespace msvm::jit {
namespace {

constexpr size_t kErrorTail = 2048;  // bytes of its stderr that are kept
constexpr double kReapEvery = 0.02;  // s between looks at processes that end without telling

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int milliseconds(double seconds) { return static_cast<int>(std::clamp(std::ceil(seconds * 1000), 0.0, 3.6e6)); }

std::string with_text(std::string what, std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (!text.empty()) what += fmt::format(": {}", text);
  return what;
}

}  // namespace

double CompilerProcess::back_off() const { return std::max(0.0, not_before_ - now()); }

double CompilerProcess::cpu_used() const { return std::max(0.0, child_.cpu_seconds() - cpu_before_); }

void CompilerProcess::begin(std::vector<std::byte> request, const Limits& limits) {
  if (owner_ != ::getpid()) {
    child_.forget();
    owner_ = ::getpid();
    crashes_ = 0;
    not_before_ = 0;
  }
  busy_ = true;
  limits_ = limits;
  begun_ = phase_since_ = now();
  raise_at_ = begun_ + limits.raise_after;
  cpu_spent_ = 0;
  retried_ = raised_ = false;
  phase_ = -1;
  phases_ = {};
  errors_.clear();
  if (request.size() > kMaxRequestBytes) {
    return finish(Outcome::kRefused,
                  fmt::format("the request has {} bytes, the limit is {}: split the region", request.size(), kMaxRequestBytes));
  }
  request_ = encode_frame(FrameType::kRequest, ++job_, request);
  sent_ = 0;
  reap_killed();
  if ((!child_.running() || child_.died()) && !start(options_.idle_priority)) return;
  cpu_before_ = child_.cpu_seconds();
}

bool CompilerProcess::start(bool idle_priority) {
  auto path = find_compiler(options_.path);
  if (!path.ok()) return finish(Outcome::kNoCompiler, path.status().message()), false;
  auto child = ChildProcess::start({.command = {*path, "--serve"}, .memory_limit = options_.memory_limit});
  if (!child.ok()) return finish(Outcome::kNoCompiler, child.status().message()), false;
  if (child_.killed()) killed_.push_back(std::move(child_));
  child_ = std::move(*child);
  if (idle_priority) child_.lower_priority();
  ++starts_;
  answered_ = false;
  frames_ = FrameReader();
  cpu_before_ = 0;
  sent_ = 0;
  ended_ = false;
  return true;
}

void CompilerProcess::restart(bool idle_priority) {
  cpu_spent_ += cpu_used();
  child_.kill();
  phase_ = -1;
  phases_ = {};
  start(idle_priority);
}

std::optional<CompileResult> CompilerProcess::wait(int wake, double seconds) {
  const double until = now() + seconds;
  for (;;) {
    if (result_) return std::exchange(result_, {});
    // A negative descriptor is left out by poll().
    std::array<pollfd, 4> fds = {{{wake, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
    if (busy_) {
      fds[1] = {ended_ ? -1 : child_.socket(), static_cast<short>(sent_ < request_.size() ? POLLIN | POLLOUT : POLLIN), 0};
      fds[2].fd = child_.death();
      fds[3].fd = child_.stderr_pipe();
    }
    double end = busy_ ? std::min(until, next_time()) : until;
    if (!reap_killed()) end = std::min(end, now() + kReapEvery);
    ::poll(fds.data(), fds.size(), milliseconds(end - now()));
    if (busy_) {
      if (fds[3].revents != 0) read_errors();
      if ((fds[1].revents & POLLOUT) != 0) send_request();
      if ((fds[1].revents & ~POLLOUT) != 0 && !receive()) on_end();
      if (busy_ && fds[2].revents != 0) on_death();
      if (busy_) on_time();
    }
    if (result_) continue;
    if ((fds[0].revents & POLLIN) != 0 || now() >= until) return {};
  }
}

void CompilerProcess::send_request() {
  ssize_t n = ::send(child_.socket(), request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
  if (n > 0) sent_ += static_cast<size_t>(n);  // an error shows when reading
}

/// False at the end of its output.
bool CompilerProcess::receive() {
  std::array<std::byte, 65536> chunk;
  while (busy_) {
    ssize_t n = ::recv(child_.socket(), chunk.data(), chunk.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) return false;
    frames_.feed(std::span(chunk).first(static_cast<size_t>(n)));
    while (busy_) {
      auto frame = frames_.next();
      if (!frame) break;
      on_frame(*frame);
    }
    if (busy_ && !frames_.status().ok()) broke(Outcome::kGarbage, frames_.status().message());
  }
  return true;
}

void CompilerProcess::read_errors() {
  std::array<char, 4096> chunk;
  ssize_t n;
  while ((n = ::read(child_.stderr_pipe(), chunk.data(), chunk.size())) > 0) {
    errors_.append(chunk.data(), static_cast<size_t>(n));
    if (errors_.size() > kErrorTail) errors_.erase(0, errors_.size() - kErrorTail);
  }
}

void CompilerProcess::enter(int phase) {
  const double t = now();
  if (phase_ >= 0) phases_[static_cast<size_t>(phase_)] += t - phase_since_;
  phase_ = phase;
  phase_since_ = t;
}

void CompilerProcess::on_frame(const Frame& frame) {
  if (frame.job != job_)
    return broke(Outcome::kGarbage, fmt::format("expected an answer to job {}, found one to {}", job_, frame.job));
  switch (frame.type) {
    case FrameType::kProgress: {
      const size_t phase = frame.body.empty() ? kPhases : std::to_integer<size_t>(frame.body[0]);
      if (phase >= kPhases) return broke(Outcome::kGarbage, "expected the number of a phase");
      return enter(static_cast<int>(phase));
    }
    case FrameType::kReply: {
      auto reply = decode_reply(frame.body);
      if (!reply.ok()) return broke(Outcome::kGarbage, reply.status().message());
      answered_ = true;
      crashes_ = 0;
      phase_ = -1;
      phases_ = reply->seconds;
      if (!reply->error.empty()) return finish(Outcome::kRefused, std::move(reply->error));
      return finish(Outcome::kCompiled, "", std::make_shared<const std::vector<std::byte>>(std::move(reply->image)));
    }
    case FrameType::kRequest:
      break;
  }
  broke(Outcome::kGarbage, "expected progress or a reply, found a request");
}

/// Its output ended, so it is about to. At idle priority that can last; what is left of the deadline is for it.
void CompilerProcess::on_end() {
  ended_ = true;
  child_.raise_priority();
}

void CompilerProcess::on_death() {
  receive();  // what it said last
  if (!busy_) return;
  // Nothing of this job happened yet: it died while it had nothing to do.
  if (answered_ && phase_ < 0 && !retried_) {
    retried_ = true;
    return restart(options_.idle_priority);
  }
  read_errors();
  const double cpu = cpu_used();
  if (!child_.died()) return;
  cpu_spent_ += cpu;
  if (child_.exit_code() == kExitOutOfMemory) {
    return broke(Outcome::kOutOfMemory, fmt::format("the compiler needed more than {} MiB", options_.memory_limit >> 20));
  }
  broke(Outcome::kCrashed, fmt::format("the compiler {}", child_.end_text()));
}

double CompilerProcess::next_time() const {
  const double look = ended_ && child_.death() < 0 ? now() + kReapEvery : INFINITY;
  return std::min({begun_ + limits_.deadline, raised_ ? INFINITY : raise_at_, look});
}

void CompilerProcess::on_time() {
  const double t = now();
  if (ended_ && child_.death() < 0 && child_.died()) return on_death();
  if (t >= begun_ + limits_.deadline) {
    if (ended_) return broke(Outcome::kGarbage, "the compiler closed its output");
    return finish(Outcome::kTimedOut, fmt::format("no code after {:.3g} s, the limit; it was {}", limits_.deadline,
                                                  phase() ? fmt::format("in phase {}", kPhaseNames[static_cast<size_t>(*phase())])
                                                          : "before its first phase"));
  }
  if (raised_ || !options_.idle_priority || t < raise_at_) return;
  raise_at_ += std::max(limits_.raise_after, 1e-3);
  if (cpu_used() >= 0.5 * (t - begun_)) return;  // it does run: others don't want the processor
  raised_ = true;
  // Where the system lets nobody leave the idle class, a new process that never entered it takes the job over.
  if (!child_.raise_priority()) restart(false);
}

/// It can't be trusted with another job.
void CompilerProcess::broke(Outcome outcome, std::string error) {
  if (child_.running()) {
    read_errors();
    cpu_spent_ += cpu_used();
    child_.kill();
  }
  not_before_ = now() + std::min(options_.last_back_off, std::ldexp(options_.first_back_off, crashes_));
  crashes_ = std::min(crashes_ + 1, 30);
  finish(outcome, with_text(std::move(error), errors_));
}

void CompilerProcess::finish(Outcome outcome, std::string error, Image image) {
  const double t = now();
  enter(-1);
  const double cpu = cpu_spent_ + (child_.running() ? cpu_used() : 0);
  result_ = CompileResult{outcome, std::move(image), std::move(error), phases_, t - begun_, cpu, raised_};
  busy_ = false;
  request_ = {};
  if (outcome == Outcome::kTimedOut || outcome == Outcome::kCancelled) {
    child_.kill();
  } else if (raised_ && options_.idle_priority) {
    child_.lower_priority();
  }
}

CompileResult CompilerProcess::cancel() {
  if (busy_) finish(Outcome::kCancelled, "nobody wants it any more");
  return result_ ? *std::exchange(result_, {}) : CompileResult{};
}

void CompilerProcess::stop() {
  if (busy_) (void)cancel();
  child_.kill();
}

/// Whether none is left.
bool CompilerProcess::reap_killed() {
  std::erase_if(killed_, [](ChildProcess& c) { return c.died(); });
  return killed_.empty() && (!child_.killed() || child_.died());
}

}  // namespace msvm::jit
