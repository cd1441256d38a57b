// What the JIT tells the event stream. Private to the room.
#pragma once
#include <cstdint>
#include <string_view>

#include "msvm/events/event_stream.h"
#include "msvm/jit/compile/outcome.h"

namespace msvm::jit {

/// Something that happened now.
void stream_event(EventKind kind, std::string_view name, std::string_view detail);
/// A compilation that has just ended.
void stream_compilation(std::string_view signature, const CompileResult& result, int64_t code_bytes);

}  // namespace msvm::jit
