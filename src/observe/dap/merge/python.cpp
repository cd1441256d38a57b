#include "observe/dap/merge/python.h"

#include <fmt/format.h>

#include <filesystem>

#include "observe/dap/merge/process.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr auto kTimeToAnswer = std::chrono::seconds(20);

// Looks where the program itself would: in its folder first.
constexpr const char* kQuestion = R"(import sys, json, importlib.util as u
sys.path[0] = sys.argv[1]
def find(name):
    try:
        spec = u.find_spec(name)
        return spec and spec.origin
    except Exception:
        return None
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "old": sys.version_info < (3, 11), "msvm": find("msvm"), "debugpy": find("debugpy")})))";

}  // namespace

Result<std::string> program_path(const LaunchArguments& launch) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path(launch.program);
  if (path.is_relative() && !launch.cwd.empty()) path = fs::path(launch.cwd) / path;
  path = fs::absolute(path, error).lexically_normal();
  if (error || !fs::is_regular_file(path, error)) return Status(StatusCode::kNotFound, fmt::format("program: there is no file {}", path.string()));
  return path.string();
}

Result<Interpreter> find_interpreter(const LaunchArguments& launch) {
  Interpreter out;
  out.path = launch.python.empty() ? "python3" : launch.python;
  MSVM_ASSIGN_OR_RETURN(const std::string program, program_path(launch));
  auto answer = output_of({.command = {out.path, "-c", kQuestion, std::filesystem::path(program).parent_path().string()}, .cwd = launch.cwd, .env = launch.env}, kTimeToAnswer);
  if (!answer.ok()) return Status(answer.status().code(), fmt::format("python: {}; name a Python that runs in \"python\"", answer.status().message()));
  const auto json = parse_json(*answer);
  if (!json.ok() || !json->is_object()) return invalid_argument(fmt::format("python: {} isn't a Python interpreter", out.path));
  const Arguments a(*json);
  MSVM_ASSIGN_OR_RETURN(out.version, a.text("version"));
  MSVM_ASSIGN_OR_RETURN(const std::string msvm, a.text("msvm", ""));
  MSVM_ASSIGN_OR_RETURN(const bool old, a.flag("old", false));
  if (old) return unsupported(fmt::format("python: {} is Python {}, expected 3.11 or newer; name another in \"python\"", out.path, out.version));
  if (msvm.empty())
    return Status(StatusCode::kNotFound, fmt::format("python: {} (Python {}) has no module msvm; install it there (`{} -m pip install` the wheel), or name another interpreter in \"python\", or a folder in PYTHONPATH in \"env\"", out.path,
                                                     out.version, out.path));
  out.msvm = std::filesystem::path(msvm).parent_path().string();
  out.debugpy = a.has("debugpy");
  return out;
}

std::vector<std::string> command_of(const Interpreter& python, const std::string& program, const std::vector<std::string>& args, uint16_t port, const std::string& token) {
  std::vector<std::string> command{python.path};
  if (python.debugpy)
    for (const std::string& part : {std::string("-m"), std::string("debugpy"), std::string("--connect"), fmt::format("127.0.0.1:{}", port), std::string("--adapter-access-token"), token, std::string("--wait-for-client"),
                                    std::string("--configure-subProcess"), std::string("false")})
      command.push_back(part);
  command.push_back(program);
  command.insert(command.end(), args.begin(), args.end());
  return command;
}

}  // namespace msvm::observe::dap::merge
