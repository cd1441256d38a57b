#include "compiler.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "msvm/jit/compile/child_process.h"
#include "msvm/jit/compile/find_compiler.h"
#include "msvm/jit/disk/fd.h"

namespace msvm::cli {
namespace {

/// Reads what is there; false at the end.
bool read_some(int fd, std::string& out) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n > 0) out.append(buffer.data(), static_cast<size_t>(n));
    else if (n == 0 || (errno != EINTR && errno != EAGAIN)) return false;
    else if (errno == EAGAIN) return true;
  }
}

}  // namespace

Result<std::string> run_compiler(std::string_view loops, CompilerText text, const std::string& compiler, const std::string& isa) {
  constexpr std::chrono::seconds kDeadline{120};
  constexpr size_t kMostErrors = 4096;
  MSVM_ASSIGN_OR_RETURN(const std::string path, jit::find_compiler(compiler));
  const jit::Fd file(::memfd_create("loops", MFD_CLOEXEC));
  if (!file.ok()) return Status(StatusCode::kIo, fmt::format("a file in memory: {}", std::strerror(errno)));
  for (size_t done = 0; done < loops.size();) {
    const ssize_t n = ::write(file.get(), loops.data() + done, loops.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status(StatusCode::kIo, fmt::format("a file in memory: {}", std::strerror(errno)));
    done += static_cast<size_t>(n);
  }
  jit::ChildOptions options;
  options.command = {path, fmt::format("/proc/{}/fd/{}", ::getpid(), file.get()), text == CompilerText::kIr ? "--ir" : "--asm"};
  if (!isa.empty()) options.command.insert(options.command.end(), {"--isa", isa});
  MSVM_ASSIGN_OR_RETURN(jit::ChildProcess child, jit::ChildProcess::start(options));

  std::string out, errors;
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  std::array<pollfd, 2> sources{{{child.socket(), POLLIN, 0}, {child.stderr_pipe(), POLLIN, 0}}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return resource_limit(fmt::format("{} took more than {} s", path, kDeadline.count()));
    if (::poll(sources.data(), sources.size(), static_cast<int>(left)) < 0 && errno != EINTR) return Status(StatusCode::kIo, fmt::format("{}: {}", path, std::strerror(errno)));
    if (sources[0].fd >= 0 && sources[0].revents && !read_some(sources[0].fd, out)) sources[0].fd = -1;
    if (sources[1].fd >= 0 && sources[1].revents && !read_some(sources[1].fd, errors)) sources[1].fd = -1;
  }
  while (!child.died()) ::usleep(1000);
  if (child.exit_code() == 0) return out;
  while (errors.ends_with('\n')) errors.pop_back();
  return unsupported(fmt::format("{} {}{}{}", path, child.end_text(), errors.empty() ? "" : ": ", errors.substr(0, kMostErrors)));
}

}  // namespace msvm::cli
