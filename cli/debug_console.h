// A debugger for terminals: a client of the adapter, with commands.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "observe/dap/client.h"

namespace msvm::cli {

using observe::dap::Json;
using observe::dap::text_in;

constexpr const char *kRunEnded = "The run has ended", *kThreadEnded = "The thread has ended";

/// The number that the text is; nothing if it is something else.
std::optional<int64_t> number(const std::string& text);
/// "expected WHAT, found FOUND".
Status expected(const std::string& what, const std::string& found);

/// Commands go in, text comes out; docs/debugging.md lists them.
class DebugConsole {
 public:
  /// `adapter` takes requests; what it says is given to client(). `colour`: to mark what changed.
  DebugConsole(observe::dap::Output& adapter, bool colour);

  observe::dap::Client& client() { return client_; }
  /// `request`: "launch" or "attach". Returns when the program waits, has ended, or (attached) runs.
  /// `before` is called when breakpoints can be set, and nothing has run yet.
  Status begin(const char* request, Json arguments, const std::function<Status()>& before);
  /// Carries a line out and prints what it says. False: `quit`. The error is for the user.
  Result<bool> command(const std::string& line);
  /// Whether the line says where to stop, and needs no program that waits.
  static bool prepares(const std::string& line);
  int last_breakpoint() const { return last_number_; }
  /// Breakpoints that are there and have found no place so far, and why not.
  std::vector<std::pair<int, std::string>> never_bound() const;
  /// Lets go of the program.
  void end();
  bool over() const { return over_; }
  /// Of the program, once it is over; 0: it ran well.
  int exit_code() const { return exit_code_; }
  /// What the line may go on with, for a terminal.
  std::vector<std::string> completions(const std::string& line);

  /// For Ctrl-C: the program is paused. From signal handlers.
  static void interrupt();
  /// One that came while nothing ran.
  static void forget_interrupt();
  /// Of a terminal: it names the thread where there are several.
  std::string prompt();

 private:
  struct Breakpoint {
    int number = 0;
    std::string kind, where, source;  // kind: "line", "address", "function"; source: of lines
    int64_t line = 0;
    Json options = Json::object();
    bool verified = false, was_bound = false;
    std::string message;
    int64_t id = 0;                   // the adapter's
  };
  /// A thread that waits.
  struct ThreadStop {
    int64_t thread = 0;
    Json body;                        // of `stopped`
    bool told = false, shown = false; // told: in a line; shown: with its frame
  };
  struct Command;
  static const std::vector<Command>& commands();

  Result<Json> call(const char* name, Json arguments = Json::object());
  Result<Json> call_of_thread(const char* name, Json arguments = Json::object());
  void take(const Json& event);
  void take_all();
  /// Until a thread stops, or the program ends, or the step of `thread` (0: there is none) has ended without a stop.
  Status wait(int64_t thread);
  Status go(const char* request, const std::string& times);
  Status show_stop(ThreadStop& stop);
  Status need_stop();

  void thread_stopped(const Json& body);
  void thread_goes_on(int64_t thread);
  /// Null: it doesn't wait.
  ThreadStop* stop_of(int64_t thread);
  /// A stop that hasn't been shown; null: there is none. While a thread is `stepping` (else 0): its own, or one that hasn't been told either.
  ThreadStop* unshown(int64_t stepping);
  Status read_threads();
  /// From 1, in the order in which they were seen: the adapter's own may be huge.
  int64_t number_of(int64_t thread);
  Result<int64_t> thread_of_number(const std::string& text);
  std::string thread_text(int64_t thread);  // "thread 2 (worker)"
  void select(int64_t thread);
  Status show_left(const std::string& what);
  Status select_waiting();
  void announce();
  Status let_go(int64_t thread);
  Status show_threads();

  Result<Json> frame();  // the selected one
  Result<Json> listing(const std::string& path);
  std::set<std::string> places();
  void print_lines(const Json& listing, int64_t around, int64_t marked, int64_t more);
  Status print_source(const Json& frame, int64_t around, int64_t more);
  Status send_breakpoints(const std::string& kind, const std::string& source);
  void print_breakpoint(const Breakpoint& b);
  Result<std::string> source_of_lines();
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

  bool initialized_ = false, over_ = false, attached_ = false;
  int exit_code_ = 0;
  int64_t thread_ = 0, frame_ = 0, next_line_ = 0;  // the current thread; frame_: its position in the stack
  std::vector<ThreadStop> stops_;                   // in the order in which they came
  std::map<int64_t, std::string> threads_;          // names, as far as they were asked for
  std::vector<int64_t> numbered_;                   // threads by their numbers here
  std::set<int64_t> left_, ended_;                  // threads whose step ended with its run; that are gone
  std::map<std::string, Json> listings_;            // by uri
  std::string last_;                                // the line that an empty one repeats
  std::vector<Breakpoint> breakpoints_;
  std::string program_;                             // launched
  int last_number_ = 0;
};

}  // namespace msvm::cli
