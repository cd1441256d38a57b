// For this room's tests: engines that make native code at once, a program for them; and regions served as an entry would, without a compiler.
#pragma once
#include <gtest/gtest.h>

#include "msvm/engine/program_testing.h"
#include "msvm/jit/regions.h"
#include "msvm/vm/session.h"

namespace msvm::testing {

#ifdef MSVM_COMPILER
/// However busy the machine is.
inline constexpr double kPatientCompile = 60;

/// Its compiler waits for nobody, and nothing is kept on disk.
inline std::shared_ptr<Engine> native_engine(JitOptions jit = {}, int threads = 1) {
  jit.disk_cache = false;
  if (jit.compile_timeout == JitOptions{}.compile_timeout) jit.compile_timeout = kPatientCompile;
  return make_engine({.num_threads = threads, .jit = jit, .compiler = MSVM_COMPILER, .eager_compiler = true});
}
#endif

/// Two groups around a product; code for a size H isn't that for all sizes.
inline constexpr const char* kTwoGroups = R"(
module "two_groups" version 1
symbol N, H
const %w f32[4, 4] = fill(0.5)
func @main(x: f32[N, 4, H]) -> (y: f32[N, 4, H])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 4, H], f32, CPU(0)
  OP_CALL Mul(R0, R0) -> R2
  R3 = TENSOR_ALLOC [N, 4, H], f32, CPU(0)
  OP_CALL Add(R2, R0) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N, 4, H], f32, CPU(0)
  OP_CALL MatMul(R1, R3) -> R4
  TENSOR_FREE R3
  R5 = TENSOR_ALLOC [N, 4, H], f32, CPU(0)
  OP_CALL Softmax(R4) -> R5 {axis: -1}
  R6 = TENSOR_ALLOC [N, 4, H], f32, CPU(0)
  OP_CALL Sub(R5, R4) -> R6
  TENSOR_FREE R4
  TENSOR_FREE R5
  RETURN R6
)";

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
