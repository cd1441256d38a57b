// The gates of recurrent cells, compiled once per instruction set. Hidden values come in blocks of 16, a block's gates side by side.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

struct RnnCells {
  /// g: [blocks][i, o, f, c][16], complete sums. c is updated, h written.
  void (*lstm)(const float* g, int64_t blocks, float* c, float* h);
  /// x: [blocks][z, r, h][16] of the inputs, p: the same of the hidden values. h = (1 - z) * tanh(x_h + r * p_h) + z * before.
  void (*gru)(const float* x, const float* p, int64_t blocks, const float* before, float* h);
};

extern const RnnCells kRnnCellsAvx2, kRnnCellsAvx512;
/// Null for kScalar.
const RnnCells* rnn_cells(Isa isa);

}  // namespace msvm
