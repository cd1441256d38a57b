// The kernel of all registered operators: hands the call to what the host registered.
#pragma once
#include "msvm/kernels/kernel.h"
#include "msvm/ops/registered.h"

namespace msvm {

const KernelInfo& registered_kernel();

/// Whether output `i` of the call has memory already; else the kernel allocates it through the call's memory, and then writes it.
inline bool has_memory(const KernelCall& call, size_t i) { return call.outputs[i]->data || call.outputs[i]->rank > 0; }

/// Output `i`, of that dtype and shape, ready to be written: allocated if it wasn't; else it must be of that type.
Status provide_output(KernelCall& call, size_t i, DType dtype, std::span<const int64_t> shape);

}  // namespace msvm
