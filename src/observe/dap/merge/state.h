// What the parts of a session share. Private to the room.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/dap/merge/acceptor.h"
#include "observe/dap/merge/breakpoint_check.h"
#include "observe/dap/merge/breakpoints.h"
#include "observe/dap/merge/process.h"
#include "observe/dap/merge/python.h"
#include "observe/dap/merge/threads.h"
#include "observe/dap/merge/request.h"
#include "observe/dap/merge/upstream.h"

namespace msvm::observe::dap::merge {

/// One of the two servers, and how far it has come.
struct Server {
  std::unique_ptr<Upstream> upstream;  // null: there is none, or not yet
  bool ready = false;                  // it takes breakpoints
  bool configured = false;             // configurationDone was sent

  bool open() const { return upstream && upstream->open(); }
};

/// Everything but `loop` is of the loop's thread.
struct State {
  State(Output& to, std::function<void()> o) : client(to), on_over(std::move(o)) {}
  /// Stops the loop first: nothing comes any more.
  ~State();

  Loop loop;
  Output& client;
  const std::function<void()> on_over;
  Json initialize;                       // its arguments: both servers count lines as the client does
  int64_t seq = 0;

  LaunchArguments launch;
  bool just_my_code = true, wants_debugpy = true;
  std::string library;                   // the folder of the package msvm, which isn't stepped into
  std::optional<Interpreter> python;     // of a launch
  std::string program;
  std::optional<Request> starting;       // launch or attach, until it is answered
  std::optional<Request> ending;         // disconnect, until the program has ended
  bool attached = false;                 // to a process that was there before
  bool begun = false;                    // of those: the client may set breakpoints
  std::vector<Json> early;               // what the process's own server told before
  bool configured = false;               // the client has sent configurationDone
  bool process_ended = false;            // the one that was launched
  bool over = false;                     // `terminated` is out, or the client has left

  Server servers[2];
  Server& of(Side side) { return servers[static_cast<int>(side)]; }
  Threads threads;
  Breakpoints breakpoints;
  std::optional<FailedCondition> failed_condition;  // of the Python breakpoint that stops next
  std::string token;                     // of debugpy
  int early_socket = -1;                 // debugpy in a process that is attached to, until the answer about it is here
  int their_socket = -1;                 // the launched program's end, until it has it

  std::unique_ptr<Process> process;
  std::unique_ptr<Acceptor> acceptor;

  // --- to the client
  void send(Json message);
  void event(const char* name, Json body = Json::object());
  void output(const char* category, std::string text);
  void respond(const Request& request, Json body = Json::object());
  void fail(const Request& request, const std::string& message, StatusCode code = StatusCode::kInvalidArgument);
  /// An answer of `side` as the answer to `request`.
  void relay(const Request& request, Side side, const Json& answer);

  // --- to the servers
  /// With ids that mean something there. `then` may be empty.
  void ask(Side side, const std::string& command, Json arguments, Upstream::OnMessage then = nullptr);
  /// As `request` came, and the answer relayed; a failure if there is no such server.
  void forward(Side side, const Request& request);
};

bool succeeded(const Json& answer);
/// Its message; never empty.
std::string message_of(const Json& answer);
/// Its body; an empty object if it has none.
Json body_of(const Json& answer);

// lifecycle.cpp
void begin_launch(State& s, const Request& r);
void begin_attach(State& s, const Request& r);
/// Once, when it is known whether debugpy comes, or it takes too long.
void begin_attached(State& s);
void configuration_done(State& s, const Request& r);
void terminate(State& s, const Request& r);
void disconnect(State& s, const Request& r);
/// Breakpoints and filters to a server that is ready for them, and configurationDone if the client has sent it.
void configure(State& s, Side side);
void server_closed(State& s, Side side);
void answer_start(State& s, const Status& how);
void open_server(State& s, Side side, std::unique_ptr<Connection> connection);
/// initialize and attach; the server's `initialized` comes when it is ready.
void greet(State& s, Side side, Json attach, std::function<void(const Json&)> initialized, std::function<void(const Json&)> attached);

// debugpy.cpp
/// Nothing of Python code can be debugged: to the console, and as an event for clients that show it. `python`: the interpreter that lacks debugpy, if it is known.
void tell_bytecode_only(State& s, const std::string& text, const std::string& python);
/// A port for debugpy, until it has come.
Status await_debugpy(State& s);
/// In the process that is attached to, if it has debugpy.
void start_debugpy(State& s);

// events.cpp
void python_event(State& s, const Json& message);
void bytecode_event(State& s, const Json& message);

// control.cpp
void threads(State& s, const Request& r);
void continue_(State& s, const Request& r);
void step(State& s, const Request& r);
void pause(State& s, const Request& r);
void stopped(State& s, Side side, Json body);
void continued(State& s, Side side, Json body);

// breakpoint_requests.cpp
void set_breakpoints(State& s, const Request& r);
void set_function_breakpoints(State& s, const Request& r);
void set_instruction_breakpoints(State& s, const Request& r);
void set_exception_breakpoints(State& s, const Request& r);
void breakpoint_locations(State& s, const Request& r);
void breakpoint_changed(State& s, Side side, const Json& body);
/// To a server that comes later than the client's requests.
void replay_breakpoints(State& s, Side side);

}  // namespace msvm::observe::dap::merge
