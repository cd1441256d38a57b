// The trace file (.bclog): a header, then blocks, each with a checksum. A file whose writer was killed is whole up to its last block.
//
//   header   FileHeader
//   block    BlockHeader | bytes
//     texts    count x (varint id | varint length | bytes)
//     events   count x encoded event (encode.h), times relative to the one before, the first to 0
//     raw      count x Event as in memory: from a process that crashed
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace msvm::observe {

struct FileHeader {
  char magic[8] = {'M', 'S', 'V', 'M', 'B', 'C', 'L', 'G'};
  uint32_t version = 1;
  uint32_t pid = 0;
  int64_t wall_ns = 0;         // since 1970 UTC, at `ticks`
  int64_t ticks = 0;
  double ns_per_tick = 1;
  double core_gflops = 0;      // peak of one core, f32; 0: not measured
  uint32_t event_bytes = 0;    // of a raw event
  uint32_t reserved = 0;
  uint64_t checksum = 0;       // of what stands before it
};
static_assert(sizeof(FileHeader) == 64);

enum class BlockType : uint32_t { kTexts = 1, kEvents = 2, kRaw = 3 };

struct BlockHeader {
  char magic[4] = {'B', 'L', 'C', 'K'};
  BlockType type{};
  uint32_t count = 0;
  uint32_t bytes = 0;          // that follow
  uint64_t sequence = 0;       // 0, 1, …
  uint64_t dropped = 0;        // events that found no room, since the trace began
  uint64_t checksum = 0;       // of what stands before it, then of the bytes
};
static_assert(sizeof(BlockHeader) == 40);

inline constexpr uint32_t kMaxBlockBytes = 64u << 20;

/// XXH3. Safe in signal handlers.
uint64_t checksum_of(const FileHeader& h);
/// `bytes` may come in two pieces.
uint64_t checksum_of(const BlockHeader& h, std::span<const std::byte> bytes, std::span<const std::byte> more = {});

}  // namespace msvm::observe
