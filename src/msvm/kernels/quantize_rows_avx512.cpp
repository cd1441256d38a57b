#define MSVM_QUANTIZE_ROWS_NAME kQuantizeRowsAvx512
#include "msvm/kernels/quantize_rows.inc"
