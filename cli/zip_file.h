// A zip archive, written as a whole.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::cli {

/// Names and contents, in order. Nothing is left behind if it can't be written.
Status write_zip(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace msvm::cli
