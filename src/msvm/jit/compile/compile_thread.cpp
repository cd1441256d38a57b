// What other threads call; compile_loop.cpp has the JIT thread's side.
#include "msvm/jit/compile/compile_thread.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "msvm/base/no_signals.h"

namespace msvm::jit {
namespace {

constexpr size_t kShown = 32;  // queued jobs in a view

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

CompileQueue::Thread::Thread(const CompileQueue& queue)
    : options_(queue.options_),
      deadline_(queue.deadline_),
      generation_(queue.generation_),
      process_(::getpid()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      cpu_(options_.cpu_share, options_.cpu_burst),
      raised_(options_.raised_share, options_.raised_burst),
      compiler_(options_.compiler) {}

CompileQueue::Thread::~Thread() {
  if (wake_ >= 0) ::close(wake_);
}

bool CompileQueue::Thread::of_this_process() const { return process_ == ::getpid(); }

void CompileQueue::Thread::end() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake();
    if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) {
      orphaned_ = true;
      thread_.detach();
      return;
    }
  }
  if (thread_.joinable()) thread_.join();
  delete this;
}

void CompileQueue::Thread::stop() {
  {
    std::lock_guard lock(mutex_);
    if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id()) return;
    if (std::exchange(stopping_, true)) return;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void CompileQueue::Thread::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof(one));
}

void CompileQueue::Thread::ensure_started() {
  if (thread_.joinable() || stopping_) return;
  const NoSignals no_signals;
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error&) {  // no more threads: jobs wait for the next submission
  }
}

bool CompileQueue::Thread::better(const Entry& a, const Entry& b) const {
  if (a.urgency != b.urgency) return a.urgency > b.urgency;
  const double gain_a = a.gain / estimate(a), gain_b = b.gain / estimate(b);
  return gain_a != gain_b ? gain_a > gain_b : a.order < b.order;
}

std::unique_ptr<CompileQueue::Thread::Entry> CompileQueue::Thread::take(Entry& entry) {
  auto it = jobs_.find(entry.key());
  auto taken = std::move(it->second);
  jobs_.erase(it);
  return taken;
}

void CompileQueue::Thread::tell(std::vector<Waiter> waiters, CompileResult result) {
  ++totals_.outcomes[static_cast<size_t>(result.outcome)];
  auto shared = std::make_shared<const CompileResult>(std::move(result));
  for (Waiter& w : waiters) deliveries_.push_back({std::move(w), shared});
}

void CompileQueue::Thread::complete(Entry& entry, CompileResult result) {
  auto taken = take(entry);
  tell(std::move(taken->waiters), std::move(result));
}

/// Too many: the one of least worth goes.
void CompileQueue::Thread::shed() {
  if (jobs_.size() <= options_.max_queued) return;
  Entry* worst = nullptr;
  for (auto& [key, e] : jobs_) {
    if (!e->held && e.get() != running_ && (!worst || better(*worst, *e))) worst = e.get();
  }
  if (worst)
    complete(*worst,
             {.outcome = Outcome::kQueueFull, .error = fmt::format("{} requests of more worth wait already", options_.max_queued)});
}

void CompileQueue::Thread::submit(CompileJob job) {
  auto entry = std::make_unique<Entry>();
  entry->request = std::move(job.request);
  Waiter waiter{job.owner, std::move(job.done)};
  Lock lock(mutex_);
  ensure_started();
  if (auto it = jobs_.find(entry->key()); it != jobs_.end()) {
    Entry& e = *it->second;
    e.gain += job.gain;
    e.urgency = std::max(e.urgency, job.urgency);
    e.waiters.push_back(std::move(waiter));
    ++totals_.joined;
  } else if (const auto* failure = failures_.find(entry->key(), generation_)) {
    std::vector<Waiter> waiters;
    waiters.push_back(std::move(waiter));
    tell(std::move(waiters),
         {.outcome = Outcome::kFailedBefore,
          .error = fmt::format("{} before, and nothing changed since: {}", outcome_info(failure->outcome).text, failure->error)});
  } else {
    entry->label = std::move(job.label);
    entry->gain = job.gain;
    entry->urgency = job.urgency;
    entry->order = order_++;
    entry->probed = !options_.store;
    entry->waiters.push_back(std::move(waiter));
    const std::string_view key = entry->key();
    jobs_.emplace(key, std::move(entry));
    shed();
  }
  wake();
}

void CompileQueue::Thread::post(Owner owner, Urgency urgency, std::function<void()> work) {
  Lock lock(mutex_);
  ensure_started();
  work_.emplace(std::pair(-static_cast<int>(urgency), order_++), Work{owner, std::move(work)});
  wake();  // with the lock: the job may end the queue
}

void CompileQueue::Thread::cancel(Owner owner) {
  // What goes is destroyed without the lock: a destructor may call the queue again.
  std::vector<Waiter> waiters;
  std::vector<Work> works;
  std::vector<std::unique_ptr<Entry>> entries;
  Lock lock(mutex_);
  auto forget = [&] {
    for (auto it = jobs_.begin(); it != jobs_.end();) {
      Entry& e = *it->second;
      auto gone = std::partition(e.waiters.begin(), e.waiters.end(), [&](const Waiter& w) { return w.owner != owner; });
      const bool wanted = gone != e.waiters.begin();
      const bool lost = gone != e.waiters.end();
      waiters.insert(waiters.end(), std::make_move_iterator(gone), std::make_move_iterator(e.waiters.end()));
      e.waiters.erase(gone, e.waiters.end());
      if (lost && !wanted && !e.held && &e != running_) {
        ++totals_.outcomes[static_cast<size_t>(Outcome::kCancelled)];
        entries.push_back(std::move(it->second));
        it = jobs_.erase(it);
      } else {
        ++it;
      }
    }
    std::erase_if(deliveries_, [&](Delivery& d) {
      if (d.waiter.owner != owner) return false;
      waiters.push_back(std::move(d.waiter));
      return true;
    });
    std::erase_if(work_, [&](auto& w) {
      if (w.second.owner != owner) return false;
      works.push_back(std::move(w.second));
      return true;
    });
  };
  forget();
  wake();  // for a running job that nobody wants
  if (thread_.get_id() != std::this_thread::get_id()) {
    changed_.wait(lock, [&] { return !calling_ || calling_owner_ != owner; });
    forget();  // what the call that was waited for has asked for
  }
  if (idle()) changed_.notify_all();
  lock.unlock();
}

void CompileQueue::Thread::drain() {
  Lock lock(mutex_);
  if (thread_.get_id() == std::this_thread::get_id()) return;
  changed_.wait(lock, [&] { return idle() || stopping_ || !thread_.joinable(); });
}

QueueView CompileQueue::Thread::view() {
  Lock lock(mutex_);
  QueueView v = totals_;
  const double t = now();
  std::vector<const Entry*> queued;
  for (const auto& [key, e] : jobs_) {
    if (e.get() != running_) queued.push_back(e.get());
  }
  std::sort(queued.begin(), queued.end(), [&](const Entry* a, const Entry* b) { return better(*a, *b); });
  for (size_t i = 0; i < std::min(queued.size(), kShown); ++i) {
    v.next.push_back({queued[i]->label, queued[i]->urgency, queued[i]->gain, estimate(*queued[i])});
  }
  if (running_) v.running = {running_->label, running_->waiters.empty() ? 0 : running_->waiters.front().owner, compiler_.phase(), t - running_since_, running_estimate_};
  v.queued = queued.size();
  v.work = work_.size();
  v.budget = cpu_.tokens(t);
  v.generation = generation_;
  return v;
}

}  // namespace msvm::jit
