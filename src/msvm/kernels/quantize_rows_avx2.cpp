#define MSVM_QUANTIZE_ROWS_NAME kQuantizeRowsAvx2
#include "msvm/kernels/quantize_rows.inc"
