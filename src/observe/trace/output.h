// Files that logs and dumps are written into.
#pragma once
#include <string>

#include "msvm/base/status.h"

namespace msvm::observe {

/// "FOLDER/20261130T123456Z-PID": now, this process. The folder is made if it isn't there.
Result<std::string> log_stem(const std::string& folder);

struct NewFile {
  int fd;
  std::string path;
  int number;
};
/// STEM.bclog if `number` is 0, else STEM-NUMBER.bclog; the next number while there is such a file already.
Result<NewFile> create_log(const std::string& stem, int number = 0);

}  // namespace msvm::observe
