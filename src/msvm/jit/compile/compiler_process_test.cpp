#include "msvm/jit/compile/compiler_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "msvm/jit/compile/find_compiler.h"

namespace msvm::jit {
namespace {

using testing::HasSubstr;

constexpr double kLong = 30;  // s; no test gets near

std::vector<std::byte> request(const std::string& program) { return encode_request({"host", "", program}); }

std::string text_of(const Image& image) {
  return image ? std::string(reinterpret_cast<const char*>(image->data()), image->size()) : "";
}

// At normal priority: other tests run beside this one.
CompilerOptions options() {
  return {.path = MSVM_FAKE_COMPILER, .memory_limit = 0, .idle_priority = false, .first_back_off = 0.01};
}
CompilerOptions idle() {
  auto o = options();
  o.idle_priority = true;
  return o;
}

CompileResult run(CompilerProcess& p, const std::string& program,
                  CompilerProcess::Limits limits = {.deadline = kLong, .raise_after = INFINITY}) {
  p.begin(request(program), limits);
  auto r = p.wait(-1, 2 * kLong);
  EXPECT_TRUE(r.has_value());
  EXPECT_FALSE(p.busy());
  return r.value_or(CompileResult{});
}

/// Whether the process ends within thirty seconds (zombies that wait for their new parent count).
bool ends(pid_t pid) {
  for (int i = 0; i < 3000; ++i, ::usleep(10000)) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    if (!std::getline(file, stat) || stat.find(") Z") != std::string::npos) return true;
  }
  return false;
}

TEST(CompilerProcess, CompilesOneJobAfterTheOtherInOneProcess) {
  CompilerProcess p(options());
  EXPECT_EQ(p.pid(), -1) << "starts at the first job";
  for (int i = 0; i < 3; ++i) {
    auto r = run(p, "ok " + std::to_string(i));
    EXPECT_EQ(r.outcome, Outcome::kCompiled) << r.error;
    EXPECT_EQ(text_of(r.image), "code:ok " + std::to_string(i));
  }
  EXPECT_EQ(p.starts(), 1);
}

TEST(CompilerProcess, MeasuresPhasesAndCpu) {
  CompilerProcess p(options());
  auto r = run(p, "busy 60");
  EXPECT_GT(r.phases[static_cast<size_t>(Phase::kOptimize)], 0.055);
  EXPECT_GT(r.seconds, 0.055);
  EXPECT_GT(r.cpu_seconds, 0);
  EXPECT_LE(r.cpu_seconds, r.seconds);
}

TEST(CompilerProcess, LargeRepliesArrive) {
  CompilerProcess p(options());
  auto r = run(p, "huge 40");
  ASSERT_EQ(r.outcome, Outcome::kCompiled) << r.error;
  EXPECT_EQ(r.image->size(), 40u << 20);
  r = run(p, "huge 65");
  EXPECT_EQ(r.outcome, Outcome::kRefused);
  EXPECT_THAT(r.error, HasSubstr("split the region"));
}

TEST(CompilerProcess, LargeRequestsArriveAndTooLargeOnesAreRefused) {
  CompilerProcess p(options());
  const std::string text = "ok " + std::string(5u << 20, 'x');
  EXPECT_EQ(text_of(run(p, text).image), "code:" + text);
  EXPECT_EQ(run(p, std::string(kMaxRequestBytes, 'x')).outcome, Outcome::kRefused);
}

TEST(CompilerProcess, AHangEndsAtTheDeadlineAndTheNextJobGetsANewProcess) {
  CompilerProcess p(options());
  auto r = run(p, "hang", {.deadline = 1, .raise_after = INFINITY});
  EXPECT_EQ(r.outcome, Outcome::kTimedOut);
  EXPECT_THAT(r.error, HasSubstr("after 1 s"));
  EXPECT_THAT(r.error, HasSubstr("Optimize"));
  EXPECT_GE(r.seconds, 1);
  EXPECT_GT(r.phases[static_cast<size_t>(Phase::kOptimize)], 0);
  EXPECT_EQ(p.back_off(), 0) << "a deadline says nothing about the compiler";
  EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
  EXPECT_EQ(p.starts(), 2);
}

struct Failure {
  const char* program;
  Outcome outcome;
  const char* text;
};
class CompilerFailure : public testing::TestWithParam<Failure> {};

TEST_P(CompilerFailure, IsAnOutcomeAndTheNextJobSucceeds) {
  CompilerProcess p(options());
  for (bool used_before : {false, true}) {
    if (used_before) { EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled); }
    auto r = run(p, GetParam().program);
    EXPECT_EQ(r.outcome, GetParam().outcome) << r.error;
    EXPECT_THAT(r.error, HasSubstr(GetParam().text));
    EXPECT_FALSE(r.image);
    EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CompilerFailure,
    testing::Values(Failure{"crash", Outcome::kCrashed, "signal 11"}, Failure{"crash", Outcome::kCrashed, "Cannot select"},
                    Failure{"abort", Outcome::kCrashed, "signal 6"}, Failure{"exit 3", Outcome::kCrashed, "code 3"},
                    Failure{"exit 78", Outcome::kOutOfMemory, "MiB"}, Failure{"refuse", Outcome::kRefused, "found f16"},
                    Failure{"garbage", Outcome::kGarbage, "expected a frame"}, Failure{"wrongjob", Outcome::kGarbage, "999"},
                    Failure{"midreply", Outcome::kCrashed, "code 0"}, Failure{"midheader", Outcome::kCrashed, "code 0"}));

TEST(CompilerProcess, ClosingTheOutputIsNoAnswer) {
  CompilerProcess p(options());
  auto r = run(p, "mute", {.deadline = 1, .raise_after = INFINITY});
  EXPECT_EQ(r.outcome, Outcome::kGarbage);
  EXPECT_THAT(r.error, HasSubstr("closed its output"));
  EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(CompilerProcess, MemoryHasALimit) {
  auto o = options();
  o.memory_limit = 512u << 20;
  CompilerProcess p(o);
  auto r = run(p, "oom");
  EXPECT_EQ(r.outcome, Outcome::kOutOfMemory) << r.error;
  EXPECT_THAT(r.error, HasSubstr("512 MiB"));
}
#endif

TEST(CompilerProcess, KilledByOthersIsACrash) {
  CompilerProcess p(options());
  run(p, "ok");
  p.begin(request("hang"), {.deadline = kLong, .raise_after = INFINITY});
  while (!p.phase()) { EXPECT_FALSE(p.wait(-1, 0.01).has_value()); }
  ::kill(p.pid(), SIGKILL);
  auto r = p.wait(-1, kLong);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->outcome, Outcome::kCrashed);
  EXPECT_THAT(r->error, HasSubstr("signal 9"));
}

TEST(CompilerProcess, DeathBetweenJobsIsNotTheNextJobsFault) {
  CompilerProcess p(options());
  EXPECT_EQ(run(p, "quit").outcome, Outcome::kCompiled);
  EXPECT_TRUE(ends(p.pid()));
  EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
  const pid_t pid = p.pid();
  ::kill(pid, SIGKILL);  // dead or dying when the next job begins
  EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
  EXPECT_NE(p.pid(), pid);
  EXPECT_EQ(p.starts(), 3);
}

TEST(CompilerProcess, BackOffGrowsFromCrashToCrashAndEndsWithAnAnswer) {
  auto o = options();
  o.first_back_off = 100;
  o.last_back_off = 1000;
  CompilerProcess p(o);
  EXPECT_EQ(p.back_off(), 0);
  run(p, "crash");
  EXPECT_NEAR(p.back_off(), 100, 50);
  run(p, "crash");
  EXPECT_NEAR(p.back_off(), 200, 50);
  run(p, "ok");
  run(p, "crash");
  EXPECT_NEAR(p.back_off(), 100, 50);
  for (int i = 0; i < 5; ++i) run(p, "crash");
  EXPECT_NEAR(p.back_off(), 1000, 50);
}

TEST(CompilerProcess, CancelKillsTheJob) {
  CompilerProcess p(options());
  p.begin(request("hang"), {.deadline = kLong, .raise_after = INFINITY});
  EXPECT_FALSE(p.wait(-1, 0.05).has_value());
  const pid_t pid = p.pid();
  EXPECT_EQ(p.cancel().outcome, Outcome::kCancelled);
  EXPECT_TRUE(ends(pid));
  EXPECT_EQ(run(p, "ok").outcome, Outcome::kCompiled);
}

TEST(CompilerProcess, AWakeUpEndsTheWait) {
  CompilerProcess p(options());
  const int wake = ::eventfd(1, EFD_CLOEXEC);
  EXPECT_FALSE(p.wait(wake, kLong).has_value()) << "without a job";
  p.begin(request("hang"), {.deadline = kLong, .raise_after = INFINITY});
  EXPECT_FALSE(p.wait(wake, kLong).has_value());
  EXPECT_TRUE(p.busy());
  ::close(wake);
}

TEST(CompilerProcess, NoCompilerIsAnOutcome) {
  CompilerProcess p({.path = "/nowhere/msvm-cc"});
  auto r = run(p, "ok");
  EXPECT_EQ(r.outcome, Outcome::kNoCompiler);
  EXPECT_THAT(r.error, HasSubstr("/nowhere/msvm-cc"));
  EXPECT_THAT(r.error, HasSubstr("MSVM_CC"));
  const std::string path = testing::TempDir() + "/not_a_program";
  std::ofstream(path) << "text\n";
  ::chmod(path.c_str(), 0755);
  CompilerProcess q({.path = path});
  EXPECT_EQ(run(q, "ok").outcome, Outcome::kNoCompiler);
  CompilerProcess other({.path = "/bin/true"});
  EXPECT_EQ(run(other, "ok").outcome, Outcome::kCrashed) << "a program that isn't a compiler";
}

TEST(CompilerProcess, IsFoundByTheEnvironment) {
  ::setenv("MSVM_CC", MSVM_FAKE_COMPILER, 1);
  EXPECT_EQ(find_compiler("").value(), MSVM_FAKE_COMPILER);
  ::setenv("MSVM_CC", "/nowhere", 1);
  EXPECT_THAT(find_compiler("").status().message(), HasSubstr("/nowhere (MSVM_CC)"));
  ::unsetenv("MSVM_CC");
}

TEST(CompilerProcess, RunsWhereNothingElseWantsTheProcessor) {
  CompilerProcess p(idle());
  run(p, "ok");
  EXPECT_EQ(::sched_getscheduler(p.pid()), SCHED_IDLE);
  CompilerProcess q(options());
  run(q, "ok");
  EXPECT_EQ(::sched_getscheduler(q.pid()), SCHED_OTHER);
}

TEST(CompilerProcess, IsRaisedWhenItGetsNoProcessor) {
  CompilerProcess p(idle());
  auto r = run(p, "slow 150", {.deadline = kLong, .raise_after = 0.03});  // sleeping looks like starving
  EXPECT_EQ(r.outcome, Outcome::kCompiled);
  EXPECT_TRUE(r.raised);
  EXPECT_EQ(::sched_getscheduler(p.pid()), SCHED_IDLE) << "for this job only";
  EXPECT_FALSE(run(p, "slow 50", {.deadline = kLong, .raise_after = INFINITY}).raised);
}

TEST(CompilerProcess, IsRaisedWhereNobodyMayLeaveTheIdleClass) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    CompilerProcess p(idle());
    p.begin(request("slow 150"), {.deadline = kLong, .raise_after = 0.03});
    std::optional<CompileResult> r;
    while (!r && p.starts() < 2) r = p.wait(-1, 0.01);
    if (r || ::sched_getscheduler(p.pid()) != SCHED_OTHER) ::_exit(1);
    r = p.wait(-1, kLong);
    ::_exit(r && r->outcome == Outcome::kCompiled && r->raised && ::sched_getscheduler(p.pid()) == SCHED_IDLE ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(CompilerProcess, GetsNoOtherDescriptors) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // not close-on-exec
  CompilerProcess p(options());
  run(p, "ok");
  const std::string link = "/proc/" + std::to_string(p.pid()) + "/fd/" + std::to_string(leaked);
  struct stat info{};
  // Its own copy of stdout may have that number.
  EXPECT_TRUE(::stat(link.c_str(), &info) != 0 || S_ISSOCK(info.st_mode));
  ::close(leaked);
}

TEST(CompilerProcess, WorksWithoutStdio) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (int fd : {0, 1, 2}) ::close(fd);
    CompilerProcess p(options());
    p.begin(request("ok"), {.deadline = kLong, .raise_after = INFINITY});
    auto r = p.wait(-1, kLong);
    ::_exit(r && r->outcome == Outcome::kCompiled ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(CompilerProcess, AHostThatReapsAllChildrenDoesNotDisturb) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGCHLD, SIG_IGN);
    CompilerProcess p(options());
    auto outcome = [&](const char* program) {
      p.begin(request(program), {.deadline = kLong, .raise_after = INFINITY});
      return p.wait(-1, kLong).value_or(CompileResult{}).outcome;
    };
    const bool good =
        outcome("ok") == Outcome::kCompiled && outcome("crash") == Outcome::kCrashed && outcome("ok") == Outcome::kCompiled;
    p.stop();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(CompilerProcess, AForkedChildLeavesTheParentsProcessAlone) {
  CompilerProcess p(options());
  const std::string parents = text_of(run(p, "pid").image);
  const pid_t pid = ::fork();
  if (pid == 0) {
    bool good = true;
    {
      CompilerProcess& inherited = p;
      inherited.begin(request("pid"), {.deadline = kLong, .raise_after = INFINITY});
      auto r = inherited.wait(-1, kLong);
      good = r && r->outcome == Outcome::kCompiled && text_of(r->image) != parents;
      inherited.stop();
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(run(p, "pid").image), parents);
}

/// The process id of the compiler of a forked parent that was killed after its job `program` had begun.
pid_t orphan(const std::string& program) {
  int fds[2];
  EXPECT_EQ(::pipe(fds), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    CompilerProcess p(options());
    p.begin(request("ok"), {.deadline = kLong, .raise_after = INFINITY});
    (void)p.wait(-1, kLong);
    p.begin(request(program), {.deadline = kLong, .raise_after = INFINITY});
    (void)p.wait(-1, 0.05);
    pid_t compiler = ::kill(p.pid(), 0) == 0 ? p.pid() : -1;
    (void)!::write(fds[1], &compiler, sizeof(compiler));
    for (;;) ::pause();
  }
  pid_t compiler = -1;
  EXPECT_EQ(::read(fds[0], &compiler, sizeof(compiler)), static_cast<ssize_t>(sizeof(compiler)));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  ::close(fds[0]);
  ::close(fds[1]);
  return compiler;
}

TEST(CompilerProcess, EndsWithItsParent) {
  EXPECT_GT(orphan("hang"), 0);
  EXPECT_TRUE(ends(orphan("ok")));
  EXPECT_TRUE(ends(orphan("hang")));
}

}  // namespace
}  // namespace msvm::jit
