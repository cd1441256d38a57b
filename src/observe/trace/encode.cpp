#include "observe/trace/encode.h"

#include <cmath>
#include <limits>

namespace msvm::observe {
namespace {

// Numbers of a hostile file may be anything: they wrap.
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t sub(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }

constexpr size_t kMaxTextBytes = 32u << 20;

}  // namespace

std::vector<std::byte> encode_events(std::span<const Event> events) {
  ByteWriter out;
  Event last;
  for (const Event& e : events) {
    out.u8(static_cast<uint8_t>(static_cast<unsigned>(e.kind) | static_cast<unsigned>(e.tier) << 5));
    out.svarint(sub(e.begin, last.begin));
    out.svarint(sub(e.end, e.begin));
    out.varint(e.function);
    out.svarint(static_cast<int64_t>(e.program) - last.program);
    out.svarint(static_cast<int64_t>(e.instruction) - last.instruction);
    out.svarint(e.region);
    out.svarint(static_cast<int64_t>(e.name) - last.name);
    out.svarint(static_cast<int64_t>(e.detail) - last.detail);
    out.svarint(e.bytes);
    out.varint(e.work > 0 && e.work < 1e18 ? static_cast<uint64_t>(std::llround(e.work)) : 0);
    out.svarint(static_cast<int64_t>(e.thread) - last.thread);
    out.svarint(static_cast<int64_t>(e.run) - last.run);
    last = e;
  }
  return out.take();
}

void decode_events(ByteReader& in, uint32_t count, std::vector<Event>& events) {
  Event last;
  auto id = [&](uint32_t before) { return static_cast<uint32_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(in.svarint())); };
  for (uint32_t k = 0; k < count && in.ok(); ++k) {
    Event e;
    const uint8_t head = in.u8();
    if ((head & 31) >= kEventInfo.size() || head >> 5 > 2) in.fail("an event of a kind or tier that isn't there");
    e.kind = static_cast<EventKind>(head & 31);
    e.tier = head >> 5;
    e.begin = add(last.begin, in.svarint());
    e.end = add(e.begin, in.svarint());
    e.function = static_cast<uint16_t>(in.index(std::numeric_limits<uint16_t>::max() + 1ull, "function"));
    e.program = id(last.program);
    e.instruction = static_cast<int32_t>(id(static_cast<uint32_t>(last.instruction)));
    e.region = static_cast<int32_t>(in.svarint());
    e.name = id(last.name);
    e.detail = id(last.detail);
    e.bytes = in.svarint();
    e.work = static_cast<double>(in.varint());
    e.thread = id(last.thread);
    e.run = id(last.run);
    if (in.ok()) events.push_back(e);
    last = e;
  }
}

std::vector<std::byte> encode_texts(std::span<const EventStream::Text> texts) {
  ByteWriter out;
  for (const auto& t : texts) {
    out.varint(t.id);
    out.string(t.text);
  }
  return out.take();
}

void decode_texts(ByteReader& in, uint32_t count, std::vector<std::pair<TextId, std::string>>& texts) {
  for (uint32_t k = 0; k < count && in.ok(); ++k) {
    const auto id = static_cast<TextId>(in.index(1ull << 32, "text"));
    std::string text(in.string(kMaxTextBytes));
    if (in.ok()) texts.emplace_back(id, std::move(text));
  }
}

}  // namespace msvm::observe
