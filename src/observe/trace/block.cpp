#include "observe/trace/block.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "msvm/base/ticks.h"
#include "msvm/device/peak.h"
#include "observe/trace/encode.h"

namespace msvm::observe {
namespace {

constexpr size_t kEventsPerBlock = 1 << 16, kTextBytesPerBlock = 1 << 20;

Block make_block(BlockType type, size_t count, std::span<const std::byte> bytes, uint64_t sequence, uint64_t dropped) {
  BlockHeader h;
  h.type = type;
  h.count = static_cast<uint32_t>(count);
  h.bytes = static_cast<uint32_t>(bytes.size());
  h.sequence = sequence;
  h.dropped = dropped;
  h.checksum = checksum_of(h, bytes);
  Block b(sizeof(h) + bytes.size());
  std::memcpy(b.data(), &h, sizeof(h));
  std::copy(bytes.begin(), bytes.end(), b.begin() + sizeof(h));
  return b;
}

}  // namespace

FileHeader make_header() {
  FileHeader h;
  h.pid = static_cast<uint32_t>(getpid());
  h.ns_per_tick = nanoseconds_per_tick();
  h.core_gflops = measured_peak_gflops();
  h.event_bytes = sizeof(Event);
  h.ticks = ticks();
  h.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  h.checksum = checksum_of(h);
  return h;
}

std::vector<Block> make_blocks(std::span<const EventStream::Text> texts, std::span<const Event> events, uint64_t& sequence, uint64_t dropped) {
  std::vector<Block> blocks;
  while (!texts.empty()) {
    size_t n = 0;
    for (size_t bytes = 0; n < texts.size() && (n == 0 || bytes < kTextBytesPerBlock); ++n) bytes += texts[n].text.size();
    blocks.push_back(make_block(BlockType::kTexts, n, encode_texts(texts.first(n)), sequence++, dropped));
    texts = texts.subspan(n);
  }
  while (!events.empty()) {
    const size_t n = std::min(events.size(), kEventsPerBlock);
    blocks.push_back(make_block(BlockType::kEvents, n, encode_events(events.first(n)), sequence++, dropped));
    events = events.subspan(n);
  }
  return blocks;
}

}  // namespace msvm::observe
