// What one core can do at most: the denominator of "share of peak".
#pragma once

namespace msvm {

/// f32 GFLOP/s of one core with the widest multiply-adds that kernels use here (MSVM_ISA counts). Measured at the first call, in some
/// milliseconds; any thread.
double core_peak_gflops();

}  // namespace msvm
