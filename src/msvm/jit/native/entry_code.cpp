// Which entry somebody means who wants to read its code.
#include <fmt/format.h>

#include "msvm/jit/native/native_program.h"

namespace msvm::jit {
namespace {

constexpr size_t kMostNamed = 16;  // in an error

}  // namespace

// Beside a region's number nothing says which of several equal signatures is meant, so that the first one of that name serves.
Result<EntryCode> NativeProgram::entry_code(int32_t function, int32_t region, std::string_view name) const {
  if (!at_home()) return unsupported("the child of a fork doesn't show native code");
  std::lock_guard lock(mutex_);
  const FunctionJit* of = nullptr;
  int32_t index = -1;
  const Entry* best = nullptr;
  std::string names;
  size_t entries = 0;
  for (size_t g = 0; g < functions_.size(); ++g) {
    const FunctionJit* f = functions_[g].get();
    if (!f || (function >= 0 && g != static_cast<size_t>(function))) continue;
    for (size_t r = 0; r < f->regions.size(); ++r) {
      if (region >= 0 && r != static_cast<size_t>(region)) continue;
      for (const Entry& e : f->regions[r].entries) {
        if (entries++ < kMostNamed) names += (names.empty() ? "" : ", ") + e.entry->name;
        const bool meant = name.empty() || name == e.entry->name || name == e.alias || name == jit::to_string(e.box, *f->regions[r].region, f->view->dims());
        // Unless one is named: code before none, then what is hit most often.
        const auto rank = [](const Entry& x) { return std::pair(!x.key.empty(), x.entry->hits.load(std::memory_order_relaxed)); };
        if (!meant || (best && (!name.empty() || rank(e) <= rank(*best)))) continue;
        best = &e;
        of = f;
        index = static_cast<int32_t>(r);
      }
    }
  }
  if (!best && entries == 0) return Status(StatusCode::kNotFound, "there are no entries: no region was looked for yet, or its code isn't ready; run the program, or warm it up");
  if (!best) return Status(StatusCode::kNotFound, fmt::format("there is no entry \"{}\"; there are: {}{}", name, names, entries > kMostNamed ? fmt::format(" and {} more", entries - kMostNamed) : ""));
  const RegionJit& r = of->regions[static_cast<size_t>(index)];
  EntryCode code{.name = best->entry->name, .alias = best->alias, .box = jit::to_string(best->box, *r.region, of->view->dims()), .region_name = region_name(*of, index), .tier = best->entry->tier, .shared = best->shared};
  if (!best->key.empty()) code.image = std::static_pointer_cast<const NativeImage>(best->entry->image);
  code.program = best->key;
  code.view = of->view.get();
  code.region = r.region;
  code.lowered = &r.lowered;
  return code;
}

}  // namespace msvm::jit
