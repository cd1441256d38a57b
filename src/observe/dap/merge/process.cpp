#include "observe/dap/merge/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

extern char** environ;

namespace msvm::observe::dap::merge {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read = ends[0];
    write = ends[1];
    // The child's 0..3 are laid over these numbers.
    for (int* end : {&read, &write})
      if (*end <= Process::kInherited) {
        const int moved = ::fcntl(*end, F_DUPFD_CLOEXEC, Process::kInherited + 1);
        ::close(*end);
        *end = moved;
      }
  }
  ~Pipe() {
    for (const int end : {read, write})
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

std::vector<std::string> environment_with(const Environment& more) {
  std::map<std::string, std::string> all;
  for (char** e = environ; *e; ++e) {
    const std::string_view row = *e;
    const size_t at = row.find('=');
    if (at != std::string_view::npos) all[std::string(row.substr(0, at))] = row.substr(at + 1);
  }
  for (const auto& [name, value] : more) all[name] = value;
  std::vector<std::string> rows;
  for (const auto& [name, value] : all) rows.push_back(name + "=" + value);
  return rows;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& t : texts) out.push_back(const_cast<char*>(t.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Where the child could run the command: each folder of the path that is searched.
std::vector<std::string> candidates(const std::string& name, const std::vector<std::string>& env) {
  if (name.find('/') != std::string::npos) return {name};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& row : env)
    if (row.starts_with("PATH=")) path = std::string_view(row).substr(5);
  std::vector<std::string> out;
  while (true) {
    const size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    out.push_back(folder.empty() ? name : std::string(folder) + "/" + name);
    if (end == std::string_view::npos) return out;
    path.remove_prefix(end + 1);
  }
}

/// Bytes of `text` that are whole characters; what isn't UTF-8 counts as whole.
size_t whole(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? text.size() - back : text.size();
    }
  }
  return text.size();
}

std::string end_text(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return fmt::format("ended with code {}", info.si_status);
  const char* name = ::sigdescr_np(info.si_status);
  return fmt::format("was ended by signal {} ({})", info.si_status, name ? name : "unknown");
}

}  // namespace

Result<std::unique_ptr<Process>> Process::start(const ProcessOptions& options, OnOutput output, OnExit exit) {
  const std::vector<std::string> env = environment_with(options.env);
  const std::vector<std::string> paths = candidates(options.command.at(0), env);
  const std::vector<char*> argv = pointers(options.command), envp = pointers(env), tries = pointers(paths);
  Pipe out, error, failure;
  if (out.write < 0 || error.write < 0 || failure.write < 0) return resource_limit("can't start a program: no descriptors");
  const int inherited = options.inherited >= 0 ? ::fcntl(options.inherited, F_DUPFD_CLOEXEC, kInherited + 1) : -1;

  struct Failure {
    int error, in_folder;
  };
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {  // only what may be called between fork and exec
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (int s = 1; s < NSIG; ++s) ::signal(s, SIG_DFL);
    Failure what{};
    if (!options.cwd.empty() && ::chdir(options.cwd.c_str()) != 0) {
      what = {errno, 1};
    } else {
      const int nothing = ::open("/dev/null", O_RDONLY);
      ::dup2(nothing, 0);
      ::dup2(out.write, 1);
      ::dup2(error.write, 2);
      if (inherited >= 0) ::dup2(inherited, kInherited);
      else ::close(kInherited);
      // All others, but the one that tells of a failure, which goes with exec.
      ::syscall(SYS_close_range, kInherited + 1, failure.write - 1, 0);
      ::syscall(SYS_close_range, failure.write + 1, ~0U, 0);
      what = {ENOENT, 0};
      for (char* path : tries) {
        if (!path) break;
        ::execve(path, argv.data(), envp.data());
        if (errno != ENOENT && errno != ENOTDIR) what.error = errno;
      }
    }
    (void)!::write(failure.write, &what, sizeof what);
    ::_exit(127);
  }
  if (inherited >= 0) ::close(inherited);
  if (pid < 0) return Status(StatusCode::kIo, fmt::format("can't start {}: {}", options.command[0], std::strerror(errno)));
  ::setpgid(pid, pid);
  ::close(std::exchange(failure.write, -1));
  Failure what{};
  ssize_t n = 0;
  do n = ::read(failure.read, &what, sizeof what);
  while (n < 0 && errno == EINTR);
  if (n == sizeof what) {
    ::waitpid(pid, nullptr, 0);
    if (what.in_folder) return Status(StatusCode::kNotFound, fmt::format("cwd: can't enter {}: {}", options.cwd, std::strerror(what.error)));
    return Status(what.error == ENOENT ? StatusCode::kNotFound : StatusCode::kIo, fmt::format("can't start {}: {}", options.command[0], std::strerror(what.error)));
  }

  std::unique_ptr<Process> process(new Process);
  process->pid_ = pid;
  process->out_ = std::exchange(out.read, -1);
  process->error_ = std::exchange(error.read, -1);
  process->death_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  process->wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  process->output_ = std::move(output);
  process->exit_ = std::move(exit);
  process->thread_ = std::thread([p = process.get()] { p->watch(); });
  return process;
}

int Process::patience() {
  using namespace std::chrono;
  std::lock_guard lock(mutex_);
  const int most = death_ < 0 ? 50 : -1;  // ms
  if (kill_at_ == steady_clock::time_point::max()) return most;
  const auto left = duration_cast<milliseconds>(kill_at_ - steady_clock::now()).count();
  if (left > 0) return most < 0 ? static_cast<int>(left) : most;
  ::kill(-pid_, SIGKILL);
  kill_at_ = steady_clock::time_point::max();
  return most;
}

void Process::watch() {
  struct Stream {
    int fd;
    bool is_error;
    std::string rest;
  } streams[] = {{out_, false, {}}, {error_, true, {}}};
  const auto take = [&](Stream& s) {  // false: there is nothing now; at its end it has no descriptor any more
    char bytes[1 << 15];
    const ssize_t n = ::read(s.fd, bytes, sizeof bytes);
    if (n < 0) return errno == EINTR;
    if (n == 0) s.fd = -1;
    s.rest.append(bytes, static_cast<size_t>(n));
    const size_t end = n == 0 ? s.rest.size() : whole(s.rest);
    if (end > 0) output_(s.is_error, s.rest.substr(0, end));
    s.rest.erase(0, end);
    return n > 0;
  };
  for (Stream& s : streams) ::fcntl(s.fd, F_SETFL, O_NONBLOCK);
  bool dead = false;
  while (!dead) {
    pollfd p[] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}, {death_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (::poll(p, 4, patience()) < 0 && errno != EINTR) break;
    if (p[3].revents) {
      uint64_t n = 0;
      (void)!::read(wake_, &n, sizeof n);
    }
    for (int k = 0; k < 2; ++k)
      if (p[k].revents) take(streams[k]);
    if (death_ >= 0) {
      dead = p[2].revents != 0;
    } else {
      siginfo_t info{};
      dead = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
    }
  }
  // What it has written is there by now. Others that it started may hold the pipes: nobody waits for them.
  for (Stream& s : streams) {
    while (s.fd >= 0 && take(s)) {
    }
    if (!s.rest.empty()) output_(s.is_error, std::move(s.rest));
  }
  siginfo_t info{};
  {
    std::lock_guard lock(mutex_);
    ::kill(-pid_, SIGKILL);  // those others
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  exit_(info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status, end_text(info));
}

void Process::kill() {
  std::lock_guard lock(mutex_);
  if (!ended_) ::kill(-pid_, SIGKILL);
}

void Process::terminate(std::chrono::milliseconds patience) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  ::kill(-pid_, SIGTERM);
  kill_at_ = std::chrono::steady_clock::now() + patience;
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

Process::~Process() {
  kill();
  if (thread_.joinable()) thread_.join();
  for (const int fd : {out_, error_, death_, wake_})
    if (fd >= 0) ::close(fd);
}

Result<std::string> output_of(const ProcessOptions& options, std::chrono::milliseconds timeout) {
  std::mutex mutex;
  std::condition_variable ended;
  std::string text, errors, how;
  int code = -1;
  bool over = false;
  MSVM_ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, Process::start(
                                                                    options, [&](bool is_error, std::string more) { (is_error ? errors : text) += more; },
                                                                    [&](int exit_code, std::string end) {
                                                                      std::lock_guard lock(mutex);
                                                                      code = exit_code;
                                                                      how = std::move(end);
                                                                      over = true;
                                                                      ended.notify_one();
                                                                    }));
  std::unique_lock lock(mutex);
  if (!ended.wait_for(lock, timeout, [&] { return over; })) return Status(StatusCode::kResourceLimit, fmt::format("{}: no answer within {} s", options.command[0], timeout.count() / 1000));
  if (code != 0) return Status(StatusCode::kInvalidArgument, fmt::format("{} {}: {}", options.command[0], how, errors));
  return text;
}

}  // namespace msvm::observe::dap::merge
