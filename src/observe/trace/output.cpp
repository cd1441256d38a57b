#include "observe/trace/output.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace msvm::observe {

Result<std::string> log_stem(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status(StatusCode::kIo, fmt::format("{}: the folder of traces can't be made: {}", folder, error.message()));
  std::tm utc{};
  const std::time_t now = std::time(nullptr);
  gmtime_r(&now, &utc);
  return fmt::format("{}/{:%Y%m%dT%H%M%SZ}-{}", folder, utc, getpid());
}

Result<NewFile> create_log(const std::string& stem, int number) {
  constexpr int kTries = 1000;
  std::string path;
  for (int k = number; k < number + kTries; ++k) {
    path = k == 0 ? stem + ".bclog" : fmt::format("{}-{}.bclog", stem, k);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
    if (fd >= 0) return NewFile{fd, path, k};
    if (errno != EEXIST) break;
  }
  return Status(StatusCode::kIo, fmt::format("{}: a trace can't be written there: {}", path, std::strerror(errno)));
}

}  // namespace msvm::observe
