// The trace in files: one after the other, the oldest go. Used by one thread.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "observe/trace/block.h"
#include "observe/trace/handover.h"

namespace msvm::observe {

struct LogOptions {
  std::string folder = "ms_bc_trace";   // made if it isn't there
  int64_t max_bytes = 1ll << 30;        // of one file
  int max_files = 4;                    // of this trace
};

class LogFile {
 public:
  static Result<std::unique_ptr<LogFile>> create(const LogOptions& options);
  ~LogFile();
  /// Blocks reach the system, so that they outlive the process, but not the machine.
  Status write(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped);
  const std::string& path() const { return path_; }   // of the newest file

 private:
  explicit LogFile(LogOptions options) : options_(std::move(options)) {}
  Status begin_file();
  Status append(std::span<const std::byte> bytes);
  Status write_blocks(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped);

  const LogOptions options_;
  std::string stem_, path_;
  int fd_ = -1, next_ = 0;  // number of the next file
  int64_t bytes_ = 0;
  uint64_t sequence_ = 0;
  Handover handover_;
  std::vector<std::string> paths_;
};

}  // namespace msvm::observe
