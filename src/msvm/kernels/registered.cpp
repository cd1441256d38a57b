#include "msvm/kernels/registered.h"

#include <fmt/format.h>

#include <algorithm>

namespace msvm {
namespace {

Status run_registered(KernelCall& call) {
  const auto kernel = as_registered(call.op)->kernel.lock();
  if (!kernel) return internal_error(fmt::format("{}: its kernel is gone", call.op.name));
  return kernel->run(call);
}

}  // namespace

const KernelInfo& registered_kernel() {
  static const KernelInfo info{.name = "registered", .op = "", .run = run_registered};
  return info;
}

Status provide_output(KernelCall& call, size_t i, DType dtype, std::span<const int64_t> shape) {
  TensorMeta& out = *call.outputs[i];
  const bool there = has_memory(call, i);
  if (out.dtype != dtype || (there && !std::equal(shape.begin(), shape.end(), out.shape.begin(), out.shape.begin() + out.rank))) {
    TensorMeta found;
    found.dtype = dtype;
    found.rank = static_cast<uint8_t>(std::min<size_t>(shape.size(), kMaxRank));
    std::copy_n(shape.begin(), found.rank, found.shape.begin());
    return shape_mismatch(fmt::format("{}: output {}: expected {}, the kernel gave {}", call.op.name, i, there ? to_string(out) : std::string(dtype_name(out.dtype)), to_string(found)));
  }
  return there ? Status() : call.memory.allocate_output(i, dtype, shape);
}

}  // namespace msvm
