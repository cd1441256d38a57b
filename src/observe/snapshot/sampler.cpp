#include "observe/snapshot/sampler.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>

#include "observe/snapshot/history.h"

namespace msvm::observe {

Sampler::~Sampler() {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) return;
  if (process_ != ::getpid()) {
    thread_.detach();
    return;
  }
  watchers_ = 0;
  changed_.notify_all();
  lock.unlock();
  thread_.join();
}

void Sampler::begin() {
  std::lock_guard lock(mutex_);
  if (thread_.joinable() && process_ != ::getpid()) {  // of the parent
    thread_.detach();
    watchers_ = 0;
  }
  if (watchers_++ > 0) return;
  process_ = ::getpid();
  thread_ = std::thread([this] { run(); });
}

void Sampler::end() {
  std::thread done;
  {
    std::lock_guard lock(mutex_);
    if (watchers_ == 0 || process_ != ::getpid() || --watchers_ > 0) return;
    changed_.notify_all();
    done = std::move(thread_);
  }
  done.join();
}

void Sampler::run() {
  pthread_setname_np(pthread_self(), "msvm-history");
  const auto step = std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(History::kStep));
  std::unique_lock lock(mutex_);
  for (auto next = std::chrono::steady_clock::now();; next += step) {
    lock.unlock();
    sample_();
    lock.lock();
    if (changed_.wait_until(lock, next + step, [&] { return watchers_ == 0; })) return;
  }
}

}  // namespace msvm::observe
