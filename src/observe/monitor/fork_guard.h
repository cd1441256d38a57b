// Sockets that a forked child must not keep: their descriptors are closed there.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace msvm::observe {

/// Descriptors that one monitor has open. Lock-free, since a fork may come at any moment.
class ForkGuard {
 public:
  explicit ForkGuard(size_t capacity);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
  /// The place to give back with remove(); with more than `capacity` a descriptor isn't kept.
  size_t add(int fd);
  void remove(size_t place);
  /// Whether this process is the one that made it.
  bool is_ours() const;
  /// In a child after fork.
  void close_all();

 private:
  struct Place {
    std::atomic<int> fd{kFree};
    ino_t socket = 0;  // which one it is: the number may have been closed, and given to another
  };
  static constexpr int kFree = -1, kTaken = -2;

  std::vector<Place> places_;
  const int pid_;
};

}  // namespace msvm::observe
