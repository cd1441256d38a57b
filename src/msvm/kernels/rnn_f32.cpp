// LSTM and GRU of f32 in the form that models have: the inputs of all steps in one product; then per step a product with the hidden
// values and the gates on its result while it is in cache. Weights are packed with the gates of 16 hidden values side by side, so that a
// part of the hidden values is a step's work on its own. Padded hidden values stay finite and are read by nobody.
#include <algorithm>
#include <cstring>

#include "msvm/base/run_control.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/panel_gemm.h"
#include "msvm/kernels/rnn.h"
#include "msvm/kernels/rnn_cells.h"
#include "msvm/kernels/site.h"

namespace msvm {

const RnnCells* rnn_cells(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kRnnCellsAvx2;
    case Isa::kAvx512: return &kRnnCellsAvx512;
  }
  return nullptr;
}

namespace rnn {
namespace {

constexpr int kKeyByBlocks = 10;  // plus the input
constexpr int64_t kGroup = 6;     // blocks of hidden values: whole tiles for four gates, whether 8 or 3 panels wide

class PlainRecurrent {
 public:
  PlainRecurrent(KernelCall& call, const Shape& s, Isa isa) : call_(call), s_(s), g_(*gemm_kernels(isa)), cells_(*rnn_cells(isa)) {
    blocks_ = (s.hidden + 15) / 16;
    columns_ = blocks_ * s.gates() * 16;
    padded_ = blocks_ * 16;
  }

  Status run() {
    MSVM_RETURN_IF_ERROR(open());
    if (s_.batch == 0 || s_.hidden == 0) return {};
    const int64_t rows = s_.steps * s_.batch;
    MSVM_RETURN_IF_ERROR(gemm_batch(call_, g_, s_.directions, rows, columns_, s_.inputs, [&](int64_t d) {
      PanelGemm t;
      t.m = rows, t.n = columns_, t.k = s_.inputs;
      t.a = x_, t.a_row = s_.inputs;
      t.packed_b(w_ + d * w_size_);
      t.c = gates_ + d * rows * columns_, t.c_row = columns_;
      t.bias = bias_ ? bias_ + d * 2 * columns_ : nullptr;
      return t;
    }));
    if (s_.directions == 2) {
      call_.workers.parallel_for(2, grain_for(2, static_cast<double>(s_.steps) * step_ns()), [&](int64_t first, int64_t last) {
        for (int64_t d = first; d < last; ++d) walk(d, false);
      });
    } else {
      walk(0, call_.workers.threads() > 1 && step_ns() > 8e3);
    }
    y_.commit();
    y_h_.commit();
    y_c_.commit();
    return {};
  }

 private:
  double step_ns() const { return gemm_ns(s_.batch, columns_, s_.hidden) + static_cast<double>(s_.batch * padded_) * 2; }

  Status open() {
    const int64_t d = s_.directions, n = s_.gates() * s_.hidden;
    MSVM_ASSIGN_OR_RETURN(x_, dense_input<float>(call_, *call_.inputs[0]));
    MSVM_ASSIGN_OR_RETURN(w_, packed(1, s_.inputs, w_size_));
    MSVM_ASSIGN_OR_RETURN(r_, packed(2, s_.hidden, r_size_));
    if (const TensorMeta* m = input_or_null(call_, 3)) {
      MSVM_ASSIGN_OR_RETURN(const float* both, dense_input<float>(call_, *m));
      MSVM_ASSIGN_OR_RETURN(float* bias, scratch_array<float>(call_.memory, d * 2 * columns_));
      std::fill(bias, bias + d * 2 * columns_, 0.0f);
      for (int64_t i = 0; i < d; ++i)
        for (int64_t gate = 0; gate < s_.gates(); ++gate)
          for (int64_t j = 0; j < s_.hidden; ++j) {
            const float w = both[i * 2 * n + gate * s_.hidden + j], r = both[i * 2 * n + n + gate * s_.hidden + j];
            float* to = bias + i * 2 * columns_ + j / 16 * s_.gates() * 16 + gate * 16 + j % 16;
            const bool apart = s_.cell == Cell::kGru && gate == 2;  // that of the product that is reset
            to[0] = apart ? w : w + r;
            to[columns_] = apart ? r : 0;
          }
      bias_ = bias;
    }
    MSVM_RETURN_IF_ERROR(y_.open(call_, output_or_null(call_, 0)));
    MSVM_RETURN_IF_ERROR(y_h_.open(call_, output_or_null(call_, 1)));
    MSVM_RETURN_IF_ERROR(y_c_.open(call_, output_or_null(call_, 2)));
    if (const TensorMeta* m = input_or_null(call_, 5)) {
      MSVM_ASSIGN_OR_RETURN(initial_h_, dense_input<float>(call_, *m));
    }
    if (const TensorMeta* m = input_or_null(call_, 6)) {
      MSVM_ASSIGN_OR_RETURN(initial_c_, dense_input<float>(call_, *m));
    }
    MSVM_ASSIGN_OR_RETURN(gates_, scratch_array<float>(call_.memory, d * s_.steps * s_.batch * columns_));
    MSVM_ASSIGN_OR_RETURN(products_, scratch_array<float>(call_.memory, s_.cell == Cell::kGru ? d * s_.batch * columns_ : 1));
    MSVM_ASSIGN_OR_RETURN(states_, scratch_array<float>(call_.memory, d * 3 * s_.batch * padded_));
    return {};
  }

  // Weights [directions, gates * hidden, k] as panels of k rows, block after block, the block's gates side by side.
  Result<const float*> packed(size_t input, int64_t k, int64_t& size) {
    size = panels_size(k, columns_);
    const int64_t gates = s_.gates();
    auto pack = [&, of = size](const float* from, float* to) {
      for (int64_t d = 0; d < s_.directions; ++d)
        for (int64_t block = 0; block < blocks_; ++block)
          for (int64_t gate = 0; gate < gates; ++gate) {
            const int64_t j = block * 16, count = std::min<int64_t>(16, s_.hidden - j);
            g_.transpose_panel(from + ((d * gates + gate) * s_.hidden + j) * k, k, count, k, to + d * of + (block * gates + gate) * 16 * k, 16);
            if (count < 16)
              for (int64_t step = 0; step < k; ++step) {
                float* row = to + d * of + (block * gates + gate) * 16 * k + step * 16;
                std::fill(row + count, row + 16, 0.0f);
              }
          }
    };
    MSVM_ASSIGN_OR_RETURN(const float* from, dense_input<float>(call_, *call_.inputs[input]));
    return packed_input(call_, input, kKeyByBlocks + static_cast<int>(input), size * s_.directions, [&](float* to) { pack(from, to); });
  }

  void walk(int64_t d, bool shared) const {
    const int64_t batch = s_.batch, rows = s_.steps * batch, state = batch * padded_;
    const bool reversed = d == 1 || s_.first_reversed;
    float *h = states_ + d * 3 * state, *next = h + state, *c = next + state;
    std::fill(h, h + 3 * state, 0.0f);
    for (int64_t b = 0; b < batch; ++b) {
      if (initial_h_) std::copy_n(initial_h_ + s_.state_at(d, b), s_.hidden, h + b * padded_);
      if (initial_c_) std::copy_n(initial_c_ + s_.state_at(d, b), s_.hidden, c + b * padded_);
    }
    const int64_t grain = shared ? (blocks_ + call_.workers.threads() - 1) / call_.workers.threads() : blocks_;  // each value is a sum of its own: borders change none
    RunControl* control = RunControl::current();  // null where a worker takes a direction
    for (int64_t step = 0; step < s_.steps && !(control && control->should_stop()); ++step) {
      const int64_t t = reversed ? s_.steps - 1 - step : step;
      float* gates = gates_ + d * rows * columns_ + s_.row(t, 0) * columns_;
      const int64_t gates_row = (s_.batch_first ? s_.steps : 1) * columns_;
      // There and back: weights that don't quite fit the cache are met again while their later part is still in it.
      auto part = [&](int64_t first, int64_t last) {
        const int64_t groups = (last - first + kGroup - 1) / kGroup;
        for (int64_t i = 0; i < groups; ++i) {
          const int64_t from = first + (step % 2 == 0 ? i : groups - 1 - i) * kGroup;
          advance(d, from, std::min(last, from + kGroup), gates, gates_row, h, next, c);
        }
      };
      if (shared) call_.workers.parallel_for(blocks_, grain, part);
      else part(0, blocks_);
      std::swap(h, next);
      if (y_)
        for (int64_t b = 0; b < batch; ++b) std::memcpy(y_.data() + s_.y_at(t, d, b), h + b * padded_, static_cast<size_t>(s_.hidden) * sizeof(float));
    }
    for (int64_t b = 0; b < batch; ++b) {
      if (y_h_) std::copy_n(h + b * padded_, s_.hidden, y_h_.data() + s_.state_at(d, b));
      if (y_c_) std::copy_n(c + b * padded_, s_.hidden, y_c_.data() + s_.state_at(d, b));
    }
  }

  // The blocks [first, last) of hidden values, one step on.
  void advance(int64_t d, int64_t first, int64_t last, float* gates, int64_t gates_row, const float* h, float* next, float* c) const {
    const int64_t width = s_.gates() * 16;
    PanelGemm t;
    t.m = s_.batch, t.n = columns_, t.k = s_.hidden;
    t.a = h, t.a_row = padded_;
    t.packed_b(r_ + d * r_size_);
    const bool lstm = s_.cell == Cell::kLstm;
    if (lstm) {
      t.c = gates, t.c_row = gates_row, t.accumulate = true;
    } else {
      t.c = products_ + d * s_.batch * columns_, t.c_row = columns_;
      t.bias = bias_ ? bias_ + (d * 2 + 1) * columns_ : nullptr;
    }
    gemm_block(g_, t, 0, s_.batch, first * width, last * width);
    for (int64_t b = 0; b < s_.batch; ++b) {
      const float* g = gates + b * gates_row + first * width;
      const int64_t at = b * padded_ + first * 16;
      if (lstm) cells_.lstm(g, last - first, c + at, next + at);
      else cells_.gru(g, t.c + b * columns_ + first * width, last - first, h + at, next + at);
    }
  }

  KernelCall& call_;
  const Shape& s_;
  const GemmKernels& g_;
  const RnnCells& cells_;
  int64_t blocks_ = 0, columns_ = 0, padded_ = 0;  // of 16 hidden values; of a step's gates; hidden values with padding
  const float *x_ = nullptr, *w_ = nullptr, *r_ = nullptr, *initial_h_ = nullptr, *initial_c_ = nullptr;
  const float* bias_ = nullptr;  // [directions][of the inputs' product, of the hidden values'][columns]
  int64_t w_size_ = 0, r_size_ = 0;
  float *gates_ = nullptr, *products_ = nullptr, *states_ = nullptr;
  DenseOutput<float> y_, y_h_, y_c_;
};

}  // namespace

bool is_plain(const KernelCall& call, const Shape& s) {
  if (s.cell == Cell::kRnn || s.clips || s.input_forget || input_or_null(call, 7)) return false;
  if (s.cell == Cell::kGru && !s.linear_before_reset) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (i != 4 && call.inputs[i] && call.inputs[i]->dtype != DType::kF32) return false;
  if (const TensorMeta* lengths = input_or_null(call, 4)) {
    if (lengths->dtype != DType::kI32) return false;
    for (int64_t b = 0; b < s.batch; ++b)
      if (lengths->as<int32_t>()[b * lengths->strides[0]] != s.steps) return false;
  }
  for (int64_t d = 0; d < s.directions; ++d)
    for (int i = 0; i < (s.cell == Cell::kLstm ? 3 : 2); ++i)
      if (s.activations[d][i].kind != (i == 0 ? Act::kSigmoid : Act::kTanh)) return false;
  return true;
}

Status run_plain(KernelCall& call, const Shape& s, Isa isa) { return PlainRecurrent(call, s, isa).run(); }

}  // namespace rnn
}  // namespace msvm
