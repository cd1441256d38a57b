// Events and texts as bytes of a block, and back.
#pragma once
#include <string>
#include <vector>

#include "msvm/base/bytes.h"
#include "msvm/events/event_stream.h"

namespace msvm::observe {

/// Some 20 bytes an event.
std::vector<std::byte> encode_events(std::span<const Event> events);
std::vector<std::byte> encode_texts(std::span<const EventStream::Text> texts);
/// Appends `count` items. What the bytes say wrong is in `in.status()`; items before it are appended.
void decode_events(ByteReader& in, uint32_t count, std::vector<Event>& events);
void decode_texts(ByteReader& in, uint32_t count, std::vector<std::pair<TextId, std::string>>& texts);

}  // namespace msvm::observe
