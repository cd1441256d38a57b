// One group of calls: whether its members walk the same loops, and the kernel that does them together.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/jit/lower_calls.h"
#include "msvm/jit/lower_uses.h"

namespace msvm::jit::lowering {

/// The loops of a group: sizes of the axes from the outermost in memory to the innermost, without those of the constant size 1.
struct Domain {
  std::vector<Dim> sizes;
  Reg walked = kNoReg;  // a tensor with these axes
  size_t row_axes = 0;  // how many of the last ones are the row of reductions; 0: there is none
};

/// A tensor of the group, and the axis that each of the loops walks along; -1: none.
struct TensorUse {
  Reg reg = kNoReg;
  DType dtype = DType::kF32;
  std::vector<int> axis;        // by loop
  std::vector<uint8_t> unsure;  // by loop: its size may be 1 where the loop's isn't
  bool operator==(const TensorUse& o) const { return reg == o.reg && axis == o.axis; }
};

struct Output {
  int32_t tensor;   // of the group
  Ref value;
  bool row = false; // one value per row
  bool stored = false;
};

struct GroupGraph {
  Domain domain;
  std::vector<TensorUse> tensors;
  Graph graph;
  std::vector<Output> outputs;  // by member
};

struct LoweredGroup {
  RegionGroup group;
  loops::Kernel kernel;
  Domain domain;
  int steps = 0;   // of its calls' arithmetic
  std::vector<uint64_t> origins;  // as in LoweredRegion
};

/// What all groups of a region share.
struct GroupContext {
  const FunctionView& view;
  const Uses& uses;
  const LowerOptions& options;
  std::unordered_map<int32_t, CallLoops> loops;  // of instructions that can be lowered
};

/// The loops that a call alone would walk.
Domain domain_of(const GroupContext& context, int32_t call);

/// The members (ascending, all with loops) as one graph; none if `why`.
std::optional<GroupGraph> graph_of(const GroupContext& context, std::span<const int32_t> members, std::string& why);

/// The group and its kernel; none if `why`. Doesn't ask whether the members may be moved to the place of the last.
std::optional<LoweredGroup> lower_group(const GroupContext& context, std::span<const int32_t> members, std::string& why);

/// Walks over the row and what stands between them, with the graph's numbers of tensors; operands that are the row's extent name the size
/// argument kRowArgument. `constant_row` is that extent if it is known. Says which tensors are loaded and stored.
constexpr int32_t kRowArgument = -2;
struct Passes {
  std::vector<loops::Pass> passes;
  std::vector<uint8_t> loaded, stored;  // by tensor
  std::vector<uint64_t> members;        // by step of all passes: the members it comes from, as bits
};
Passes emit_passes(const GroupGraph& g, std::optional<int64_t> constant_row);

}  // namespace msvm::jit::lowering
