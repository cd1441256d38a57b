// The JIT thread: tells results, runs small jobs, asks the store, keeps the compiler busy; sleeps until one of these has something.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "msvm/jit/compile/compile_thread.h"

namespace msvm::jit {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void CompileQueue::Thread::loop() {
  ::pthread_setname_np(::pthread_self(), "msvm-jit");
  Lock lock(mutex_);
  idle_since_ = now();
  while (!stopping_) {
    if (deliver(lock) || write_one(lock)) continue;
    work_one(lock);
    probe_one(lock);
    drop_unwanted(lock);
    if (!running_ && !stopping_) start_best(lock);
    if (idle()) changed_.notify_all();
    await_compiler(lock, timeout(now()));
  }
  // Code that cost time to make outlives the process.
  while (write_one(lock)) {}
  changed_.notify_all();
  const bool orphaned = orphaned_;
  lock.unlock();
  compiler_.stop();
  if (orphaned) delete this;
}

/// Calls without the lock; cancel() of the owner waits for it.
void CompileQueue::Thread::run_for(Lock& lock, Owner owner, const std::function<void()>& call) {
  calling_ = true;
  calling_owner_ = owner;
  lock.unlock();
  call();
  lock.lock();
  calling_ = false;
  changed_.notify_all();
}

bool CompileQueue::Thread::deliver(Lock& lock) {
  if (deliveries_.empty()) return false;
  Delivery d = std::move(deliveries_.front());
  deliveries_.pop_front();
  run_for(lock, d.waiter.owner, [&] {
    if (d.waiter.done) d.waiter.done(*d.result);
    d = {};  // what it holds is the owner's, too
  });
  return true;
}

bool CompileQueue::Thread::write_one(Lock& lock) {
  if (to_store_.empty()) return false;
  ToStore s = std::move(to_store_.front());
  to_store_.pop_front();
  run_for(lock, 0, [&] { options_.store->store(s.request, *s.image, s.label); });
  return true;
}

void CompileQueue::Thread::work_one(Lock& lock) {
  if (work_.empty()) return;
  Work w = std::move(work_.begin()->second);
  work_.erase(work_.begin());
  run_for(lock, w.owner, [&] {
    w.run();
    w.run = {};
  });
}

void CompileQueue::Thread::probe_one(Lock& lock) {
  Entry* entry = nullptr;
  for (auto& [key, e] : jobs_) {
    if (!e->probed && (!entry || better(*e, *entry))) entry = e.get();
  }
  if (!entry) return;
  entry->probed = entry->held = true;
  const double began = now();
  Image image;
  lock.unlock();
  image = options_.store->load(entry->request);
  lock.lock();
  entry->held = false;
  if (!image) return;  // if nobody wants it any more, drop_unwanted() sees to it
  complete(*entry, {.outcome = Outcome::kFromDisk, .image = std::move(image), .seconds = now() - began});
}

/// Entries that lost their waiters while the loop held them, the running one among them.
void CompileQueue::Thread::drop_unwanted(Lock& lock) {
  std::vector<Entry*> unwanted;
  for (auto& [key, e] : jobs_) {
    if (!e->waiters.empty()) continue;
    e->held = true;
    unwanted.push_back(e.get());
  }
  for (Entry* e : unwanted) {
    if (e == running_) {
      running_ = nullptr;
      lock.unlock();
      const CompileResult result = compiler_.cancel();
      lock.lock();
      totals_.cpu_seconds += result.cpu_seconds;
      cpu_.spend(result.cpu_seconds, now());
      idle_since_ = now();
    }
    e->held = false;
    if (e->waiters.empty()) {
      ++totals_.outcomes[static_cast<size_t>(Outcome::kCancelled)];
      (void)take(*e);
    }  // else somebody joined meanwhile: it is queued again
  }
}

CompileQueue::Thread::Entry* CompileQueue::Thread::best() {
  Entry* best = nullptr;
  for (auto& [key, e] : jobs_) {
    if (e->probed && !e->waiters.empty() && (!best || better(*e, *best))) best = e.get();
  }
  return best;
}

void CompileQueue::Thread::start_best(Lock& lock) {
  Entry* entry = best();
  const double t = now();
  if (!entry || compiler_.back_off() > 0) return;
  const bool waited = entry->urgency == Urgency::kWaited;
  if (!waited && cpu_.tokens(t) <= 0) return;
  running_ = entry;
  running_since_ = t;
  running_estimate_ = estimate(*entry);
  running_generation_ = generation_;
  const double raise_after = waited ? 0 : raised_.tokens(t) > 0 ? options_.raise_after : INFINITY;
  lock.unlock();
  compiler_.begin(entry->request, {.deadline = deadline_, .raise_after = raise_after});
  lock.lock();
  totals_.compiler = compiler_.pid();
  totals_.compiler_starts = compiler_.starts();
}

/// Seconds to sleep if nothing calls.
double CompileQueue::Thread::timeout(double t) {
  if (stopping_ || !deliveries_.empty() || !work_.empty() || !to_store_.empty()) return 0;
  double wait = 3600;
  for (const auto& [key, e] : jobs_) {
    if (!e->probed || (e->waiters.empty() && e.get() == running_)) return 0;
  }
  if (running_) return wait;
  if (const Entry* entry = best()) {
    wait = compiler_.back_off();
    if (entry->urgency != Urgency::kWaited) wait = std::max(wait, cpu_.wait(t));
  } else if (compiler_.pid() > 0) {
    wait = std::max(0.0, idle_since_ + options_.idle_stop - t);
    if (wait == 0) compiler_.stop();
  }
  return std::min(wait, 3600.0);
}

void CompileQueue::Thread::await_compiler(Lock& lock, double seconds) {
  if (wake_ < 0) seconds = std::min(seconds, 0.05);  // no descriptors were left
  lock.unlock();
  std::optional<CompileResult> result = compiler_.wait(wake_, seconds);
  uint64_t wakes;
  (void)!::read(wake_, &wakes, sizeof(wakes));
  lock.lock();
  if (result) finished(std::move(*result));
  totals_.compiler = compiler_.pid();
  totals_.compiler_starts = compiler_.starts();
}

void CompileQueue::Thread::finished(CompileResult result) {
  Entry& entry = *running_;
  running_ = nullptr;
  const double t = now();
  idle_since_ = t;
  totals_.cpu_seconds += result.cpu_seconds;
  cpu_.spend(result.cpu_seconds, t);
  if (result.raised) raised_.spend(result.cpu_seconds, t);
  if (result.outcome == Outcome::kCompiled || result.outcome == Outcome::kTimedOut)
    estimate_.learn(entry.request.size(), result.seconds);
  if (result.outcome == Outcome::kCompiled) {
    for (size_t i = 0; i < kPhases; ++i) totals_.phases[i].add(result.phases[i]);
    totals_.compiled.add(result.seconds);
    if (options_.store) to_store_.push_back({entry.request, entry.label, result.image});
  } else if (outcome_info(result.outcome).kind == OutcomeKind::kFailure) {
    failures_.remember(entry.key(), {running_generation_, result.outcome, result.error});
  }
  complete(entry, std::move(result));
}

}  // namespace msvm::jit
