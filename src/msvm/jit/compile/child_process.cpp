#include "msvm/jit/compile/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

extern char** environ;

namespace msvm::jit {
namespace {

constexpr int kLastWait = 2000;  // ms for a killed process to end, when the last who knows of it goes

class Fd {
 public:
  /// Takes `fd` and moves it off 0..2, so that laying the child's stdin, stdout and stderr can't overwrite it.
  explicit Fd(int fd) : fd_(fd) {
    if (fd_ < 0 || fd_ > 2) return;
    int moved = ::fcntl(fd_, F_DUPFD_CLOEXEC, 3);
    ::close(fd_);
    fd_ = moved;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Status start_error(const std::string& path, int error) {
  return {error == ENOENT ? StatusCode::kNotFound : StatusCode::kIo, fmt::format("can't start {}: {}", path, std::strerror(error))};
}

int spawn(pid_t& pid, const std::vector<std::string>& command, int socket, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, 0);
  posix_spawn_file_actions_adddup2(&files, socket, 1);
  posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  const std::string& path = options.command.at(0);
  int sockets[2], pipes[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return start_error(path, errno);
  Fd ours(sockets[0]), theirs(sockets[1]);
  if (::pipe2(pipes, O_CLOEXEC) != 0) return start_error(path, errno);
  Fd errors_out(pipes[0]), errors_in(pipes[1]);
  if (ours.get() < 0 || theirs.get() < 0 || errors_out.get() < 0 || errors_in.get() < 0) return start_error(path, EMFILE);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(errors_out.get(), F_SETFL, O_NONBLOCK);

  ChildProcess child;
  pid_t pid = -1;
  if (int error = spawn(pid, options.command, theirs.get(), errors_in.get()); error != 0) return start_error(path, error);
  child.pid_ = pid;
  child.owner_ = ::getpid();
  child.pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // close-on-exec by itself
  child.socket_ = ours.release();
  child.stderr_ = errors_out.release();
  if (options.memory_limit != 0) {
    const rlimit limit{options.memory_limit, options.memory_limit};
    ::prlimit(pid, RLIMIT_AS, &limit, nullptr);
  }
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& o) noexcept {
  std::swap(pid_, o.pid_);
  std::swap(owner_, o.owner_);
  std::swap(socket_, o.socket_);
  std::swap(stderr_, o.stderr_);
  std::swap(pidfd_, o.pidfd_);
  std::swap(killed_, o.killed_);
  std::swap(exited_, o.exited_);
  std::swap(known_, o.known_);
  std::swap(code_, o.code_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
  for (int ms = 0; !died() && ms < kLastWait; ms += 10) {
    pollfd death{pidfd_, POLLIN, 0};
    ::poll(&death, 1, 10);
  }
  forget();
}

void ChildProcess::close_all() {
  for (int* fd : {&socket_, &stderr_, &pidfd_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void ChildProcess::forget() {
  close_all();
  pid_ = -1;
}

// By descriptor, not by number: a host program that reaps all children may have freed the number for another process.
bool ChildProcess::died() {
  if (pid_ <= 0) return true;
  if (owner_ != ::getpid()) return forget(), true;
  siginfo_t info{};
  int rc;
  do {
    rc = ::waitid(pidfd_ >= 0 ? P_PIDFD : P_PID, static_cast<id_t>(pidfd_ >= 0 ? pidfd_ : pid_), &info, WEXITED | WNOHANG);
  } while (rc != 0 && errno == EINTR);
  if (rc == 0 && info.si_pid == 0) return false;
  known_ = rc == 0;  // ECHILD: somebody else reaped it
  exited_ = known_ && info.si_code == CLD_EXITED;
  code_ = info.si_status;
  forget();
  return true;
}

void ChildProcess::kill() {
  if (!running()) return;
  if (owner_ != ::getpid()) return forget();
  raise_priority();
  if (pidfd_ >= 0) {
    ::syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
  } else {
    ::kill(pid_, SIGKILL);
  }
  killed_ = true;
}

std::string ChildProcess::end_text() const {
  if (!known_) return "is gone, its status went to another part of the program";
  if (exited_) return fmt::format("left with code {}", code_);
  const char* name = ::strsignal(code_);
  return fmt::format("was killed by signal {} ({}){}", code_, name ? name : "?",
                     code_ == SIGKILL ? ", which came from the system (for want of memory?) or a person" : "");
}

double ChildProcess::cpu_seconds() const {
  clockid_t clock;
  timespec t{};
  if (!running() || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void ChildProcess::lower_priority() {
  const sched_param none{};
  if (running()) ::sched_setscheduler(pid_, SCHED_IDLE, &none);
}

bool ChildProcess::raise_priority() {
  const sched_param none{};
  return running() && ::sched_setscheduler(pid_, SCHED_OTHER, &none) == 0;
}

}  // namespace msvm::jit
