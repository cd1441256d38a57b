// A thread that does what others give it, one after the other. Private to the room.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace msvm::observe::dap::merge {

class Loop {
 public:
  Loop();
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// From any thread. Once it is stopped, nothing is done any more.
  void post(std::function<void()> work);
  /// Waits for what is being done; what waits is dropped. Not from the loop itself.
  void stop();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace msvm::observe::dap::merge
