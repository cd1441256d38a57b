#include "observe/snapshot/disassembly.h"

#include <fmt/format.h>

namespace msvm::observe {

Result<std::string> disassembly_json(const Executable& program, int32_t function, int32_t region, std::string_view entry) {
  const JitView view = program.jit_view();
  for (const JitRegionView& r : view.regions) {
    if (r.function != function || r.region != region) continue;
    for (const JitEntryView& e : r.entries)
      if (e.name == entry || (!e.alias.empty() && e.alias == entry)) return unsupported("this build has no disassembler");
    return Status(StatusCode::kNotFound, fmt::format("{} has no entry '{}'", r.name, entry));
  }
  return Status(StatusCode::kNotFound, fmt::format("function {} has no region {}", function, region));
}

}  // namespace msvm::observe
