// Operators on tensors whose elements are known one by one: how shape computations become sizes instead of tensors.
#pragma once
#include "importers/onnx/importer.h"

namespace msvm::onnx {

using FoldInputs = std::vector<std::optional<Scalars>>;
using FoldResult = Result<std::optional<std::vector<Scalars>>>;

/// Null if the operator isn't followed element by element.
Fold find_fold(std::string_view op_type);

// The tables of the two files.
struct FoldRow {
  std::string_view op_type;
  Fold fold;
};
std::span<const FoldRow> arithmetic_folds();
std::span<const FoldRow> movement_folds();

inline FoldResult no_fold() { return std::optional<std::vector<Scalars>>(); }
inline FoldResult folded(Scalars s) {
  std::vector<Scalars> out;
  out.push_back(std::move(s));
  return std::optional(std::move(out));
}
int64_t count_of(std::span<const int64_t> shape);  // product, capped at kMaxConstScalars + 1
/// Axis in [-rank, rank) -> [0, rank).
Result<int64_t> normal_axis(int64_t axis, size_t rank);
/// Row-major strides in elements.
std::vector<int64_t> strides_of(std::span<const int64_t> shape);
/// Calls visit(index) for each element, the last axis fastest.
template <class F>
void for_each_index(std::span<const int64_t> shape, F visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n = count_of(shape); n-- > 0;) {
    visit(std::span<const int64_t>(index));
    for (size_t a = index.size(); a-- > 0 && ++index[a] == shape[a];) index[a] = 0;
  }
}

}  // namespace msvm::onnx
