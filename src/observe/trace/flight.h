// The flight recorder: the last seconds of the event stream in memory, for the moment in which something goes wrong.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "observe/trace/block.h"
#include "observe/trace/handover.h"

namespace msvm::observe {

struct FlightOptions {
  double seconds = 30;                  // at least; twice as many at most
  int64_t max_bytes = 64 << 20;
  std::string folder = "ms_bc_trace";   // of dumps; made when needed
  bool on_crash = true;                 // SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT write a dump, then do what they did before
};

/// Filled by one thread; dump() from any, with the recorder's lock held.
class Flight {
 public:
  explicit Flight(FlightOptions options);
  ~Flight();
  void add(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped);
  /// Header and blocks, what rings still hold included if `rings`; nothing but system calls. False: errno.
  bool write_to(int fd, bool rings) const;
  const FlightOptions& options() const { return options_; }

 private:
  /// Blocks never move: a signal handler may read them at any time.
  struct Part {
    static constexpr size_t kMostBlocks = 1 << 14;
    std::array<std::atomic<const Block*>, kMostBlocks> blocks{};
    std::atomic<size_t> count{0};
    std::vector<std::unique_ptr<const Block>> owned;
    int64_t bytes = 0;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };
  void append(std::vector<Block> blocks);
  bool full() const;

  const FlightOptions options_;
  const FileHeader header_;
  std::unique_ptr<Part> before_, now_, retired_;
  std::atomic<const Part*> seen_before_{nullptr}, seen_now_{nullptr};
  uint64_t sequence_ = 0;
  Handover handover_;
};

}  // namespace msvm::observe
