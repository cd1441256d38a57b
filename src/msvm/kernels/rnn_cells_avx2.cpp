#include "msvm/kernels/rnn_cells.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
#include "msvm/kernels/rnn_cells.inc"
extern const RnnCells kRnnCellsAvx2 = {lstm_cells, gru_cells};
}  // namespace msvm
