// What the requests of a session share. Private to the room.
#pragma once
#include <memory>
#include <mutex>
#include <set>

#include "observe/dap/events.h"
#include "observe/dap/handles.h"
#include "observe/dap/listings.h"
#include "observe/dap/session.h"

namespace msvm::observe::dap {

struct HostStart;

struct State {
  State(Output& client, SessionOptions o) : options(std::move(o)), debugger(options.debugger), events(client), listings(options.debugger) {}

  const SessionOptions options;
  debug::Debugger& debugger;
  Events events;
  Listings listings;
  Handles handles;

  // Of the thread that handles requests.
  bool initialized = false, begun = false, configured = false, over = false;  // begun: launched or attached
  bool lines_from_1 = true, columns_from_1 = true;
  LaunchArguments launch;
  std::vector<std::function<void()>> after;  // once the response is out

  debug::Listener* listener = nullptr;
  std::atomic<bool> attached{false};         // the inspector is this session's
  std::shared_ptr<HostStart> host_start;     // of the language's debugger, if the client has asked for it

  std::mutex mutex;                          // of what follows
  std::set<debug::ThreadId> resuming;        // the client has asked for it, so it needn't be told
  debug::Patch last_patch;
  std::string client_name;                   // what it calls itself

  /// A line as the client counts, and the reverse.
  int32_t line_out(int32_t line) const { return lines_from_1 ? line : line - 1; }
  int64_t line_in(int64_t line) const { return lines_from_1 ? line : line + 1; }
  void output(std::string_view category, std::string_view text);
  /// Takes the inspector; what `launch` or `attach` says of native code and of failures counts from now on.
  Status take_inspector(bool native_stays);
  /// The programs go on as if nobody had ever debugged them; what was launched ends if `terminate`.
  void let_go(bool terminate);
};

using Handler = Result<Json> (*)(State& state, const Arguments& arguments);

}  // namespace msvm::observe::dap
