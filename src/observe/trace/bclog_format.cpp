#include "observe/trace/bclog_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace msvm::observe {

uint64_t checksum_of(const FileHeader& h) { return XXH3_64bits(&h, offsetof(FileHeader, checksum)); }

uint64_t checksum_of(const BlockHeader& h, std::span<const std::byte> bytes, std::span<const std::byte> more) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const auto piece : {std::as_bytes(std::span(&h, 1)).first(offsetof(BlockHeader, checksum)), bytes, more}) XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace msvm::observe
