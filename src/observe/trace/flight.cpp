#include "observe/trace/flight.h"

#include "msvm/base/file.h"

namespace msvm::observe {
namespace {

/// A block of what lies in memory as it is.
bool write_block(int fd, BlockType type, size_t count, uint64_t sequence, std::span<const std::byte> bytes, std::span<const std::byte> more = {}) {
  BlockHeader h;
  h.type = type;
  h.count = static_cast<uint32_t>(count);
  h.bytes = static_cast<uint32_t>(bytes.size() + more.size());
  h.sequence = sequence;
  h.checksum = checksum_of(h, bytes, more);
  return write_all(fd, std::as_bytes(std::span(&h, 1))) && write_all(fd, bytes) && write_all(fd, more);
}

size_t put_varint(std::byte* to, uint64_t v) {
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) to[n++] = static_cast<std::byte>(v | 0x80);
  to[n++] = static_cast<std::byte>(v);
  return n;
}

/// What the recorder's thread would have taken next.
bool write_waiting(int fd) {
  const EventStream& stream = EventStream::process();
  uint64_t sequence = UINT64_MAX;
  bool written = true;
  (void)stream.visit_waiting_texts([&](const EventStream::Text& t) {
    std::byte head[20];
    size_t n = put_varint(head, t.id);
    n += put_varint(head + n, t.text.size());
    written = written && write_block(fd, BlockType::kTexts, 1, sequence--, std::span(head, n), std::as_bytes(std::span(t.text)));
  });
  for (size_t k = 0; written && k < EventStream::kMostRings; ++k) {
    const EventRing* ring = stream.ring_at(k);
    if (!ring) continue;
    for (const EventRing::Piece& piece : ring->waiting())
      if (piece.count) written = written && write_block(fd, BlockType::kRaw, piece.count, sequence--, std::as_bytes(std::span(piece.first, piece.count)));
  }
  return written;
}

}  // namespace

Flight::Flight(FlightOptions options) : options_(std::move(options)), header_(make_header()), now_(std::make_unique<Part>()) { seen_now_.store(now_.get(), std::memory_order_release); }
Flight::~Flight() = default;

bool Flight::full() const {
  const double age = std::chrono::duration<double>(std::chrono::steady_clock::now() - now_->since).count();
  return age > options_.seconds || now_->bytes > options_.max_bytes / 2 || now_->count.load(std::memory_order_relaxed) > Part::kMostBlocks * 3 / 4;
}

void Flight::append(std::vector<Block> blocks) {
  for (Block& b : blocks) {
    const size_t k = now_->count.load(std::memory_order_relaxed);
    if (k == Part::kMostBlocks) return;
    now_->bytes += static_cast<int64_t>(b.size());
    now_->owned.push_back(std::make_unique<const Block>(std::move(b)));
    now_->blocks[k].store(now_->owned.back().get(), std::memory_order_release);
    now_->count.store(k + 1, std::memory_order_release);
  }
}

void Flight::add(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events, uint64_t dropped) {
  handover_.note(texts);
  append(make_blocks(texts, events, sequence_, dropped));
  if (!handover_.begun() && full()) handover_.begin();
  if (!handover_.ready()) return;
  retired_ = std::move(before_);  // a handler that reads it has until the next time
  before_ = std::move(now_);
  now_ = std::make_unique<Part>();
  seen_before_.store(before_.get(), std::memory_order_release);
  seen_now_.store(now_.get(), std::memory_order_release);
  append(make_blocks(handover_.end(), {}, sequence_, dropped));
}

bool Flight::write_to(int fd, bool rings) const {
  if (!write_all(fd, std::as_bytes(std::span(&header_, 1)))) return false;
  for (const Part* p : {seen_before_.load(std::memory_order_acquire), seen_now_.load(std::memory_order_acquire)}) {
    if (!p) continue;
    const size_t count = p->count.load(std::memory_order_acquire);
    for (size_t k = 0; k < count; ++k)
      if (const Block* b = p->blocks[k].load(std::memory_order_acquire); b && !write_all(fd, *b)) return false;
  }
  return !rings || write_waiting(fd);
}

}  // namespace msvm::observe
