// Takes a sample each second while somebody watches. Private to the room.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace msvm::observe {

/// begin() and end() count; between the first and the last a thread calls `sample`. Thread-safe. In the child of a fork there is no
/// thread until somebody begins anew.
class Sampler {
 public:
  explicit Sampler(std::function<void()> sample) : sample_(std::move(sample)) {}
  ~Sampler();
  void begin();
  void end();

 private:
  void run();

  const std::function<void()> sample_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int watchers_ = 0;
  int process_ = 0;
  std::thread thread_;
};

}  // namespace msvm::observe
