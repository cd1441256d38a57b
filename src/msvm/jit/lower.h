// From a region to loop programs: groups of calls that one native kernel does together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/jit/box.h"
#include "msvm/loops/loop_program.h"
#include "msvm/vm/region_code.h"

namespace msvm::jit {

struct LowerOptions {
  bool strict = false;        // no reduction is lowered: its order is the compiler's
  bool graph_kernel = true;   // false: nothing is fused, so that there are no groups
  /// A group must save at least this many calls or, as one call, do at least this many steps of a body.
  int min_profit = 1;
  int max_tensors = 24, max_steps = 192;  // of a group
};

/// Why a call of the region belongs to no group.
struct NotFused {
  int32_t instruction;
  std::string reason;
};

struct LoweredRegion {
  std::vector<RegionGroup> groups;  // by their last member
  loops::Program program;           // kernels[i] belongs to groups[i]
  /// One per group: of each step of its kernel, in the order of the text, the members it comes from: bit k for members[k].
  std::vector<std::vector<uint64_t>> origins;
  std::vector<NotFused> why_not;    // ascending
  std::vector<std::string> notes;   // one per group: "fused Mul, Add, Relu (instr 12, 14, 16) over [N, H, W, C]"
};

/// Groups whose kernels serve all values of the region's entry symbols. What the caller must do: every allocation and view of the region
/// comes before a group, a group runs at the place of its last member, buffers of the region stay until its end, none is shared between
/// two destinations, and in-place hints that touch members are dropped. Members lie in one block; nothing outside a group reads what a
/// member writes, or writes what a member reads or writes, between that member and the last one. Destinations that only members read
/// stay unwritten. Elementwise results have the interpreter's bits. Only reads the module.
LoweredRegion lower_region(const FunctionView& view, const Region& region, const LowerOptions& options = {});

/// The same kernels with the size arguments that the box fixes as numbers. Arguments keep their places. Kernels that print alike can
/// share code.
loops::Program specialise(const LoweredRegion& lowered, const FunctionView& view, const Region& region, const Box& box);

/// Groups with where their pointers and sizes come from, the kernels, and what stays as it is. For reading and for tests.
std::string to_string(const LoweredRegion& lowered, const FunctionView& view);

}  // namespace msvm::jit
