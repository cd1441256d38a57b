// Inside of CompileQueue: what one process's queue consists of, and the loop of its thread.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "msvm/jit/compile/compile_estimate.h"
#include "msvm/jit/compile/compile_queue.h"
#include "msvm/jit/compile/failure_memory.h"
#include "msvm/jit/compile/token_bucket.h"

namespace msvm::jit {

class CompileQueue::Thread {
 public:
  explicit Thread(const CompileQueue& queue);
  ~Thread();
  bool of_this_process() const;
  /// Ends the loop and frees this object: now, or when the loop ends if it is the loop that calls.
  void stop();
  void end();

  void submit(CompileJob job);
  void post(Owner owner, Urgency urgency, std::function<void()> work);
  void cancel(Owner owner);
  QueueView view();
  void drain();

 private:
  struct Waiter {
    Owner owner;
    std::function<void(const CompileResult&)> done;
  };
  struct Entry {
    std::vector<std::byte> request;
    std::string label;
    double gain = 0;
    Urgency urgency = Urgency::kIdle;
    uint64_t order = 0;
    bool probed = false;  // the store was asked
    bool held = false;    // the loop works on it without the lock: only the loop may erase it
    std::vector<Waiter> waiters;
    std::string_view key() const { return {reinterpret_cast<const char*>(request.data()), request.size()}; }
  };
  struct Delivery {
    Waiter waiter;
    std::shared_ptr<const CompileResult> result;
  };
  struct Work {
    Owner owner;
    std::function<void()> run;
  };
  struct ToStore {
    std::vector<std::byte> request;
    std::string label;
    Image image;
  };
  using Lock = std::unique_lock<std::mutex>;

  void ensure_started();
  void wake() const;
  void loop();
  bool deliver(Lock& lock);
  bool write_one(Lock& lock);
  void work_one(Lock& lock);
  void probe_one(Lock& lock);
  void drop_unwanted(Lock& lock);
  void start_best(Lock& lock);
  double timeout(double now);
  void await_compiler(Lock& lock, double seconds);
  void finished(CompileResult result);
  void run_for(Lock& lock, Owner owner, const std::function<void()>& call);
  void complete(Entry& entry, CompileResult result);
  void tell(std::vector<Waiter> waiters, CompileResult result);
  std::unique_ptr<Entry> take(Entry& entry);
  void shed();
  double estimate(const Entry& e) const { return estimate_.seconds(e.request.size()); }
  bool better(const Entry& a, const Entry& b) const;
  Entry* best();
  bool idle() const { return jobs_.empty() && work_.empty() && deliveries_.empty() && to_store_.empty() && !calling_; }

  const QueueOptions options_;
  const std::atomic<double>& deadline_;
  const std::atomic<uint64_t>& generation_;
  const pid_t process_;
  int wake_;

  std::mutex mutex_;
  std::condition_variable changed_;  // a function of an owner ended, or nothing is left to do
  std::thread thread_;
  bool stopping_ = false, orphaned_ = false;
  std::unordered_map<std::string_view, std::unique_ptr<Entry>> jobs_;  // queued, held and running ones, by their bytes
  Entry* running_ = nullptr;
  std::deque<Delivery> deliveries_;
  std::map<std::pair<int, uint64_t>, Work> work_;  // by falling urgency, then order
  std::deque<ToStore> to_store_;
  bool calling_ = false;
  Owner calling_owner_ = 0;
  uint64_t order_ = 0;

  CompileEstimate estimate_;
  FailureMemory failures_;
  TokenBucket cpu_, raised_;
  double running_since_ = 0, running_estimate_ = 0, idle_since_ = 0;
  uint64_t running_generation_ = 0;
  QueueView totals_;          // its counters
  CompilerProcess compiler_;  // the loop's; phase() is everybody's
};

}  // namespace msvm::jit
