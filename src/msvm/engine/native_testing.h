// For this room's tests: regions of a program served as an entry would, without a compiler.
#pragma once
#include <gtest/gtest.h>

#include "msvm/jit/regions.h"
#include "msvm/vm/session.h"

namespace msvm::testing {

/// Attaches the regions of every function, without groups, each with one entry for all sizes: every call stays a call, but sizes,
/// memory and order are those of native code.
inline void serve_all_regions(const Program& program) {
  for (int32_t f = 0; f < static_cast<int32_t>(program.module().functions.size()); ++f) {
    const jit::FunctionView view(program.verified(), f);
    const jit::FunctionRegions found = jit::find_regions(view);
    std::vector<RegionSpec> specs;
    for (const jit::Region& r : found.regions) specs.push_back({r.first(), exit_of(view, r), r.symbols, {}});
    auto table = RegionTable::create(program, f, std::move(specs));
    ASSERT_TRUE(table.ok()) << table.status().message();
    RegionTable* t = program.attach(f, std::move(*table));
    for (size_t r = 0; r < t->regions().size(); ++r) {
      auto entry = std::make_shared<RegionEntry>();
      entry->box.resize(t->regions()[r].symbols.size());
      t->publish(r, {entry});
    }
  }
}

}  // namespace msvm::testing
