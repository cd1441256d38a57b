#include "observe/trace/log_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "msvm/base/file.h"
#include "observe/trace/output.h"

namespace msvm::observe {

Result<std::unique_ptr<LogFile>> LogFile::create(const LogOptions& options) {
  std::unique_ptr<LogFile> log(new LogFile(options));
  MSVM_ASSIGN_OR_RETURN(log->stem_, log_stem(options.folder));
  MSVM_RETURN_IF_ERROR(log->begin_file());
  return log;
}

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status LogFile::begin_file() {
  MSVM_ASSIGN_OR_RETURN(const NewFile file, create_log(stem_, next_));
  if (fd_ >= 0) ::close(fd_);
  fd_ = file.fd;
  path_ = file.path;
  next_ = file.number + 1;
  paths_.push_back(path_);
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
  if (!within_file_limit(static_cast<uint64_t>(bytes_))) return {StatusCode::kIo, path_ + ": the trace ends here: the process may write no larger file (RLIMIT_FSIZE)"};
  if (!write_all(fd_, bytes)) return {StatusCode::kIo, fmt::format("{}: the trace ends here: {}", path_, std::strerror(errno))};
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
