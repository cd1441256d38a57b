// Which processes of this user serve a monitor: one file each, PID.json, that `msvm monitor PID` finds.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/function_ref.h"
#include "msvm/base/status.h"

namespace msvm::observe {

struct RunningMonitor {
  int pid = 0;
  std::string url;          // without a token
  std::string certificate;  // what its TLS shows; empty: none
  std::string command;
};

/// $XDG_RUNTIME_DIR/msvm, else ~/.cache/msvm/run.
Result<std::string> run_folder();

/// `visit(folder, pid)` for each file PID + suffix there, by PID. The process may be gone, or another that has the number now.
void for_each_run_file(std::string_view suffix, FunctionRef<void(int, int)> visit);

/// When a process began, in ticks since the machine did: a number that is used again has another. Empty: there is no such process.
std::string process_start(int pid);

/// Where pids mean the same processes: this run of the machine, and a pid namespace of it. A home may be shared with other machines.
std::string pid_space();
/// Of a file of this user's that says it is of process `pid`, which began at `start` in `space`: takes it away if that process is gone.
void remove_if_stale(int folder, const std::string& name, int pid, const std::string& start, const std::string& space);

/// Writes the file of this process, with mode 0600, in a folder that is this user's alone. Several monitors of one process: the last.
Status write_run_file(const RunningMonitor& monitor);
/// Of this process, if it names `url`.
void remove_run_file(const std::string& url);

/// Those whose processes live, by PID; what isn't such a file doesn't count, and one that a process has left behind is taken away.
std::vector<RunningMonitor> running_monitors();

}  // namespace msvm::observe
