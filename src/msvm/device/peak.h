// What one core can do at best, measured.
#pragma once

namespace msvm {

/// f32 operations a second, in 10^9, of one core: independent fused multiply-adds in registers, two operations a lane, by the widest
/// instruction set that kernels use here. The first call measures for some 3 ms, in the thread that calls; any thread.
double measured_peak_gflops();

}  // namespace msvm
