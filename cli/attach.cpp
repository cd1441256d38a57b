#include "attach.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>

#include "common.h"
#include "observe/monitor/run_file.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using observe::RunningMonitor;

std::string list_of(const std::vector<RunningMonitor>& all) {
  std::string out;
  for (const RunningMonitor& m : all) out += fmt::format("\n  {}  {}  {}", m.pid, m.url, m.command);
  return out;
}

constexpr const char* kHowToStart = "start one with `msvm run ... --monitor`, ms.vm.start_monitor(), or MSVM_MONITOR=127.0.0.1:9464";

}  // namespace

void add_monitor_flag(CLI::App& c, MonitorFlag& flag) {
  c.add_option("--monitor", flag.endpoint, "[ADDRESS:PORT]: serve a monitor of this process meanwhile (default 127.0.0.1:9464; also MSVM_MONITOR)")->expected(0, 1)->type_name("");
}

Result<std::unique_ptr<observe::Monitor>> MonitorFlag::start() const {
  const char* variable = std::getenv("MSVM_MONITOR");
  const bool asked = endpoint != kOff;
  if (!asked && (!variable || !*variable)) return std::unique_ptr<observe::Monitor>();
  const auto started = [&]() -> Result<std::unique_ptr<observe::Monitor>> {
    observe::MonitorOptions o;
    const std::string where = asked ? endpoint : variable;
    if (!where.empty()) {
      MSVM_ASSIGN_OR_RETURN(const observe::Endpoint e, observe::parse_endpoint(where));
      o.address = e.address;
      o.port = e.port;
    }
    MSVM_RETURN_IF_ERROR(observe::fill_from_environment(o));
    return observe::Monitor::start(o, observe::process_source());
  };
  auto monitor = started();
  if (!monitor.ok()) {
    if (asked) return monitor;
    fmt::print(stderr, "warning: MSVM_MONITOR: {}\n", printable(monitor.status().message()));
    return std::unique_ptr<observe::Monitor>();
  }
  fmt::print(stderr, "monitor: {}\n", (*monitor)->url());
  return monitor;
}

void add_certificate_option(CLI::App& c, Attachment& a) { c.add_option("--certificate", a.certificate, "PEM file: what the monitor's TLS must show; by PID it is known"); }

Result<observe::ClientOptions> Attachment::find() const {
  observe::MonitorOptions tokens;
  MSVM_RETURN_IF_ERROR(observe::fill_from_environment(tokens));
  observe::ClientOptions client{.url = to, .token = tokens.admin_token.empty() ? tokens.read_token : tokens.admin_token, .certificate = certificate};
  int pid = 0;
  const auto [end, error] = std::from_chars(to.data(), to.data() + to.size(), pid);
  const bool is_pid = error == std::errc() && end == to.data() + to.size();
  if (!is_pid && !to.empty()) return client;
  const auto running = observe::running_monitors();
  const RunningMonitor* found = nullptr;
  if (is_pid) {
    for (const RunningMonitor& m : running)
      if (m.pid == pid) found = &m;
    if (!found) return Status(StatusCode::kNotFound, fmt::format("process {} of this user serves no monitor: {}; or name its address", pid, kHowToStart));
  } else if (running.size() == 1) {
    found = &running[0];
  } else if (running.empty()) {
    return Status(StatusCode::kNotFound, fmt::format("no process of this user serves a monitor: {}; or name an address", kHowToStart));
  } else {
    return invalid_argument(fmt::format("{} processes serve monitors: name one by its PID{}", running.size(), list_of(running)));
  }
  client.url = found->url;
  if (client.certificate.empty()) client.certificate = found->certificate;
  return client;
}

Result<Json> fetch_state(const observe::ClientOptions& client) {
  MSVM_ASSIGN_OR_RETURN(const std::string text, observe::http_get(client, "/api/v1/state"));
  Json state = Json::parse(text, nullptr, false);
  if (!state.is_object()) return malformed(fmt::format("monitor at {}: /api/v1/state isn't a JSON object", client.url));
  if (const auto v = state.find("version"); v == state.end() || *v != 1) return unsupported(fmt::format("monitor at {}: its state isn't of version 1: use the msvm that it came with", client.url));
  return state;
}

}  // namespace msvm::cli
