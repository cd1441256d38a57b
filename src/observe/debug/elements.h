// Elements of tensors on the host: parts of them, figures about them, copies. Private to the room.
#pragma once
#include <optional>

#include "msvm/base/function_ref.h"
#include "observe/debug/expression.h"
#include "observe/debug/types.h"

namespace msvm::observe::debug {

/// [from, to) in steps; `single`: the axis goes.
struct Range {
  int64_t from = 0, to = 0, step = 1;
  bool single = false;
};

/// Python's rules: negative ones count from the end, ranges are cut to the size, a single one must be inside.
Result<Range> range_of(int64_t size, bool range, std::optional<int64_t> from, std::optional<int64_t> to, std::optional<int64_t> step);
/// The part of a tensor, as a view of its memory. Fewer ranges than axes: the rest is whole.
TensorMeta part_of(const TensorMeta& m, const std::vector<Range>& ranges);

/// Each element's address, row-major, until `visit` says false.
void for_each_element(const TensorMeta& m, FunctionRef<bool(const std::byte*)> visit);
double real_at(DType dtype, const std::byte* at);       // of strings 0
int64_t integer_at(DType dtype, const std::byte* at);   // u64 by its bits

/// NaN and Inf among the elements; cheap, stops at the first. "NaN at [0, 3]"; empty: there are none.
std::string first_not_finite(const TensorMeta& m);
Statistics statistics_of(const TensorMeta& m, bool histogram = true);
/// The same of integers, without rounding; nothing of empty tensors and other types.
struct WholeFigures {
  __int128 min = 0, max = 0, sum = 0;
};
std::optional<WholeFigures> whole_figures(const TensorMeta& m);
/// At most `max` elements, and the statistics of all.
TensorCopy copy_of(const TensorMeta& m, int64_t max);
std::string element_text(DType dtype, const std::byte* at);
/// "[1, 2, ...]", nested by axes, cut after `max` elements.
std::string elements_text(const TensorMeta& m, int64_t max);
std::string real_text(double v);

}  // namespace msvm::observe::debug
