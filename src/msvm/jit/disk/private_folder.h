// A folder that no other user of the machine can change, now or by changing something above it.
#pragma once
#include <string>

#include "msvm/base/status.h"
#include "msvm/jit/disk/fd.h"

namespace msvm::jit {

/// Where code is kept: MSVM_CACHE_DIR, else $XDG_CACHE_HOME/msvm/code, else ~/.cache/msvm/code.
Result<std::string> code_folder();

/// Opens `path` one component after the other without following links. Each must be a folder of root or this user that nobody else
/// can write to (or only as in /tmp, where nobody can rename what isn't his); the last one this user's, with mode 0700. What is
/// missing is made if `create`; else kNotFound. The texts of refusals name component, finding and mend.
Result<Fd> open_private_folder(const std::string& path, bool create);

}  // namespace msvm::jit
