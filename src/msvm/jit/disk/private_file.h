// Files of a private folder: this user's, mode 0600, read and replaced as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "msvm/jit/disk/fd.h"

namespace msvm::jit {

enum class ReadOutcome : uint8_t {
  kRead,
  kMissing,  // or can't be read now
  kForeign,  // not a regular file of this user with mode 0600, or too large: nothing that this program wrote
};

/// The content as it was at one moment. `touch` makes it the most recently used one.
ReadOutcome read_private(int folder, const std::string& name, size_t max_bytes, bool touch, std::vector<std::byte>& out);

enum class Replace : uint8_t { kYes, kOnlyNew };
/// Through a temporary file and a rename (kOnlyNew: an existing file stays, and false is returned). False, and nothing left behind,
/// if the disk is full, a limit is reached or the folder can't be written.
bool write_private(int folder, const std::string& name, std::span<const std::byte> data, Replace replace);

/// What names of unfinished files begin with.
inline constexpr const char* kTemporaryPrefix = ".new.";

}  // namespace msvm::jit
