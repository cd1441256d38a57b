// One job at a time. The caller publishes it behind a gate; workers that come in time join, those that sleep too long find the
// gate shut. The caller waits only for those that joined, so a job never waits for a thread to wake.
#include "msvm/device/workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <limits>
#include <vector>

#include "msvm/device/cpu_features.h"

namespace msvm {
namespace {

constexpr int64_t kSpinNs = 40'000;      // between jobs: operators of one run follow each other within a few microseconds
constexpr int64_t kJoinSpinNs = 20'000;  // for the last chunks of others
constexpr double kMinChunkNs = 10'000;
constexpr int kMaxThreads = 1024;

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Spins, then sleeps, until word != seen. Returns the new value.
uint32_t wait_change(std::atomic<uint32_t>& word, uint32_t seen, std::atomic<uint32_t>& sleepers, int64_t spin_ns) {
  uint32_t now = word.load(std::memory_order_acquire);
  if (now != seen) return now;
  if (spin_ns > 0) {
    int64_t until = now_ns() + spin_ns;
    do {
      for (int i = 0; i < 32; ++i) {
        relax();
        if ((now = word.load(std::memory_order_acquire)) != seen) return now;
      }
    } while (now_ns() < until);
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while ((now = word.load(std::memory_order_seq_cst)) == seen) futex_wait(word, seen);
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  return now;
}

// Counts forks above this process: threads do not survive them.
std::atomic<uint64_t> g_generation{0};
void after_fork() { g_generation.fetch_add(1, std::memory_order_relaxed); }
void watch_forks() {
  static const int installed = pthread_atfork(nullptr, nullptr, after_fork);
  (void)installed;
}

int threads_from_environment() {
  const char* text = std::getenv("MSVM_NUM_THREADS");
  if (!text || !*text) return 0;
  char* end = nullptr;
  long n = std::strtol(text, &end, 10);
  return *end == 0 && n > 0 ? static_cast<int>(std::min<long>(n, kMaxThreads)) : 0;
}

/// Shared by the caller and the workers of one process.
struct Team {
  static constexpr uint32_t kOpen = 1u << 31;

  alignas(64) std::atomic<uint32_t> epoch{0};   // grows with each job
  std::atomic<uint32_t> sleeping{0};
  alignas(64) std::atomic<uint32_t> gate{0};    // kOpen | number that joined
  alignas(64) std::atomic<int64_t> next{0};     // first item nobody took
  alignas(64) std::atomic<uint32_t> left{0};    // number that joined and are done
  std::atomic<uint32_t> caller_sleeping{0};
  alignas(64) std::atomic<bool> busy{false};
  std::atomic<bool> stop{false};
  // The job: written while the gate is shut and nobody is inside.
  const FunctionRef<void(int64_t, int64_t)>* body = nullptr;
  int64_t count = 0, grain = 1;
  int64_t spin_ns = kSpinNs;
  std::vector<pthread_t> threads;

  bool join() {
    uint32_t g = gate.load(std::memory_order_relaxed);
    while (g & kOpen)
      if (gate.compare_exchange_weak(g, g + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return false;
  }

  void work() {
    for (;;) {
      // Compared before it is added to: `next` stays below count + threads * grain, which the caller keeps within 64 bits.
      if (next.load(std::memory_order_relaxed) >= count) return;
      int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) return;
      (*body)(begin, std::min(count - begin, grain) + begin);
    }
  }

  void thread_loop() {
    uint32_t seen = 0;
    for (;;) {
      seen = wait_change(epoch, seen, sleeping, spin_ns);
      if (stop.load(std::memory_order_acquire)) return;
      if (!join()) continue;
      work();
      left.fetch_add(1, std::memory_order_seq_cst);
      if (caller_sleeping.load(std::memory_order_seq_cst)) futex_wake(left, 1);
    }
  }

  void run(int64_t items, int64_t chunk, const FunctionRef<void(int64_t, int64_t)>& f) {
    body = &f;
    count = items;
    grain = chunk;
    next.store(0, std::memory_order_relaxed);
    left.store(0, std::memory_order_relaxed);
    gate.store(kOpen, std::memory_order_release);
    epoch.fetch_add(1, std::memory_order_seq_cst);
    if (uint32_t s = sleeping.load(std::memory_order_seq_cst)) {
      int64_t chunks = (items + chunk - 1) / chunk;
      futex_wake(epoch, static_cast<int>(std::min<int64_t>(s, chunks - 1)));
    }
    work();
    uint32_t joined = gate.exchange(0, std::memory_order_acq_rel) & ~kOpen;
    uint32_t done = left.load(std::memory_order_acquire);
    while (done != joined) done = wait_change(left, done, caller_sleeping, kJoinSpinNs);
  }
};

void* thread_main(void* team) {
  static_cast<Team*>(team)->thread_loop();
  return nullptr;
}

}  // namespace

struct WorkerPool::Impl {
  int threads = 1;
  std::atomic<Team*> team{nullptr};
  std::atomic<uint64_t> generation{0};
  std::atomic_flag starting = ATOMIC_FLAG_INIT;

  /// The team of this process; started at first need. Null while another thread starts it.
  Team* current() {
    uint64_t now = g_generation.load(std::memory_order_relaxed);
    Team* t = team.load(std::memory_order_acquire);
    if (t && generation.load(std::memory_order_relaxed) == now) [[likely]] return t;
    if (starting.test_and_set(std::memory_order_acquire)) {
      // After a fork the flag may be held by a thread that isn't here: then this process runs every job in the caller.
      return nullptr;
    }
    t = team.load(std::memory_order_acquire);
    if (!t || generation.load(std::memory_order_relaxed) != now) {
      // The parent's team is left alone: its threads and what they may have held do not exist here.
      auto* fresh = new Team;
      fresh->spin_ns = threads > cpu_features().cores ? 0 : kSpinNs;
      fresh->threads.reserve(static_cast<size_t>(threads - 1));
      sigset_t all, before;  // signals are for the host's threads
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &before);
      for (int i = 1; i < threads; ++i) {
        pthread_t id;
        if (pthread_create(&id, nullptr, thread_main, fresh) != 0) break;
        fresh->threads.push_back(id);
      }
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      generation.store(now, std::memory_order_relaxed);
      team.store(fresh, std::memory_order_release);
      t = fresh;
    }
    starting.clear(std::memory_order_release);
    return t;
  }
};

WorkerPool::WorkerPool(int threads) : impl_(std::make_unique<Impl>()) {
  watch_forks();
  if (threads <= 0) threads = threads_from_environment();
  if (threads <= 0) threads = cpu_features().cores;
  impl_->threads = std::clamp(threads, 1, kMaxThreads);
}

WorkerPool::~WorkerPool() {
  Team* t = impl_->team.load(std::memory_order_acquire);
  if (!t || impl_->generation.load(std::memory_order_relaxed) != g_generation.load(std::memory_order_relaxed)) return;
  t->stop.store(true, std::memory_order_release);
  t->epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(t->epoch, INT_MAX);
  for (pthread_t id : t->threads) pthread_join(id, nullptr);
  delete t;
}

int WorkerPool::threads() const { return impl_->threads; }

void WorkerPool::parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (grain >= count) return body(0, count);
  // Overshoot of the shared counter must fit: each thread adds at most one grain past the end.
  if (impl_->threads > 1 && count < std::numeric_limits<int64_t>::max() / (2 * kMaxThreads)) {
    if (Team* team = impl_->current(); team && !team->busy.exchange(true, std::memory_order_acquire)) {
      team->run(count, grain, body);
      team->busy.store(false, std::memory_order_release);
      return;
    }
  }
  for (int64_t begin = 0; begin < count; begin += std::min(grain, count - begin)) body(begin, begin + std::min(grain, count - begin));
}

int64_t grain_for(int64_t count, double nanoseconds_per_item) {
  if (count <= 1) return 1;
  double per_item = std::max(nanoseconds_per_item, 1e-3);
  double total = per_item * static_cast<double>(count);
  if (!(total >= 2 * kMinChunkNs)) return count;
  // Not more than 64 chunks: enough to level out any team that fits one machine, and the cost of a chunk stays small.
  double items = std::max(kMinChunkNs / per_item, static_cast<double>(count) / 64.0);
  int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(items));
  if (grain > 64) grain = (grain + 63) / 64 * 64;
  return std::min(grain, count);
}

}  // namespace msvm
