#include "msvm/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace msvm {
namespace {

Status io_error(std::string_view what, const std::string& path, int error) {
  return {error == ENOENT ? StatusCode::kNotFound : StatusCode::kIo, fmt::format("{} {}: {}", what, path, std::strerror(error))};
}

/// All mappings that are there, by their first byte.
struct Mappings {
  std::mutex mutex;
  std::map<const std::byte*, size_t> sizes;
};
Mappings& mappings() {
  static auto* const all = new Mappings;  // files may be unmapped while the process ends
  return *all;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// O_NONBLOCK: a pipe must not hang the open; it is refused afterwards because it isn't a regular file.
int open_for_reading(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

Result<uint64_t> regular_size(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error("can't read", path, errno);
  if (!S_ISREG(info.st_mode)) return Status(StatusCode::kIo, fmt::format("can't read {}: not a regular file", path));
  return static_cast<uint64_t>(info.st_size);
}

template <class Buffer>
Status read_into(const std::string& path, uint64_t max_bytes, Buffer& out) {
  Descriptor fd(open_for_reading(path));
  if (fd.get() < 0) return io_error("can't open", path, errno);
  MSVM_ASSIGN_OR_RETURN(uint64_t size, regular_size(fd.get(), path));
  if (size > max_bytes) return resource_limit(fmt::format("{} has {} bytes, more than the limit of {}", path, size, max_bytes));
  out.resize(size);
  size_t done = 0;
  while (done < size) {
    ssize_t n = ::read(fd.get(), out.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("can't read", path, errno);
    if (n == 0) break;  // truncated meanwhile
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return {};
}

struct FreeDeleter {
  void operator()(char* p) const { std::free(p); }
};
std::unique_ptr<char, FreeDeleter> real_path(const std::string& path) {
  return std::unique_ptr<char, FreeDeleter>(::realpath(path.c_str(), nullptr));
}

}  // namespace

Result<MappedFile> MappedFile::map(int raw_fd, const std::string& path) {
  Descriptor fd(raw_fd);
  if (fd.get() < 0) return io_error("can't open", path, errno);
  MSVM_ASSIGN_OR_RETURN(uint64_t size, regular_size(fd.get(), path));
  MappedFile file;
  if (size == 0) return file;
  void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (p == MAP_FAILED) return io_error("can't map", path, errno);
  file.data_ = static_cast<const std::byte*>(p);
  file.size_ = size;
  std::lock_guard lock(mappings().mutex);
  mappings().sizes[file.data_] = size;
  return file;
}

Result<MappedFile> MappedFile::open(const std::string& path) { return map(open_for_reading(path), path); }

Result<MappedFile> MappedFile::open_beneath(const std::string& folder, const std::string& relative) {
  auto outside = [&] { return invalid_argument(fmt::format("path \"{}\" leaves its folder", relative)); };
  if (relative.empty() || relative[0] == '/' || relative.find('\0') != std::string::npos) return outside();
  const std::string path = (folder.empty() ? "." : folder) + "/" + relative;
  for (size_t from = 0; from <= relative.size();) {
    size_t to = std::min(relative.find('/', from), relative.size());
    if (std::string_view(relative).substr(from, to - from) == "..") return outside();
    from = to + 1;
  }
  // Open first and ask where the open file lies: a link that is exchanged in between can't help.
  int raw_fd = open_for_reading(path);
  int error = errno;
  auto root = real_path(folder.empty() ? "." : folder);
  auto file = raw_fd < 0 ? nullptr : real_path(fmt::format("/proc/self/fd/{}", raw_fd));
  std::string prefix = root ? root.get() : "";
  if (!prefix.ends_with('/')) prefix += '/';
  if (raw_fd >= 0 && (!root || !file || !std::string_view(file.get()).starts_with(prefix))) {
    ::close(raw_fd);
    return outside();
  }
  errno = error;
  return map(raw_fd, path);
}

MappedFile& MappedFile::operator=(MappedFile&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!data_) return;
  std::lock_guard lock(mappings().mutex);
  mappings().sizes.erase(data_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void drop_mapped_pages(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (begin >= end) return;
  std::lock_guard lock(mappings().mutex);
  auto it = mappings().sizes.upper_bound(bytes.data());
  if (it == mappings().sizes.begin() || static_cast<size_t>(bytes.data() - (--it)->first) + bytes.size() > it->second) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // private, read-only: nothing is lost
}

Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t max_bytes) {
  std::vector<std::byte> out;
  MSVM_RETURN_IF_ERROR(read_into(path, max_bytes, out));
  return out;
}

Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes) {
  std::string out;
  MSVM_RETURN_IF_ERROR(read_into(path, max_bytes, out));
  return out;
}

bool write_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data = data.subspan(static_cast<size_t>(n));
  }
  return true;
}

bool within_file_limit(uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

Status write_file_atomically(const std::string& path, std::span<const std::byte> data) {
  struct stat there {};  // a rename would put the file in a device's or link's place
  if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) return Status(StatusCode::kIo, fmt::format("{}: not a regular file", path));
  static std::atomic<uint32_t> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter.fetch_add(1));
  int error = 0;
  {
    Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.get() < 0) return io_error("can't create", temporary, errno);
    if (!write_all(fd.get(), data) || ::fsync(fd.get()) != 0) error = errno;
  }
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return io_error("can't write", path, error);
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace msvm
