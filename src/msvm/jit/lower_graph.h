// What a group computes, as values: the step between calls and loop programs.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "msvm/bytecode/instruction.h"
#include "msvm/loops/loop_program.h"

namespace msvm::jit::lowering {

/// A value of the graph, a constant, or the extent of the row (i64).
struct Ref {
  enum Kind : uint8_t { kNone, kNode, kNumber, kRowExtent } kind = kNone;
  int32_t node = -1;
  double number = 0;     // of floats and bools
  int64_t integer = 0;   // of integers
  bool operator==(const Ref&) const = default;

  static Ref of(double v) { return {kNumber, -1, v, 0}; }
  static Ref of_integer(int64_t v) { return {kNumber, -1, 0, v}; }
  static Ref row_extent() { return {kRowExtent}; }
};

/// One step. Loads name a tensor of the group.
struct Node {
  loops::Op op;
  DType type;                    // of the value: f32 for elements of f16 and bf16
  std::array<Ref, 3> operands;
  int32_t tensor = -1;
  bool row = false;              // one value per row
  int32_t home = -1;             // tensor of the group that may hold it for later passes; -1: none
  uint64_t members = 0;          // whose step it is, as bits
};

/// Equal steps are made once. Nodes come before those that read them.
class Graph {
 public:
  Ref load(int32_t tensor, DType dtype, bool row);
  Ref apply(loops::Op op, DType type, Ref a, Ref b = {}, Ref c = {});
  /// Of the row: a reduction, whose value is one per row.
  Ref reduce(loops::Op op, DType type, Ref a);
  /// Full values of `type` that are made from now on may be kept in this tensor until it gets its own; -1: nowhere.
  void set_home(int32_t tensor, DType type) { home_ = tensor, home_type_ = type; }
  /// Of the group, whose steps are made from now on.
  void set_member(size_t member) { member_ = uint64_t{1} << (member % 64); }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& at(Ref r) const { return nodes_[static_cast<size_t>(r.node)]; }
  bool is_row(Ref r) const { return r.kind == Ref::kRowExtent || (r.kind == Ref::kNode && at(r).row); }

 private:
  Ref add(Node node);
  std::vector<Node> nodes_;
  std::unordered_multimap<uint64_t, int32_t> by_hash_;
  int32_t home_ = -1;
  DType home_type_ = DType::kF32;
  uint64_t member_ = 0;
};

/// What a step costs a vector unit, in adds.
int step_cost(loops::Op op);

}  // namespace msvm::jit::lowering
