// The monitors of other processes: found by PID or address, asked for what they know.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "msvm/base/status.h"
#include "observe/monitor/client.h"
#include "observe/monitor/monitor.h"

namespace msvm::cli {

/// `--monitor` and MSVM_MONITOR: this process's own.
struct MonitorFlag {
  static constexpr const char* kOff = "off";
  std::string endpoint = kOff;  // empty: the default one
  /// Null where there is none. An address of the environment that can't be had is told on standard error, not an error.
  Result<std::unique_ptr<observe::Monitor>> start() const;
};
void add_monitor_flag(CLI::App& command, MonitorFlag& flag);

/// Whom to attach to: a PID, an address, or nothing where one process serves a monitor. Tokens come from the environment.
struct Attachment {
  std::string to, certificate;
  Result<observe::ClientOptions> find() const;
};
void add_certificate_option(CLI::App& command, Attachment& attachment);

// The commands that are about running processes alone.
void add_monitor(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);

/// /api/v1/state.
Result<nlohmann::ordered_json> fetch_state(const observe::ClientOptions& client);

}  // namespace msvm::cli
