// What the language that called a run knows of the thread that waits in it: its own frames and their variables; and its own debugger.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe::dap {

struct HostFrame {
  int64_t id = 0;                // from 1, small; for variables() and evaluate()
  std::string name, file;
  int32_t line = 0;              // from 1
};

struct HostVariable {
  std::string name, value, type;
  int64_t children = 0;          // for variables(); 0: it has none
};

/// Threads are given by pthread_self(). Ids are good until release(). Thread-safe; nothing here runs the program further, or fails for what its values do.
class HostFrames {
 public:
  virtual ~HostFrames() = default;
  /// Innermost first; those of the library itself are left out.
  virtual std::vector<HostFrame> frames(uint64_t thread) = 0;
  /// The locals of a frame, or what a value consists of.
  virtual std::vector<HostVariable> variables(int64_t id) = 0;
  /// In the frame. The error says what the language says.
  virtual Result<HostVariable> evaluate(int64_t frame, const std::string& expression) = 0;
  /// Ids given for the thread mean nothing any more: it goes on.
  virtual void release(uint64_t thread) = 0;

  /// Empty: not a thread of the language.
  virtual std::string thread_name(uint64_t thread) = 0;
  /// The id that the language's own debugger shows for it; -1: there is none, or it doesn't know the thread.
  virtual int64_t debugger_id(uint64_t thread) = 0;
  /// The reverse; 0: not known.
  virtual uint64_t thread_of_debugger_id(int64_t id) = 0;

  /// The folder of the library in that language, which a user doesn't step into.
  virtual std::string library() = 0;
  /// The language's own debugger connects to `port` of 127.0.0.1, and shows `token` there. Waits until the language can be spoken to, which is long while
  /// it calculates without it; the error says what is missing and what mends it.
  virtual Status start_debugger(uint16_t port, const std::string& token) = 0;
  /// It goes, and threads run as if it had never been there. Waits, too. Without one: nothing.
  virtual void stop_debugger() = 0;
};

}  // namespace msvm::observe::dap
