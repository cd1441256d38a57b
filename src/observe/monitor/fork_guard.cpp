#include "observe/monitor/fork_guard.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace msvm::observe {
namespace {

struct Guards {
  std::mutex mutex;  // held over a fork, so that the child's is in order
  std::set<ForkGuard*> all;
};
Guards& guards() {
  static Guards& one = *new Guards;  // forks may come while the process ends
  return one;
}

void before_fork() { guards().mutex.lock(); }
void in_parent() { guards().mutex.unlock(); }
void in_child() {
  for (ForkGuard* g : guards().all) g->close_all();
  guards().mutex.unlock();
}

}  // namespace

ForkGuard::ForkGuard(size_t capacity) : fds_(capacity), pid_(::getpid()) {
  for (auto& fd : fds_) fd.store(-1, std::memory_order_relaxed);
  static const int installed = pthread_atfork(before_fork, in_parent, in_child);
  (void)installed;
  std::lock_guard lock(guards().mutex);
  guards().all.insert(this);
}

ForkGuard::~ForkGuard() {
  std::lock_guard lock(guards().mutex);
  guards().all.erase(this);
}

size_t ForkGuard::add(int fd) {
  for (size_t i = 0; i < fds_.size(); ++i)
    if (int free = -1; fds_[i].compare_exchange_strong(free, fd)) return i;
  return fds_.size();
}

void ForkGuard::remove(size_t place) {
  if (place < fds_.size()) fds_[place].store(-1);
}

bool ForkGuard::is_ours() const { return ::getpid() == pid_; }

void ForkGuard::close_all() {
  for (auto& fd : fds_)
    if (const int n = fd.exchange(-1); n >= 0) ::close(n);
}

}  // namespace msvm::observe
