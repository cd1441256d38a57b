// Det: LU with partial pivoting, in f64.
#include <cmath>
#include <utility>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"

namespace msvm {

void add_det_kernels(KernelList& list);

namespace {

double determinant(double* a, int64_t n) {
  double det = 1;
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r)
      if (std::fabs(a[r * n + c]) > std::fabs(a[pivot * n + c])) pivot = r;
    if (a[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      for (int64_t j = c; j < n; ++j) std::swap(a[pivot * n + j], a[c * n + j]);
      det = -det;
    }
    det *= a[c * n + c];
    for (int64_t r = c + 1; r < n; ++r) {
      double f = a[r * n + c] / a[c * n + c];
      for (int64_t j = c + 1; j < n; ++j) a[r * n + j] -= f * a[c * n + j];
    }
  }
  return det;
}

Status ref_det(KernelCall& call) {
  const TensorMeta& x = *call.inputs[0];
  if (x.rank < 2 || x.shape[x.rank - 1] != x.shape[x.rank - 2]) return shape_mismatch("Det takes square matrices, not " + to_string(x));
  int64_t n = x.shape[x.rank - 1];
  MSVM_ASSIGN_OR_RETURN(double* copy, scratch_array<double>(call.memory, x.elements()));
  read_elements(x, copy);
  DenseOutput<double> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  int64_t count = call.outputs[0]->elements();
  for (int64_t i = 0; i < count; ++i) y[i] = determinant(copy + i * n * n, n);
  y.commit();
  return {};
}

}  // namespace

void add_det_kernels(KernelList& list) {
  list.push_back({.name = "ref_det", .op = "Det", .run = ref_det, .dtypes = kFloats, .default_ns_per_work = 100});
}

}  // namespace msvm
