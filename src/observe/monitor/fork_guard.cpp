#include "observe/monitor/fork_guard.h"

#include <pthread.h>
#include <sys/stat.h>
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

ino_t identity(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

ForkGuard::ForkGuard(size_t capacity) : places_(capacity), pid_(::getpid()) {
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
  for (size_t i = 0; i < places_.size(); ++i) {
    Place& p = places_[i];
    if (int free = kFree; !p.fd.compare_exchange_strong(free, kTaken)) continue;
    p.socket = identity(fd);
    p.fd.store(fd, std::memory_order_release);
    return i;
  }
  return places_.size();
}

void ForkGuard::remove(size_t place) {
  if (place < places_.size()) places_[place].fd.store(kFree);
}

bool ForkGuard::is_ours() const { return ::getpid() == pid_; }

void ForkGuard::close_all() {
  for (Place& p : places_)
    if (const int fd = p.fd.exchange(kFree); fd >= 0 && identity(fd) == p.socket) ::close(fd);
}

}  // namespace msvm::observe
