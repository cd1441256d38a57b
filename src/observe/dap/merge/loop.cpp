#include "observe/dap/merge/loop.h"

#include <utility>

namespace msvm::observe::dap::merge {

Loop::Loop() : thread_([this] { run(); }) {}

void Loop::post(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  waiting_.push_back(std::move(work));
  changed_.notify_one();
}

void Loop::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    {
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
    }  // what it holds goes without the lock
    lock.lock();
  }
}

void Loop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace msvm::observe::dap::merge
