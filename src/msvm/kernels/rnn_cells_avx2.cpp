#include "msvm/kernels/rnn_cells.h"

namespace msvm {
#include "msvm/kernels/rnn_cells.inc"
extern const RnnCells kRnnCellsAvx2 = {lstm_cells, gru_cells};
}  // namespace msvm
