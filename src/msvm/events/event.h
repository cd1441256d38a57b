// What happened, as a fixed-size record. This room doesn't know what the numbers mean beyond what stands here.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace msvm {

enum class EventKind : uint8_t {
#define MSVM_EVENT(id, name, doc) id,
#include "msvm/events/event.def"
#undef MSVM_EVENT
};
struct EventInfo {
  std::string_view name, doc;
};
inline constexpr std::array kEventInfo = {
#define MSVM_EVENT(id, name, doc) EventInfo{name, doc},
#include "msvm/events/event.def"
#undef MSVM_EVENT
};
inline const EventInfo& event_info(EventKind k) { return kEventInfo[static_cast<size_t>(k)]; }

/// The id of a text that EventStream::define() was given; 0: none.
using TextId = uint32_t;

struct Event {
  int64_t begin = 0, end = 0;      // ticks (base/ticks.h)
  EventKind kind{};
  uint8_t tier = 0;                // 0 interpreted, 1 native for all sizes, 2 for settled ones
  uint16_t function = 0;           // of the program
  TextId program = 0;              // its table (program_text in vm/tracer.h)
  int32_t instruction = -1;
  int32_t region = -1;
  TextId name = 0, detail = 0;     // kernel, entry, …; "f32[1, 3] -> f32[1]"
  int64_t bytes = 0;               // of the tensors that it read and wrote
  double work = 0;
  uint32_t thread = 0;             // the system's; the stream fills it in
  uint32_t run = 0;                // of its thread, counted; 0 outside runs
};
static_assert(sizeof(Event) == 64);

}  // namespace msvm
