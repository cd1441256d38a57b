// The walk of a body over a result: axes sorted and merged, operands that are no plain rows gathered into tiles.
#include <algorithm>
#include <cstring>

#include "msvm/kernels/body_program.h"
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr int64_t kTile = BodyProgram::kTile;
constexpr int64_t kLongRow = 256;        // columns from which a row is worth its own calls
constexpr int64_t kLongRowApart = 64;    // the same where the result's rows have gaps between them
constexpr int64_t kTransposeColumns = 32;

/// `n` rows of `m` columns to dense rows.
void gather(const VectorKernels& v, const float* from, int64_t row, int64_t column, int64_t n, int64_t m, float* to) {
  if (column == 1) {
    for (int64_t r = 0; r < n; ++r) std::memcpy(to + r * m, from + r * row, static_cast<size_t>(m) * sizeof(float));
  } else if (column == 0) {
    for (int64_t r = 0; r < n; ++r) std::fill_n(to + r * m, m, from[r * row]);
  } else if (row == 1 && n > 1) {
    v.transpose(from, column, m, n, to, m);
  } else {
    for (int64_t r = 0; r < n; ++r) v.copy_strided(from + r * row, column, m, to + r * m);
  }
}
void scatter(const float* from, int64_t row, int64_t column, int64_t n, int64_t m, float* to) {
  for (int64_t r = 0; r < n; ++r) {
    if (column == 1) {
      std::memcpy(to + r * row, from + r * m, static_cast<size_t>(m) * sizeof(float));
    } else {
      for (int64_t i = 0; i < m; ++i) to[r * row + i * column] = from[r * m + i];
    }
  }
}

}  // namespace

/// Rows and columns with one stride each per operand, and the thread's memory.
struct BodyOver::Block {
  int64_t n, m;
  float** data;
  const int64_t *row, *column;  // strides by operand
  BodyRow* inputs;              // by input of the call
  float *scratch, *tiles;
};

Status BodyOver::prepare(const KernelCall& call, const VectorKernels& v, const BodyProgram& program, bool has_result, int column_axis) {
  const TensorMeta& y = *call.outputs[0];
  program_ = &program;
  v_ = &v;
  has_result_ = has_result;
  call_inputs_ = call.inputs.size();
  operands_ = program.inputs().size() + 1;
  data_.assign(operands_, nullptr);
  strides_.assign(operands_ * kMaxRank, 0);
  column_strides_.assign(operands_, 0);
  std::array<int, kMaxRank> axes{};  // outer ones, then the columns'
  int count = 0;
  for (int a = 0; a < y.rank; ++a)
    if (a != column_axis) axes[static_cast<size_t>(count++)] = a;
  const bool has_columns = column_axis >= 0 && column_axis < y.rank;
  rank_ = count;
  columns_ = has_columns ? y.shape[column_axis] : 1;
  for (int a = 0; a < rank_; ++a) shape_[static_cast<size_t>(a)] = y.shape[axes[static_cast<size_t>(a)]];
  for (size_t k = 0; k < operands_; ++k) {
    const size_t input = k ? program.inputs()[k - 1] : 0;
    const TensorMeta* m = k ? (input < call.inputs.size() ? call.inputs[input] : nullptr) : &y;
    if (!m) return invalid_argument(std::string(call.op.name) + ": the body reads input " + std::to_string(input) + ", which is absent");
    const std::string_view what = m->dtype != DType::kF32 ? "is not of f32" : m->rank > y.rank ? "has more axes than the result" : "";
    if (!what.empty()) return shape_mismatch(std::string(call.op.name) + ": " + (k ? "input " + std::to_string(input) : std::string("the result")) + ", " + to_string(*m) + ", " + std::string(what));
    data_[k] = reinterpret_cast<float*>(m->data);
    auto stride_of = [&](int axis) -> int64_t {
      const int b = axis - (y.rank - m->rank);
      return b < 0 || m->shape[b] == 1 ? 0 : m->strides[b];
    };
    for (int b = 0; b < m->rank; ++b) {
      const int64_t size = m->shape[b], wanted = y.shape[b + y.rank - m->rank];
      if (size != 1 && size != wanted)
        return shape_mismatch(std::string(call.op.name) + ": input " + std::to_string(input) + ", " + to_string(*m) + ", doesn't broadcast to the result, " + to_string(y));
    }
    for (int a = 0; a < rank_; ++a) strides_[k * kMaxRank + static_cast<size_t>(a)] = stride_of(axes[static_cast<size_t>(a)]);
    column_strides_[k] = has_columns ? stride_of(column_axis) : 0;
  }
  if (column_axis < 0) sort_axes();
  merge_axes();
  if (column_axis < 0 && rank_ > 0) {  // the last one becomes the columns
    --rank_;
    columns_ = shape_[static_cast<size_t>(rank_)];
    for (size_t k = 0; k < operands_; ++k) column_strides_[k] = stride(k, rank_);
  }
  rows_ = 1;
  for (int a = 0; a < rank_; ++a) rows_ *= shape_[static_cast<size_t>(a)];
  return {};
}

/// By the result's strides, then by those of the inputs.
void BodyOver::sort_axes() {
  auto before = [&](int a, int b) {
    for (size_t k = 0; k < operands_; ++k)
      if (stride(k, a) != stride(k, b)) return stride(k, a) > stride(k, b);
    return false;
  };
  for (int i = 1; i < rank_; ++i)
    for (int j = i; j > 0 && before(j, j - 1); --j) {
      std::swap(shape_[static_cast<size_t>(j)], shape_[static_cast<size_t>(j - 1)]);
      for (size_t k = 0; k < operands_; ++k) std::swap(strides_[k * kMaxRank + static_cast<size_t>(j)], strides_[k * kMaxRank + static_cast<size_t>(j - 1)]);
    }
}

/// Drops axes of size 1 and joins neighbours that every operand walks without a gap.
void BodyOver::merge_axes() {
  int out = -1;
  for (int a = 0; a < rank_; ++a) {
    const int64_t size = shape_[static_cast<size_t>(a)];
    if (size == 1) continue;
    bool merge = out >= 0;
    for (size_t k = 0; k < operands_ && merge; ++k) merge = stride(k, out) == stride(k, a) * size;
    if (merge) {
      shape_[static_cast<size_t>(out)] *= size;
    } else {
      shape_[static_cast<size_t>(++out)] = size;
    }
    for (size_t k = 0; k < operands_; ++k) strides_[k * kMaxRank + static_cast<size_t>(out)] = stride(k, a);
  }
  rank_ = out + 1;
}

int64_t BodyOver::scratch_bytes() const {
  const int64_t floats = program_->scratch_floats() + static_cast<int64_t>(operands_) * kTile;
  return floats * 4 + static_cast<int64_t>(operands_ * (2 * sizeof(float*) + sizeof(int64_t)) + call_inputs_ * sizeof(BodyRow)) + 64;
}

void BodyOver::run(int64_t begin, int64_t end, int64_t first, int64_t last, std::byte* memory) const {
  if (begin >= end || first >= last) return;
  Block b;
  b.m = last - first;
  b.scratch = reinterpret_cast<float*>(memory);
  b.tiles = b.scratch + program_->scratch_floats();
  b.inputs = reinterpret_cast<BodyRow*>(b.tiles + static_cast<int64_t>(operands_) * kTile);
  auto** at = reinterpret_cast<float**>(b.inputs + call_inputs_);
  b.data = at + operands_;
  auto* row = reinterpret_cast<int64_t*>(b.data + operands_);
  b.row = row;
  b.column = column_strides_.data();
  for (size_t i = 0; i < call_inputs_; ++i) b.inputs[i] = {};

  std::array<int64_t, kMaxRank> index{};
  int64_t rest = begin;
  for (size_t k = 0; k < operands_; ++k) at[k] = data_[k] + first * column_strides_[k];
  for (int a = rank_ - 1; a >= 0; --a) {
    index[static_cast<size_t>(a)] = rest % shape_[static_cast<size_t>(a)];
    rest /= shape_[static_cast<size_t>(a)];
    for (size_t k = 0; k < operands_; ++k) at[k] += index[static_cast<size_t>(a)] * stride(k, a);
  }
  const int inner = rank_ - 1;
  for (size_t k = 0; k < operands_; ++k) row[k] = inner >= 0 ? stride(k, inner) : 0;
  int64_t left = end - begin;
  for (;;) {
    const size_t i = static_cast<size_t>(std::max(inner, 0));
    b.n = inner >= 0 ? std::min(left, shape_[i] - index[i]) : 1;
    std::copy(at, at + operands_, b.data);
    block(b);
    left -= b.n;
    if (left <= 0) return;
    for (size_t k = 0; k < operands_; ++k) at[k] -= index[i] * row[k];
    index[i] = 0;
    for (int a = inner - 1; a >= 0; --a) {
      for (size_t k = 0; k < operands_; ++k) at[k] += stride(k, a);
      if (++index[static_cast<size_t>(a)] < shape_[static_cast<size_t>(a)]) break;
      for (size_t k = 0; k < operands_; ++k) at[k] -= stride(k, a) * shape_[static_cast<size_t>(a)];
      index[static_cast<size_t>(a)] = 0;
    }
  }
}

void BodyOver::block(const Block& given) const {
  Block b = given;
  if (b.m == 1 && b.n > 1) {  // one column: walk along the rows
    std::swap(b.n, b.m);
    std::swap(b.row, b.column);
  }
  bool flat = b.n == 1 || b.row[0] == b.m, apart = !flat, turned = false;
  flat = flat && b.column[0] == 1;
  for (size_t k = 1; k < operands_; ++k) {
    const bool whole = b.column[k] == 1 && (b.n == 1 || b.row[k] == b.m), number = b.column[k] == 0 && (b.n == 1 || b.row[k] == 0);
    flat = flat && (whole || number);
    turned = turned || (b.column[k] > 1 && b.row[k] == 1 && b.n > 1);
  }
  if (flat) {  // everything is one long row
    b.m *= b.n;
    b.n = 1;
    return long_row(b);
  }
  if (turned && b.m > kTransposeColumns) {
    for (int64_t c = 0; c < b.m; c += kTransposeColumns) {
      Block part = b;
      part.m = std::min(kTransposeColumns, b.m - c);
      short_rows(part);
      for (size_t k = 0; k < operands_; ++k) b.data[k] += kTransposeColumns * b.column[k];
    }
    return;
  }
  if (b.n > 1 && b.m < (apart ? kLongRowApart : kLongRow)) return short_rows(b);
  for (int64_t r = 0; r < b.n; ++r) {
    long_row(b);
    for (size_t k = 0; k < operands_; ++k) b.data[k] += b.row[k];
  }
}

/// One row of any length.
void BodyOver::long_row(const Block& b) const {
  const auto used = program_->inputs();
  bool direct = b.column[0] == 1 || b.m == 1;
  for (size_t k = 1; k < operands_; ++k) {
    b.inputs[used[k - 1]] = {b.data[k], b.column[k]};
    direct = direct && b.column[k] <= 1;
  }
  if (direct) return program_->run(*v_, has_result_ ? b.data[0] : nullptr, {b.inputs, call_inputs_}, b.data[0], b.m, b.scratch);
  for (int64_t c = 0; c < b.m; c += kTile) {
    const int64_t m = std::min(kTile, b.m - c);
    for (size_t k = 1; k < operands_; ++k) {
      const float* from = b.data[k] + c * b.column[k];
      BodyRow& to = b.inputs[used[k - 1]];
      to.data = from;
      if (b.column[k] <= 1) continue;
      float* tile = b.tiles + static_cast<int64_t>(k) * kTile;
      gather(*v_, from, 0, b.column[k], 1, m, tile);
      to = {tile, 1};
    }
    float* y = b.data[0] + c * b.column[0];
    if (b.column[0] == 1) {
      program_->run(*v_, has_result_ ? y : nullptr, {b.inputs, call_inputs_}, y, m, b.scratch);
      continue;
    }
    if (has_result_) gather(*v_, y, 0, b.column[0], 1, m, b.tiles);
    program_->run(*v_, has_result_ ? b.tiles : nullptr, {b.inputs, call_inputs_}, b.tiles, m, b.scratch);
    scatter(b.tiles, 0, b.column[0], 1, m, y);
  }
}

/// As many rows of at most kLongRow columns as fill a tile, side by side.
void BodyOver::short_rows(const Block& b) const {
  const auto used = program_->inputs();
  const int64_t together = std::max<int64_t>(1, std::min(b.n, kTile / b.m));
  const bool out_flat = b.column[0] == 1 && b.row[0] == b.m;
  for (int64_t r = 0; r < b.n; r += together) {
    const int64_t n = std::min(together, b.n - r), size = n * b.m;
    for (size_t k = 1; k < operands_; ++k) {
      const float* from = b.data[k] + r * b.row[k];
      BodyRow& to = b.inputs[used[k - 1]];
      if (b.column[k] == 1 && b.row[k] == b.m) {
        to = {from, 1};
      } else if (b.column[k] == 0 && b.row[k] == 0) {
        to = {from, 0};
      } else {
        float* tile = b.tiles + static_cast<int64_t>(k) * kTile;
        if (b.row[k] != 0 || r == 0) gather(*v_, from, b.row[k], b.column[k], n, b.m, tile);  // the same row for all: once
        to = {tile, 1};
      }
    }
    float* y = b.data[0] + r * b.row[0];
    if (out_flat) {
      program_->run(*v_, has_result_ ? y : nullptr, {b.inputs, call_inputs_}, y, size, b.scratch);
      continue;
    }
    if (has_result_) gather(*v_, y, b.row[0], b.column[0], n, b.m, b.tiles);
    program_->run(*v_, has_result_ ? b.tiles : nullptr, {b.inputs, call_inputs_}, b.tiles, size, b.scratch);
    scatter(b.tiles, b.row[0], b.column[0], n, b.m, y);
  }
}

namespace {
struct WholeResult final : KernelSiteState {
  BodyOver over;
};
}  // namespace

Status run_body(KernelCall& call, const VectorKernels& v, const BodyProgram& program, bool has_result) {
  BodyOver& over = PackedConstants::at(call).part<WholeResult>().over;
  MSVM_RETURN_IF_ERROR(over.prepare(call, v, program, has_result, -1));
  const int64_t rows = over.rows(), columns = over.columns();
  if (rows == 0 || columns == 0) return {};
  // Very long rows are cut, at whole tiles; short ones go by the dozen.
  constexpr int64_t kCut = 32 * kTile;
  const int64_t cuts = columns > 2 * kCut ? (columns - 1) / kCut + 1 : 1, width = cuts > 1 ? kCut : columns, items = rows * cuts;
  const int64_t grain = grain_for(items, static_cast<double>(width) * program.ns_per_element());
  return parallel_with_scratch(call, items, grain, over.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
    if (cuts == 1) return over.run(begin, end, 0, columns, scratch);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / cuts, first = i % cuts * kCut;
      over.run(row, row + 1, first, std::min(first + kCut, columns), scratch);
    }
  });
}

}  // namespace msvm
