// The axes of a reduction, sorted and merged.
#pragma once
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

/// The axes that stay, over output (0) and input (1), and those that go; strides in elements.
struct ReduceAxes {
  Nest<2> kept;
  Nest<1> reduced;
};

/// `mask`: bit a: axis a of x goes; with `keep` it leaves an axis of size 1 in y.
inline ReduceAxes reduce_axes(const TensorMeta& x, const TensorMeta& y, uint32_t mask, bool keep) {
  ReduceAxes s;
  int out = 0;
  for (int a = 0; a < x.rank; ++a) {
    if (mask >> a & 1) {
      s.reduced.add_axis(x.shape[a], {x.strides[a]});
      out += keep;
    } else {
      s.kept.add_axis(x.shape[a], {y.strides[out++], x.strides[a]});
    }
  }
  simplify(s.kept);
  simplify(s.reduced);
  return s;
}

/// Of a call with the attributes axes and keepdims.
inline ReduceAxes reduce_axes(const KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  uint32_t mask = 0;
  for (int64_t a : c.attrs.get_ints("axes")) mask |= 1u << normal_axis(a, x.rank);
  return reduce_axes(x, *c.outputs[0], mask, c.attrs.get_int("keepdims", 1) != 0);
}

}  // namespace msvm
