#include "msvm/jit/disk/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "msvm/base/file.h"

namespace msvm::jit {
namespace {

/// By the fine clock: the one that the file system uses stands still for milliseconds, and the LRU goes by these times.
void touch_now(int fd) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[2] = {now, now};
  ::futimens(fd, times);
}

}  // namespace

ReadOutcome read_private(int folder, const std::string& name, size_t max_bytes, bool touch, std::vector<std::byte>& out) {
  // O_NONBLOCK: a pipe must not hang the open.
  Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return errno == ELOOP || errno == EACCES ? ReadOutcome::kForeign : ReadOutcome::kMissing;
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return ReadOutcome::kMissing;
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 07777) != 0600 || info.st_size < 0 ||
      static_cast<uint64_t>(info.st_size) > max_bytes) {
    return ReadOutcome::kForeign;
  }
  out.resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < out.size()) {
    ssize_t n = ::read(fd.get(), out.data() + done, out.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadOutcome::kMissing;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  if (touch) touch_now(fd.get());
  return ReadOutcome::kRead;
}

bool write_private(int folder, const std::string& name, std::span<const std::byte> data, Replace replace) {
  static std::atomic<uint32_t> counter{0};
  if (!within_file_limit(data.size())) return false;
  const std::string temporary = fmt::format("{}{}.{}", kTemporaryPrefix, ::getpid(), counter.fetch_add(1));
  bool written;
  {
    Fd fd(::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.ok()) return false;
    written = ::fchmod(fd.get(), 0600) == 0 && write_all(fd.get(), data);  // the umask may have taken bits
    touch_now(fd.get());
  }
  if (written) {
    written = replace == Replace::kYes ? ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0
                                       : ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0;
  }
  if (!written || replace == Replace::kOnlyNew) ::unlinkat(folder, temporary.c_str(), 0);
  return written;
}

}  // namespace msvm::jit
