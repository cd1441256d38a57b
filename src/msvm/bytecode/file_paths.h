// Names of files beside a module.
#pragma once
#include <string>
#include <string_view>

#include "msvm/base/status.h"

namespace msvm {

/// "." for a bare file name.
std::string parent_directory(const std::string& path);
/// Whether a name that comes out of a file may be looked up beside it: relative, no "..", no empty part.
Status check_beside_path(std::string_view name);

}  // namespace msvm
