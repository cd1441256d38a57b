// One function per family file: adds its kernels, reference ones first.
#pragma once
#include "msvm/kernels/kernel.h"

namespace msvm {

#define MSVM_KERNEL_FAMILIES(X)                                                                                                  \
  X(elementwise) X(logical) X(reduce) X(movement) X(creation) X(indexing) X(select) X(conv) X(pool) X(matmul) X(norm) X(softmax) X(rnn)    \
  X(quantize) X(resize) X(detection) X(signal) X(attention) X(fused) X(host)

#define X(family) void add_##family##_kernels(KernelList& list);
MSVM_KERNEL_FAMILIES(X)
#undef X

}  // namespace msvm
