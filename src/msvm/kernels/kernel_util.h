// Small things that kernels of movement and indexing share.
#pragma once
#include <string>

#include "msvm/kernels/copy.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

inline const TensorMeta* optional_input(const KernelCall& c, size_t i) { return i < c.inputs.size() ? c.inputs[i] : nullptr; }
inline TensorMeta* optional_output(const KernelCall& c, size_t i) { return i < c.outputs.size() ? c.outputs[i] : nullptr; }

/// The output of a data-dependent operator, now that its sizes are known. Absent ones are left out.
inline Status new_output(KernelCall& c, size_t i, DType dtype, std::span<const int64_t> shape) {
  return optional_output(c, i) ? c.memory.allocate_output(i, dtype, shape) : Status();
}

inline bool is_string(const TensorMeta& m) { return m.dtype == DType::kString; }

/// Part of a tensor: [start, start + count) along one axis.
inline TensorMeta window(TensorMeta m, int axis, int64_t start, int64_t count) {
  if (m.data && count > 0) m.data += start * m.strides[axis] * dtype_bytes(m.dtype);
  m.shape[axis] = count;
  return m;
}
/// One position of an axis; the axis goes.
inline TensorMeta at_index(TensorMeta m, int axis, int64_t index) {
  if (m.data) m.data += index * m.strides[axis] * dtype_bytes(m.dtype);
  for (int a = axis; a + 1 < m.rank; ++a) {
    m.shape[a] = m.shape[a + 1];
    m.strides[a] = m.strides[a + 1];
  }
  --m.rank;
  return m;
}
/// The same memory, seen row-major under another shape; `m` must be dense.
inline TensorMeta reshaped(TensorMeta m, std::span<const int64_t> shape) {
  m.rank = static_cast<uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), m.shape.begin());
  m.strides = row_major(shape);
  m.layout = Layout::kRowMajor;
  return m;
}

inline void add_kernel(KernelList& list, std::string_view name, std::string_view op, KernelFn run, double ns_per_work) {
  KernelInfo k;
  k.name = name;
  k.op = op;
  k.run = run;
  k.default_ns_per_work = ns_per_work;
  list.push_back(k);
}

}  // namespace msvm
