// Files: mapping and reading what is there, replacing a file as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

/// A read-only mapping of a regular file; unmapped when destroyed. Its bytes can change, and reading them can fault, if another
/// process writes or truncates the file: what must not change is copied first.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  /// `relative` below `folder`: no absolute path, no "..", no link that leads out of the folder.
  static Result<MappedFile> open_beneath(const std::string& folder, const std::string& relative);
  MappedFile() = default;
  MappedFile(MappedFile&& o) noexcept { *this = std::move(o); }
  MappedFile& operator=(MappedFile&& o) noexcept;
  ~MappedFile();
  std::span<const std::byte> data() const { return {data_, size_}; }  // starts at a page; empty for an empty file

 private:
  static Result<MappedFile> map(int fd, const std::string& path);  // closes fd
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Gives back the memory of whole pages inside `bytes` if a MappedFile holds them; reading them again fetches them from the file.
void drop_mapped_pages(std::span<const std::byte> bytes);

/// The whole of a regular file; kResourceLimit if it is larger than `max_bytes`.
Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t max_bytes = UINT64_MAX);
Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes = UINT64_MAX);

/// Every byte, as one write(2) may take fewer. False: errno. Nothing but system calls: signal handlers may call it.
bool write_all(int fd, std::span<const std::byte> data);
/// Past RLIMIT_FSIZE a write doesn't fail, it raises a signal that ends the program: whether a file may have so many bytes.
bool within_file_limit(uint64_t bytes);

/// Writes a temporary file beside `path`, then renames it: readers see the old content or the new, never a part.
Status write_file_atomically(const std::string& path, std::span<const std::byte> data);
Status write_file_atomically(const std::string& path, std::string_view text);

}  // namespace msvm
