// What an LSTM, GRU or RNN call says.
#pragma once
#include "msvm/kernels/kernel.h"

namespace msvm::rnn {

enum class Cell { kLstm, kGru, kRnn };
constexpr int64_t gates_of(Cell c) { return c == Cell::kLstm ? 4 : c == Cell::kGru ? 3 : 1; }

enum class Act { kRelu, kTanh, kSigmoid, kAffine, kLeakyRelu, kThresholdedRelu, kScaledTanh, kHardSigmoid, kElu, kSoftsign, kSoftplus };
struct Activation {
  Act kind = Act::kTanh;
  double alpha = 0, beta = 0;
};

struct Shape {
  Cell cell;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false, first_reversed = false;
  bool linear_before_reset = false, input_forget = false;
  bool clips = false;
  double clip = 0;
  Activation activations[2][3];

  int64_t gates() const { return gates_of(cell); }
  int64_t row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t y_at(int64_t t, int64_t d, int64_t b) const { return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden; }
  int64_t state_at(int64_t d, int64_t b) const { return (batch_first ? b * directions + d : d * batch + b) * hidden; }
};

Status describe(const KernelCall& call, Cell cell, Shape& s);

/// Takes calls of LSTM and GRU with the usual activations and without clips, peepholes and sequences of different lengths and, for
/// GRU, with the reset after the product: f32 kernels that fuse the gates (rnn_f32.cpp).
bool is_plain(const KernelCall& call, const Shape& s);
Status run_plain(KernelCall& call, const Shape& s, Isa isa);

}  // namespace msvm::rnn
