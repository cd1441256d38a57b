// One row for each thread, whoever knows it. Private to the room.
#pragma once
#include <functional>
#include <map>

#include "observe/dap/merge/side.h"

namespace msvm::observe::dap::merge {

/// What stops a thread in Python once it is back from a run.
enum class Pending : uint8_t {
  kNone,
  kStep,  // the client's own step, which debugpy hasn't ended
  kBack,  // a pause that debugpy was asked for while the thread was in bytecode, so that a step out of that ends
};

struct Thread {
  int64_t id = 0;                  // the client's
  int64_t python = -1, bytecode = -1;  // at the servers; -1: not known there
  bool stopped = false;
  Side where = Side::kPython;      // of one that is stopped
  Pending pending = Pending::kNone;
  bool armed = false;              // its next run stops at its first instruction: a step into it
  bool pausing = false;            // the client wants it to pause
  bool taken_back = false;         // bytecode's server was asked for a pause, too, and Python was first: that is over before the thread goes on
  bool leaving = false;            // debugpy was told to let it go on, and hasn't said that it does: a pause would be lost now
  std::function<void()> left;      // what waits for that

  int64_t on(Side side) const { return side == Side::kPython ? python : bytecode; }
};

class Threads {
 public:
  Thread& of_python(int64_t id);
  /// `host`: what debugpy calls it; -1 if it doesn't know it. Once it does, the thread has the id that debugpy's had, unless it is stopped: then it keeps its own.
  Thread& of_bytecode(int64_t id, int64_t host);
  /// By the client's id; null: there is none.
  Thread* find(int64_t id);
  /// The client's id of it.
  int64_t erase_python(int64_t id);
  std::map<int64_t, Thread>& all() { return all_; }

 private:
  std::map<int64_t, Thread> all_;
  std::map<int64_t, int64_t> by_python_, by_bytecode_;  // its id there -> the client's
};

}  // namespace msvm::observe::dap::merge
