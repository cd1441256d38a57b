// What the inspector holds: programs, threads, breakpoints, the listener. Private to the room.
//   process.cpp   threads and programs that come and go, the listener, forks
//   watch.cpp     one run
//   debugger.cpp  what callers ask for
#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "observe/debug/breakpoints.h"
#include "observe/debug/debugger.h"

namespace msvm::observe::debug {

class Watch;

enum class Command : uint8_t { kNone, kGo, kIn, kOver, kOut };

/// A thread that runs debugged programs. Where it waits in one, whoever holds `mutex` and sees `stop` may look at its runs.
struct Thread {
  ThreadId id = 0;
  uint64_t handle = 0;
  std::atomic<int64_t> system_id{0};  // 0: it hasn't run anything yet
  std::atomic<bool> pause{false}, cancel{false}, stop_at_run{false};

  std::mutex mutex;                   // of what follows
  std::condition_variable wake;
  std::string name;
  std::vector<Watch*> runs;           // innermost last
  std::optional<Stop> stop;           // it waits
  Command command = Command::kNone;
};

/// Settings that runs look at; a run takes them anew when `epoch` has changed.
struct Settings {
  Stops stops;
  Native native = Native::kStepDown;
  std::map<uint64_t, std::shared_ptr<const Armed>> armed;  // by program
};

struct Debugger::Impl {
  // --- for runs
  std::atomic<bool> gone{false};            // in the child of a fork: for good
  std::atomic<bool> attached{false}, held{false}, stop_at_any_run{false};
  /// A pause that no thread is known for yet; one of all, for runs that were under way when the debugger came and don't know of it yet.
  std::atomic<bool> pause_any_run{false}, pause_joining{false};
  std::atomic<uint64_t> epoch{1};
  std::shared_ptr<const Settings> settings();
  std::shared_ptr<Thread> this_thread(bool make);
  std::unique_ptr<RunWatch> begin(const std::shared_ptr<ProgramMap>& program, RunView& view);
  /// Tells the listener, without a lock.
  template <class Tell>
  void tell(Tell&& call);

  // --- for callers
  std::shared_ptr<Thread> thread(ThreadId id);
  std::vector<std::shared_ptr<Thread>> all_threads();
  std::shared_ptr<ProgramMap> program(uint64_t number);
  std::shared_ptr<Thread> make_thread(uint64_t handle);  // with `mutex` held
  void thread_ended(const std::shared_ptr<Thread>& t);
  void publish();                                        // with `mutex` held: settings from what is below
  /// Puts a hook into a program, or takes it out.
  void put_hook(const std::shared_ptr<ProgramMap>& p, Executable& e, bool in);
  /// Into all, or out of all. With `mutex` held; what it returns must go after that: a program may end with it.
  [[nodiscard]] std::vector<std::shared_ptr<Executable>> put_hooks(bool in);
  /// All that live. With `mutex` held; what it returns must go after that. Whoever has maps made (ProgramMap) or may, holds it.
  [[nodiscard]] std::vector<std::shared_ptr<Executable>> alive();
  /// Forgets programs that are gone; which. With `mutex` held.
  std::vector<ProgramInfo> tidy();
  std::vector<Breakpoint> replace(BreakKind kind, const std::string& name, uint64_t number, std::vector<BreakpointTable::Wanted> wanted);

  std::mutex mutex;                         // of what follows; held over a fork. Never taken while a thread's is held
  Programs programs;                        // those that live
  uint64_t next_program = 0;
  std::vector<std::shared_ptr<Thread>> threads;
  ThreadId next_thread = 1;
  BreakpointTable breakpoints;
  Stops stops;
  Native native = Native::kStepDown;
  std::shared_ptr<const Settings> published = std::make_shared<Settings>();
  std::condition_variable released;         // held runs

  std::mutex gate;                          // of the listener
  std::condition_variable quiet;
  Listener* listener = nullptr;
  int calls = 0, inside = 0;                // under way; of them, those that wait in detach()
};

/// How many calls of the listener this thread is in.
int& listener_depth();

template <class Tell>
void Debugger::Impl::tell(Tell&& call) {
  Listener* l = nullptr;
  {
    std::lock_guard lock(gate);
    l = listener;
    if (!l) return;
    ++calls;
  }
  ++listener_depth();
  call(*l);
  --listener_depth();
  std::lock_guard lock(gate);
  --calls;
  quiet.notify_all();
}

/// "fix": what would mend a run that fails; empty: nothing that is always right.
std::string fix_of(const Status& s, const RunView& view);

}  // namespace msvm::observe::debug
