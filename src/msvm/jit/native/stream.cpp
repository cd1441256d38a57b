#include "msvm/jit/native/stream.h"

#include <fmt/format.h>

#include "msvm/base/ticks.h"

namespace msvm::jit {

void stream_event(EventKind kind, std::string_view name, std::string_view detail) {
  Event e;
  e.kind = kind;
  e.begin = e.end = ticks();
  EventStream::process().emit(e, name, detail);
}

void stream_compilation(std::string_view signature, const CompileResult& result, int64_t code_bytes) {
  if (!EventStream::process().on()) return;
  Event e;
  e.kind = EventKind::kCompile;
  e.end = ticks();
  e.begin = e.end - static_cast<int64_t>(result.seconds * 1e9 / nanoseconds_per_tick());
  e.bytes = code_bytes;
  std::string detail(outcome_info(result.outcome).text);
  for (size_t p = 0; p < kPhases; ++p) detail += fmt::format("{}{} {:.2f} ms", p ? ", " : ": ", kPhaseNames[p], result.phases[p] * 1e3);
  EventStream::process().emit(e, signature, detail);
}

}  // namespace msvm::jit
