// Regions: the parts of a function that native code may take over, and what crosses their borders.
#pragma once
#include <string_view>
#include <vector>

#include "msvm/jit/function_view.h"

namespace msvm::jit {

/// Instructions [begin, end) of one block, counted over the function.
struct Segment {
  BlockId block;
  int32_t begin, end;
  bool operator==(const Segment&) const = default;
};

/// A set of a region's entry symbols, by their position in Region::symbols.
using SymbolSet = uint64_t;
constexpr size_t kMaxEntrySymbols = 63;
/// Stands for all symbols beyond kMaxEntrySymbols. No box fixes it.
constexpr SymbolSet kFurtherSymbols = SymbolSet{1} << kMaxEntrySymbols;

/// How many axes of a region's tensors depend on just these symbols.
struct AxisCount {
  SymbolSet symbols;
  int64_t axes;
};

/// A maximal run of instructions with one entry and one exit, from a destination to the last OP_CALL (and the frees right behind it),
/// whose sizes are functions of `symbols`. Whole branches lie in it if their conditions are such functions too; a loop's body is a
/// region of its own. It holds no output that a call allocates, no TENSOR_READ, RESIZE, list, string, tensor of unknown rank or of
/// another device than CPU(0).
struct Region {
  int32_t function = 0;
  std::vector<Segment> segments;        // in reverse post-order of their blocks
  std::vector<SymbolId> symbols;        // entry symbols: what its types and conditions mention, those of its inputs first, in order of first mention
  SymbolSet free = 0;                   // those that are only ever the extent of an outermost axis that nothing reduces, reorders or mixes
  std::vector<Reg> inputs;              // tensors defined outside and read here
  std::vector<Reg> written;             // destinations from outside (or windows of them) that it writes
  std::vector<Reg> scalars;             // scalar registers defined outside and read here
  std::vector<Reg> constants;           // read here, wherever defined
  std::vector<Reg> outputs;             // defined here and used outside
  int32_t calls = 0;
  int32_t loop_depth = 0;
  // Axes of its non-constant tensors: how many there are, how many have a constant (or captured) size, and on what the others depend.
  int64_t axes = 0, constant_axes = 0;
  std::vector<AxisCount> bound_axes;    // by symbols, ascending

  int32_t first() const { return segments.front().begin; }
  /// Of the last segment: not the one behind which the region ends if that is a JUMP (see exit_of).
  int32_t last() const { return segments.back().end - 1; }
  SymbolSet all() const { return symbols.size() > kMaxEntrySymbols ? ~SymbolSet{0} : (SymbolSet{1} << symbols.size()) - 1; }
};

/// Why an instruction lies in no region.
enum class BorderReason : uint8_t {
  kNone,
  kAllocatesOutput,  // an OP_CALL with a `new` output
  kRead,             // TENSOR_READ
  kResize,
  kList,
  kString,
  kUnknownRank,
  kDevice,
  kCustomOperator,   // registered by the host
  kEffect,           // the host sees it: Print
  kMerge,            // a PHI of a loop, or where paths meet that no region takes in
  kValue,            // a size or condition made from data
  kBranch,           // control flow that no region takes in
  kReturn,
};
std::string_view border_reason_text(BorderReason reason);

struct FunctionRegions {
  std::vector<Region> regions;        // in reverse post-order: disjoint
  std::vector<BorderReason> borders;  // by instruction
};

/// Near-linear, without recursion over blocks or registers.
FunctionRegions find_regions(const FunctionView& view);

/// The first instruction behind the region, on every path.
int32_t exit_of(const FunctionView& view, const Region& region);

/// Fills in all but function, segments, calls and loop_depth of regions whose segments are known.
void describe_regions(const FunctionView& view, std::vector<Region>& regions);

}  // namespace msvm::jit
