// Numbers of frames and variables, good until their thread goes on. Private to the room.
#pragma once
#include <functional>
#include <map>
#include <mutex>

#include "observe/dap/json.h"
#include "observe/debug/debugger.h"

namespace msvm::observe::dap {

struct Frame {
  debug::FrameRef at{0};
  enum Kind : uint8_t { kBytecode, kCall, kHost } kind = kBytecode;
  int64_t host = 0;  // kHost: its id there
};

/// Rows of a list from `start` on; `count` 0: all the others.
struct Part {
  int64_t start = 0, count = 0;
};

/// What can be unfolded. `list` gives rows of the protocol's `variables`: the part, or, if `whole`, all of them, of which the part is taken.
struct Variables {
  std::function<Result<std::vector<Json>>(Part)> list;
  std::function<Result<Json>(const std::string& name, const std::string& value)> set;  // null: nothing of it can be changed
  bool whole = true;
};

/// Of the thread that handles requests, but for thread_goes_on().
class Handles {
 public:
  int64_t add(Frame frame);
  /// `thread` kAnyThread: of no thread; good until there are too many.
  int64_t add(debug::ThreadId thread, Variables variables);
  /// The error says that it isn't good any more.
  Result<Frame> frame(int64_t id);
  Result<Variables> variables(int64_t id);
  /// From any thread.
  void thread_goes_on(debug::ThreadId thread);

 private:
  struct Entry {
    debug::ThreadId thread;
    uint64_t epoch;
    std::optional<Frame> frame;
    Variables variables;
  };
  int64_t add(Entry entry);
  Result<Entry*> find(int64_t id, const char* what);
  uint64_t epoch(debug::ThreadId thread);
  void tidy();

  std::mutex mutex_;  // of epochs_
  std::map<debug::ThreadId, uint64_t> epochs_;
  std::map<int64_t, Entry> entries_;
  int64_t last_ = 0;
};

}  // namespace msvm::observe::dap
