// A run whose sizes have code of their own takes no lock in the session and makes no system call: the kernel tells of every system call of
// the thread, and pthread_mutex_lock is counted.
#if defined(MSVM_COMPILER) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "msvm/base/chaos.h"
#include "msvm/device/cpu_features.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/program_testing.h"

namespace {
thread_local int64_t locks = 0;
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static std::atomic<int (*)(pthread_mutex_t*)> next{nullptr};
  auto* f = next.load(std::memory_order_relaxed);
  if (!f) next.store(f = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock")), std::memory_order_relaxed);
  ++locks;
  return f(mutex);
}

#ifdef PR_SET_SYSCALL_USER_DISPATCH
namespace msvm::testing {
namespace {

/// Tells of the first system call of this thread after each arm().
class SystemCalls {
 public:
  SystemCalls() {
    struct sigaction action = {};
    action.sa_sigaction = caught;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, &before_);
    watching_ = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) == 0;
  }
  ~SystemCalls() {
    disarm();
    if (watching_) prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
    sigaction(SIGSYS, &before_, nullptr);
  }
  bool watching() const { return watching_; }
  void arm() {
    number = -1;
    selector = 1;
  }
  /// The number of the first call since arm(); -1: there was none.
  long disarm() {
    selector = 0;
    return number;
  }

 private:
  // Makes the call in the thread's place, and looks away until the next arm().
  static void caught(int, siginfo_t* info, void* context) {
    selector = 0;
    number = info->si_syscall;
    const int kept = errno;
    greg_t* r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const long result = syscall(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    r[REG_RAX] = result == -1 ? -errno : result;
    errno = kept;
  }
  static thread_local volatile char selector;
  static thread_local volatile long number;
  struct sigaction before_ = {};
  bool watching_ = false;
};
thread_local volatile char SystemCalls::selector = 0;
thread_local volatile long SystemCalls::number = -1;

constexpr int kHits = 200;

struct Seen {
  int64_t locks = 0, runs_with_calls = 0;
  long first_call = -1;
};

/// What `run` does that is to be quiet.
template <class Run>
Seen watch(SystemCalls& calls, Run&& run) {
  Seen seen;
  for (int k = 0; k < kHits; ++k) {
    const int64_t before = locks;
    calls.arm();
    run(k);
    const long call = calls.disarm();
    seen.locks += locks - before;
    if (call < 0) continue;
    if (!seen.runs_with_calls++) seen.first_call = call;
  }
  return seen;
}

TEST(QuietHits, TheWatchSees) {
  SystemCalls calls;
  if (!calls.watching()) GTEST_SKIP() << "this kernel doesn't tell of system calls: " << std::strerror(errno);
  std::mutex mutex;
  long parent = 0;
  const Seen seen = watch(calls, [&](int k) {
    if (k % 2 == 0) parent = syscall(SYS_getppid);
    std::lock_guard lock(mutex);
  });
  EXPECT_EQ(seen.locks, kHits);
  EXPECT_EQ(seen.runs_with_calls, kHits / 2);
  EXPECT_EQ(seen.first_call, SYS_getppid);
  EXPECT_EQ(parent, getppid());
}

TEST(QuietHits, SessionTakesNoLockAndMakesNoSystemCall) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  SystemCalls calls;
  if (!calls.watching()) GTEST_SKIP() << "this kernel doesn't tell of system calls: " << std::strerror(errno);
  jit::NativeJitOptions o;
  const Isa isa = cpu_features().isa;
  if (isa < Isa::kAvx2) GTEST_SKIP() << "no kernels are made for this processor";
  o.target = {std::string(isa_name(isa)), isa == Isa::kAvx512 ? jit::ImageIsa::kAvx512 : jit::ImageIsa::kAvx2, true};
  o.compiler = MSVM_COMPILER;
  o.disk_cache = false;
  auto engine = make_engine({.num_threads = 1});
  Devices devices({.num_threads = 1});
  auto jit = std::make_shared<jit::NativeJit>(o);
  auto program = Program::create(verified(kTwoGroups));
  ASSERT_TRUE(program.ok());
  auto native = jit->add(*program, {});
  PooledSession s(*program, devices, {}, nullptr, native->observe());
  const std::vector<Value> inputs[] = {{tensor(*engine, "f32[2, 4, 5] iota")}, {tensor(*engine, "f32[2, 4, 19] iota")}};
  std::vector<Value> results;
  native->function_ran(0, int64_t{1} << 40);
  for (int k = 0; k < 32; ++k) {
    ASSERT_TRUE(s.session.run(0, inputs[k % 2], results).ok());
    if (k % 4 == 3) jit->drain();
  }
  ASSERT_TRUE(s.session.run(0, inputs[0], results).ok());
  const JitView before = native->view();
  ASSERT_EQ(before.failed, 0) << to_text(before);
  ASSERT_GT(before.regions.at(0).fused_calls, 1) << to_text(before);
  Status status;
  for (int sizes : {1, 2}) {
    const Seen seen = watch(calls, [&](int k) { status = s.session.run(0, inputs[k % sizes], results); });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(seen.runs_with_calls, 0) << sizes << " sizes in turn; the first is system call " << seen.first_call;
    EXPECT_EQ(seen.locks, 0) << sizes << " sizes in turn";
  }
  EXPECT_EQ(native->view().specialised - before.specialised, 2 * kHits) << to_text(native->view());
}

TEST(QuietHits, AnExecutableOnlyLocksItsPoolOfSessions) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  SystemCalls calls;
  if (!calls.watching()) GTEST_SKIP() << "this kernel doesn't tell of system calls: " << std::strerror(errno);
  auto engine = make_engine({.num_threads = 1, .jit = {.disk_cache = false}, .compiler = MSVM_COMPILER});
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  const std::vector<Value> inputs{tensor(*engine, "f32[2, 4, 5] iota")};
  std::vector<Value> results;
  for (int k = 0; k < 16; ++k) {
    ASSERT_TRUE(program->run(inputs, results).ok());
    engine->drain_jit();
  }
  const int64_t before = program->jit_view().specialised;
  Status status;
  const Seen seen = watch(calls, [&](int) { status = program->run(inputs, results); });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(seen.runs_with_calls, 0) << "the first is system call " << seen.first_call;
  EXPECT_LE(seen.locks, 2 * kHits);  // to take the session and to give it back
  EXPECT_EQ(program->jit_view().specialised - before, kHits);
}

}  // namespace
}  // namespace msvm::testing
#endif  // PR_SET_SYSCALL_USER_DISPATCH
#endif
