// A debugger for terminals: a client of the adapter, with commands.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "observe/dap/client.h"

namespace msvm::cli {

using observe::dap::Json;
using observe::dap::text_in;

/// Commands go in, text comes out; docs/debugging.md lists them.
class DebugConsole {
 public:
  /// `adapter` takes requests; what it says is given to client(). `colour`: to mark what changed.
  DebugConsole(observe::dap::Output& adapter, bool colour);

  observe::dap::Client& client() { return client_; }
  /// `request`: "launch" or "attach". Returns when the program waits, has ended, or (attached) runs.
  Status begin(const char* request, Json arguments);
  /// Carries a line out and prints what it says. False: `quit`. The error is for the user.
  Result<bool> command(const std::string& line);
  /// Lets go of the program.
  void end();
  bool over() const { return over_; }
  /// Of the program, once it is over; 0: it ran well.
  int exit_code() const { return exit_code_; }
  /// What the line may go on with, for a terminal.
  std::vector<std::string> completions(const std::string& line);

  /// For Ctrl-C: the program is paused. From signal handlers.
  static void interrupt();

 private:
  struct Breakpoint {
    int number = 0;
    std::string kind, where, source;  // kind: "line", "address", "function"; source: of lines
    int64_t line = 0;
    Json options = Json::object();
    bool verified = false;
    std::string message;
    int64_t id = 0;                   // the adapter's
  };
  struct Command;
  static const std::vector<Command>& commands();

  Result<Json> call(const char* name, Json arguments = Json::object());
  Result<Json> call_of_thread(const char* name, Json arguments = Json::object());
  void take(const Json& event);
  void take_all();
  /// Until a thread stops or the program ends.
  Status wait();
  Status go(const char* request, const std::string& times);
  Status show_stop();
  Status need_stop() const;
  Result<Json> frame();  // the selected one
  Result<Json> listing(const std::string& path);
  void print_lines(const Json& listing, int64_t around, int64_t marked, int64_t more);
  Status print_source(const Json& frame, int64_t around, int64_t more);
  Status send_breakpoints(const std::string& kind, const std::string& source);
  void print_breakpoint(const Breakpoint& b);
  void print_registers(const Json& rows, bool only_changed);

  Status step(const std::string& a);
  Status next(const std::string& a);
  Status finish(const std::string& a);
  Status go_on(const std::string& a);
  Status pause(const std::string& a);
  Status set_break(const std::string& a);
  Status delete_break(const std::string& a);
  Status catch_(const std::string& a);
  Status info(const std::string& a);
  Status print(const std::string& a);
  Status set(const std::string& a);
  Status list(const std::string& a);
  Status disassemble(const std::string& a);
  Status where(const std::string& a);
  Status up_or_down(int by);
  Status select_thread(const std::string& a);
  Status kernels(const std::string& a);
  Status values(const std::string& a);
  Status save(const std::string& a);
  Status help(const std::string& a);

  observe::dap::Client client_;
  const bool colour_;

  std::mutex mutex_;  // of what the adapter says
  std::condition_variable said_;
  std::deque<Json> events_;

  bool initialized_ = false, over_ = false, stopped_ = false, new_stop_ = false;
  int exit_code_ = 0;
  int64_t thread_ = 0, frame_ = 0, next_line_ = 0;  // frame_: its position in the stack
  Json stop_;                                       // body of the last `stopped`
  std::map<std::string, Json> listings_;            // by uri
  std::string last_;                                // the line that an empty one repeats
  std::vector<Breakpoint> breakpoints_;
  int last_number_ = 0;
};

}  // namespace msvm::cli
