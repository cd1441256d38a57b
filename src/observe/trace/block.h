// Blocks of a trace as bytes, ready to be written.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "msvm/events/event_stream.h"
#include "observe/trace/bclog_format.h"

namespace msvm::observe {

using Block = std::vector<std::byte>;  // header and bytes

/// As of now: the clock, this process.
FileHeader make_header();
/// Texts, then the events that name them; as many blocks as that takes. `sequence` goes on.
std::vector<Block> make_blocks(std::span<const EventStream::Text> texts, std::span<const Event> events, uint64_t& sequence, uint64_t dropped);

}  // namespace msvm::observe
