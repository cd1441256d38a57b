#include "observe/trace/log_file.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace msvm::observe {
namespace {

Status io_error(const std::string& path, const char* what) { return {StatusCode::kIo, fmt::format("{}: {}: {}", path, what, std::strerror(errno))}; }

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::create(const LogOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return Status(StatusCode::kIo, fmt::format("{}: the folder of traces can't be made: {}", options.folder, error.message()));
  std::unique_ptr<LogFile> log(new LogFile(options));
  std::tm utc{};
  const std::time_t now = std::time(nullptr);
  gmtime_r(&now, &utc);
  log->stem_ = fmt::format("{}/{:%Y%m%dT%H%M%SZ}-{}", options.folder, utc, getpid());
  MSVM_RETURN_IF_ERROR(log->begin_file());
  return log;
}

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

// A second trace within one second gets a name of its own.
Status LogFile::begin_file() {
  int fd = -1;
  std::string path;
  for (int k = files_; k < files_ + 1000; ++k) {
    path = k == 0 ? stem_ + ".bclog" : fmt::format("{}-{}.bclog", stem_, k);
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
    if (fd >= 0 || errno != EEXIST) {
      files_ = k + 1;
      break;
    }
  }
  if (fd < 0) return io_error(path, "a trace can't be written there");
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  path_ = path;
  paths_.push_back(path);
  if (paths_.size() > static_cast<size_t>(std::max(1, options_.max_files))) {
    ::unlink(paths_.front().c_str());
    paths_.erase(paths_.begin());
  }
  bytes_ = 0;
  sequence_ = 0;
  const FileHeader h = make_header();
  return append(std::as_bytes(std::span(&h, 1)));
}

Status LogFile::append(std::span<const std::byte> bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io_error(path_, "the trace ends here");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Status LogFile::write_blocks(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped) {
  for (const Block& b : make_blocks(texts, events, sequence_, dropped)) MSVM_RETURN_IF_ERROR(append(b));
  return {};
}

Status LogFile::write(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped) {
  handover_.note(texts);
  MSVM_RETURN_IF_ERROR(write_blocks(texts, events, dropped));
  if (!handover_.begun() && bytes_ > options_.max_bytes) handover_.begin();
  if (!handover_.ready()) return {};
  MSVM_RETURN_IF_ERROR(begin_file());
  return write_blocks(handover_.end(), {}, dropped);
}

}  // namespace msvm::observe
