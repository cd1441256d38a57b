#include "msvm/jit/compile/find_compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

namespace msvm::jit {
namespace {

constexpr const char* kProgram = "msvm-cc";

bool executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string beside(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? kProgram : path.substr(0, slash + 1) + kProgram;
}

}  // namespace

Result<std::string> find_compiler(const std::string& option) {
  auto missing = [](const std::string& where) {
    return Status(StatusCode::kNotFound, fmt::format("no compiler {}: set MSVM_CC to the path of {}", where, kProgram));
  };
  if (!option.empty()) return executable(option) ? Result<std::string>(option) : missing("at " + option);
  if (const char* named = ::secure_getenv("MSVM_CC"); named != nullptr && *named != '\0') {
    return executable(named) ? Result<std::string>(named) : missing(fmt::format("at {} (MSVM_CC)", named));
  }
  std::string tried;
  std::array<char, PATH_MAX> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) > 0) {
    const std::string path = beside(self.data());
    if (executable(path)) return path;
    tried = path;
  }
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_compiler), &info) != 0 && info.dli_fname != nullptr) {
    const std::string path = beside(info.dli_fname);
    if (executable(path)) return path;
    if (path != tried) tried += (tried.empty() ? "" : " or ") + path;
  }
  return missing("at " + tried);
}

}  // namespace msvm::jit
