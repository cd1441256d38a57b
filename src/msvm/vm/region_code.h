// What the JIT gives sessions: regions, which calls of them run as one kernel, and native code. Immutable once published.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "msvm/bytecode/module.h"

namespace msvm {

/// Rows [row_begin, row_end) of the flattened outer axes, columns [column_begin, column_end) of the row.
using RegionKernelFn = void (*)(void* const* pointers, const int64_t* sizes, int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end);

/// A size argument, from the metadata that tensors have in a run: the product of `extents`, or a stride. 1 without either.
struct RegionSize {
  struct Axis {
    Reg tensor = kNoReg;
    int32_t axis = 0;
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> extents;
  Axis stride;  // kNoReg: none. In elements; 0 where that axis has size 1
  bool operator==(const RegionSize&) const = default;
};

/// Calls of one block that one kernel does together, at the place of the last of them.
struct RegionGroup {
  std::vector<int32_t> members;          // instructions (OP_CALL), ascending
  std::vector<Reg> pointers;             // tensors (or views) in the order of the kernel's
  std::vector<RegionSize> sizes;         // size arguments
  std::vector<RegionSize> outer;         // extents of the outer axes
  RegionSize inner;                      // extent of the row
  bool splits_columns = true;            // else a row is done by one thread
  double ns_per_element = 0.5;           // a guess, to split the work
  bool operator==(const RegionGroup&) const = default;
};

/// A region of one function, with one entry and one exit.
struct RegionSpec {
  int32_t begin = 0, end = 0;            // its first instruction, and the first one behind it on every path
  std::vector<SymbolId> symbols;         // entry symbols
  std::vector<RegionGroup> groups;
};

/// The values from `min` to `max`, both included; open if that is everything.
struct Extent {
  int64_t min = INT64_MIN, max = INT64_MAX;
  static Extent value(int64_t v) { return {v, v}; }
  bool open() const { return min == INT64_MIN && max == INT64_MAX; }
  bool holds(int64_t v) const { return min <= v && v <= max; }
  bool operator==(const Extent&) const = default;
};

/// Whether a box, one extent for each entry symbol, holds the sizes that begin `values`.
inline bool holds(std::span<const Extent> box, std::span<const int64_t> values) {
  for (size_t k = 0; k < box.size(); ++k)
    if (!box[k].holds(values[k])) return false;
  return true;
}

/// A box of sizes and its code: a function for each group of the region, in their order.
struct RegionEntry {
  std::vector<Extent> box;               // one for each entry symbol
  std::vector<RegionKernelFn> kernels;
  std::shared_ptr<const void> image;     // keeps the code mapped
  std::string name;                      // signature, as shown
  int tier = 1;                          // 2: its box fixes or bounds something
  mutable std::atomic<int64_t> hits{0};
  mutable std::atomic<int64_t> last_hit{0};  // ticks, as far as observers tell
};

/// What dispatch sees of a region at one time. A version is never given twice in a process.
struct RegionSnapshot {
  uint64_t version = 0;
  std::vector<std::shared_ptr<const RegionEntry>> entries;  // narrowest first
};

/// Told of every run of a region, on the thread that ran it, which goes on when it returns: takes no lock and makes no system call.
class RegionObserver {
 public:
  virtual ~RegionObserver() = default;
  /// `entry` null: interpreted. From `begin` to `end`, in ticks (base/ticks.h).
  virtual void region_ran(int32_t function, int32_t region, std::span<const int64_t> values, const RegionEntry* entry, int64_t begin, int64_t end) = 0;
};

}  // namespace msvm
