#include "observe/dap/server_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <span>

#include "msvm/jit/disk/private_file.h"
#include "msvm/jit/disk/private_folder.h"
#include "observe/dap/json.h"
#include "observe/monitor/run_file.h"

namespace msvm::observe::dap {
namespace {

constexpr std::string_view kSuffix = ".debug.json";

std::string name_of(int pid) { return fmt::format("{}{}", pid, kSuffix); }

/// What isn't there, isn't this user's, or isn't such a file: nothing; nor what a process has left behind, which is taken away.
std::optional<ServerPlace> read(int folder, int pid) {
  std::vector<std::byte> bytes;
  if (jit::read_private(folder, name_of(pid), 1 << 16, false, bytes) != jit::ReadOutcome::kRead) return {};
  const auto json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!json.ok()) return {};
  const Arguments a(*json);
  const auto start = a.text("start"), address = a.text("address"), token = a.text("token");
  const auto port = a.integer("port", 1, 65535);
  if (!start.ok() || !address.ok() || !token.ok() || !port.ok() || start->empty()) return {};
  if (*start != process_start(pid)) {
    remove_if_stale(folder, name_of(pid), pid, *start, text_in(*json, "space"));
    return {};
  }
  return ServerPlace{pid, *address, static_cast<uint16_t>(*port), *token};
}

}  // namespace

Status write_server_file(const ServerPlace& p) {
  MSVM_ASSIGN_OR_RETURN(const std::string path, run_folder());
  MSVM_ASSIGN_OR_RETURN(const jit::Fd folder, jit::open_private_folder(path, true));
  const std::string text = dump({{"pid", p.pid}, {"start", process_start(p.pid)}, {"space", pid_space()}, {"address", p.address}, {"port", p.port}, {"token", p.token}});
  if (jit::write_private(folder.get(), name_of(p.pid), std::as_bytes(std::span(text)), jit::Replace::kYes)) return {};
  return {StatusCode::kIo, fmt::format("{}/{}: can't be written", path, name_of(p.pid))};
}

void remove_server_file(uint16_t port) {
  const auto path = run_folder();
  if (!path.ok()) return;
  const auto folder = jit::open_private_folder(*path, false);
  if (!folder.ok()) return;
  if (const auto p = read(folder->get(), ::getpid()); p && p->port == port) ::unlinkat(folder->get(), name_of(p->pid).c_str(), 0);
}

std::vector<int> running_servers() {
  std::vector<int> out;
  for_each_run_file(kSuffix, [&](int folder, int pid) {
    if (read(folder, pid)) out.push_back(pid);
  });
  return out;
}

Result<ServerPlace> find_server(int pid) {
  const Status none(StatusCode::kNotFound, fmt::format("process {} of this user has no debug server: start it with MSVM_DEBUG=127.0.0.1:0, or call ms.vm.start_debugger() in it", pid));
  const auto path = run_folder();
  if (!path.ok()) return none;
  const auto folder = jit::open_private_folder(*path, false);
  if (!folder.ok()) return none;
  if (auto p = read(folder->get(), pid)) return *p;
  return none;
}

}  // namespace msvm::observe::dap
