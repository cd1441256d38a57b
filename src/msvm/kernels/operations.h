// How much arithmetic a call is, whichever kernel does it.
#pragma once
#include "msvm/kernels/kernel.h"

namespace msvm {

/// Two for each multiply-add of a product, convolution, attention or recurrent layer, and one for each element and step that is fused into
/// it; of other operators one for each element that they read or write in a reduction or pool, else for each element of the first output.
/// A figure to compare with a peak, not an exact count: exp counts as one.
double call_operations(const KernelCall& call);
/// Bytes of the call's operands and results, each once.
double call_bytes(const KernelCall& call);

}  // namespace msvm
