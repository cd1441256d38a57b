#include "observe/monitor/run_file.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "msvm/jit/disk/private_file.h"
#include "msvm/jit/disk/private_folder.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::json;

std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value ? value : "";
}

constexpr std::string_view kSuffix = ".json";

std::string name_of(int pid) { return fmt::format("{}{}", pid, kSuffix); }

/// What isn't there, or isn't JSON, has no members.
Json read(int folder, const std::string& name) {
  std::vector<std::byte> bytes;
  if (jit::read_private(folder, name, 1 << 16, false, bytes) != jit::ReadOutcome::kRead) return {};
  const char* text = reinterpret_cast<const char*>(bytes.data());
  return Json::parse(text, text + bytes.size(), nullptr, false);
}

std::string text_of(const Json& j, const char* key) {
  if (!j.is_object()) return {};
  const auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::string process_start(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {};
  size_t at = name_end + 1;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

std::string pid_space() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(in, boot);
  std::error_code error;
  const std::string pids = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  return boot.empty() || pids.empty() ? "" : boot + " " + pids;
}

void remove_if_stale(int folder, const std::string& name, int pid, const std::string& start, const std::string& space) {
  if (start.empty() || space.empty() || space != pid_space() || process_start(::getpid()).empty()) return;
  if (start != process_start(pid)) ::unlinkat(folder, name.c_str(), 0);
}

Result<std::string> run_folder() {
  struct stat info {};
  if (const std::string run = variable("XDG_RUNTIME_DIR"); run.starts_with('/') && ::stat(run.c_str(), &info) == 0) return run + "/msvm";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.cache/msvm/run";
  return Status(StatusCode::kNotFound, "no place for the files of running monitors: neither XDG_RUNTIME_DIR nor HOME is set");
}

Status write_run_file(const RunningMonitor& m) {
  MSVM_ASSIGN_OR_RETURN(const std::string path, run_folder());
  MSVM_ASSIGN_OR_RETURN(const jit::Fd folder, jit::open_private_folder(path, true));
  const Json j{{"pid", m.pid}, {"start", process_start(m.pid)}, {"space", pid_space()}, {"url", m.url}, {"certificate", m.certificate}, {"command", m.command}};
  const std::string text = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (jit::write_private(folder.get(), name_of(m.pid), std::as_bytes(std::span(text)), jit::Replace::kYes)) return {};
  return {StatusCode::kIo, fmt::format("{}/{}: can't be written", path, name_of(m.pid))};
}

void remove_run_file(const std::string& url) {
  const auto path = run_folder();
  if (!path.ok()) return;
  const auto folder = jit::open_private_folder(*path, false);
  if (folder.ok() && text_of(read(folder->get(), name_of(::getpid())), "url") == url) ::unlinkat(folder->get(), name_of(::getpid()).c_str(), 0);
}

void for_each_run_file(std::string_view suffix, FunctionRef<void(int, int)> visit) {
  const auto path = run_folder();
  if (!path.ok()) return;
  const auto folder = jit::open_private_folder(*path, false);
  if (!folder.ok()) return;
  std::vector<int> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(path->c_str()), ::closedir);
  for (const dirent* e = names ? ::readdir(names.get()) : nullptr; e; e = ::readdir(names.get())) {
    const std::string_view name = e->d_name;
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && pid > 0 && name == fmt::format("{}{}", pid, suffix)) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  for (const int pid : pids) visit(folder->get(), pid);
}

std::vector<RunningMonitor> running_monitors() {
  std::vector<RunningMonitor> out;
  for_each_run_file(kSuffix, [&](int folder, int pid) {
    const Json j = read(folder, name_of(pid));
    if (text_of(j, "start").empty() || text_of(j, "start") != process_start(pid)) return remove_if_stale(folder, name_of(pid), pid, text_of(j, "start"), text_of(j, "space"));
    out.push_back({pid, text_of(j, "url"), text_of(j, "certificate"), text_of(j, "command")});
  });
  return out;
}

}  // namespace msvm::observe
