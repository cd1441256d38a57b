// Aligned copies of what a mapped file holds at odd places. Their memory can be given back, and filled again from the file.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace msvm {

/// A copy of `stored` that starts at a page; null without memory. `file` keeps the mapping that `stored` lies in.
std::shared_ptr<const std::byte> copy_of_file(std::span<const std::byte> stored, std::shared_ptr<const void> file);

/// Gives back the memory of the copy that begins at `first`. From then on its bytes are undefined until fill_copy(). False, and
/// nothing happens: no copy begins there.
bool drop_copy(const std::byte* first);
/// Makes the bytes what they were. Nobody may read them meanwhile.
void fill_copy(const std::byte* first);
/// Whether a copy begins there.
bool is_copy(const std::byte* first);

}  // namespace msvm
