// Native code for a region, as sessions run it: which calls run as one kernel, and where its pointers and sizes come from. Made by the
// JIT, immutable, shared by all sessions of a program.
#pragma once
#include <cstdint>
#include <memory>
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

/// One entry's code: a function for each group of the region, in their order.
struct RegionCode {
  std::vector<RegionKernelFn> kernels;
  std::shared_ptr<const void> image;     // keeps the code mapped
};

}  // namespace msvm
