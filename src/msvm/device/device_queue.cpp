#include "msvm/device/device_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace msvm {

struct DeviceQueue::Impl {
  std::mutex mutex;
  std::condition_variable pushed, done;
  std::deque<std::function<void()>> jobs;  // that wait
  Ticket last = 0, finished = 0;
  bool stop = false;
  std::thread thread;

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      pushed.wait(lock, [&] { return stop || !jobs.empty(); });
      if (jobs.empty()) return;
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr;  // what it holds goes before anyone hears of its end
      lock.lock();
      ++finished;
      done.notify_all();
    }
  }
};

DeviceQueue::DeviceQueue() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([this] { impl_->loop(); });
}

DeviceQueue::~DeviceQueue() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->pushed.notify_one();
  impl_->thread.join();
}

DeviceQueue::Ticket DeviceQueue::push(std::function<void()> job) {
  std::lock_guard lock(impl_->mutex);
  impl_->jobs.push_back(std::move(job));
  impl_->pushed.notify_one();
  return ++impl_->last;
}

void DeviceQueue::wait(Ticket t) {
  std::unique_lock lock(impl_->mutex);
  impl_->done.wait(lock, [&] { return impl_->finished >= t; });
}

void DeviceQueue::wait() {
  std::unique_lock lock(impl_->mutex);
  const Ticket t = impl_->last;
  impl_->done.wait(lock, [&] { return impl_->finished >= t; });
}

}  // namespace msvm
