// MatMul with numpy's batch rule, Gemm and MatMulInteger: shapes and references.
#include <algorithm>
#include <array>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"
#include "msvm/kernels/matmul.h"

namespace msvm {

void add_einsum_kernels(KernelList& list);  // einsum.cpp
void add_det_kernels(KernelList& list);     // det.cpp
void add_matmul_f32_kernels(KernelList& list);  // matmul_f32.cpp

Status describe_product(const TensorMeta& a, const TensorMeta& b, const TensorMeta& c, BatchedProduct& p) {
  if (a.rank == 0 || b.rank == 0) return shape_mismatch("MatMul takes no scalars");
  int ra = a.rank, rb = b.rank;
  p.k = a.shape[ra - 1];
  p.a_step = a.strides[ra - 1];
  if (ra > 1) p.m = a.shape[ra - 2], p.a_row = a.strides[ra - 2];
  int64_t kb = rb > 1 ? b.shape[rb - 2] : b.shape[0];
  p.b_step = rb > 1 ? b.strides[rb - 2] : b.strides[0];
  if (rb > 1) p.n = b.shape[rb - 1], p.b_col = b.strides[rb - 1];
  if (p.k != kb) return shape_mismatch("MatMul: " + to_string(a) + " by " + to_string(b) + ": the inner sizes differ");
  int batch_a = std::max(ra - 2, 0), batch_b = std::max(rb - 2, 0);
  p.batch_rank = std::max(batch_a, batch_b);
  int expected = p.batch_rank + (ra > 1) + (rb > 1);
  if (c.rank != expected) return shape_mismatch("MatMul: the result has rank " + std::to_string(c.rank) + ", not " + std::to_string(expected));
  for (int d = 0; d < p.batch_rank; ++d) {
    int da = d - (p.batch_rank - batch_a), db = d - (p.batch_rank - batch_b);
    int64_t sa = da >= 0 ? a.shape[da] : 1, sb = db >= 0 ? b.shape[db] : 1;
    p.batch[d] = sa == 1 ? sb : sa;
    if ((sa != 1 && sb != 1 && sa != sb) || c.shape[d] != p.batch[d]) return shape_mismatch("MatMul: batch sizes of " + to_string(a) + " and " + to_string(b) + " don't broadcast");
    p.a_batch[d] = da >= 0 && sa != 1 ? a.strides[da] : 0;
    p.b_batch[d] = db >= 0 && sb != 1 ? b.strides[db] : 0;
    p.c_batch[d] = c.strides[d];
    p.count *= p.batch[d];
  }
  int at = p.batch_rank;
  if (ra > 1) {
    if (c.shape[at] != p.m) return shape_mismatch("MatMul: wrong number of rows in the result");
    p.c_row = c.strides[at++];
  }
  if (rb > 1) {
    if (c.shape[at] != p.n) return shape_mismatch("MatMul: wrong number of columns in the result");
    p.c_col = c.strides[at];
  }
  return {};
}

Status describe_gemm(const KernelCall& call, const TensorMeta& a, const TensorMeta& b, GemmShape& g) {
  if (a.rank != 2 || b.rank != 2 || call.outputs[0]->rank != 2) return shape_mismatch("Gemm takes matrices");
  int ta = call.attrs.get_int("transA", 0) != 0, tb = call.attrs.get_int("transB", 0) != 0;
  g = {a.shape[ta], b.shape[1 - tb], a.shape[1 - ta], a.strides[ta], a.strides[1 - ta], b.strides[tb], b.strides[1 - tb]};
  if (b.shape[tb] != g.k) return shape_mismatch("Gemm: the inner sizes differ");
  if (call.outputs[0]->shape[0] != g.m || call.outputs[0]->shape[1] != g.n) return shape_mismatch("Gemm: wrong shape of the result");
  return {};
}

Status bias_strides(const TensorMeta& c, int64_t m, int64_t n, int64_t& row, int64_t& col) {
  if (c.rank > 2) return shape_mismatch("Gemm: C has more than two axes");
  col = c.rank > 0 && c.shape[c.rank - 1] != 1 ? c.strides[c.rank - 1] : 0;
  row = c.rank > 1 && c.shape[0] != 1 ? c.strides[0] : 0;
  if ((c.rank > 0 && c.shape[c.rank - 1] != 1 && c.shape[c.rank - 1] != n) || (c.rank > 1 && c.shape[0] != 1 && c.shape[0] != m))
    return shape_mismatch("Gemm: C " + to_string(c) + " doesn't broadcast to the result");
  return {};
}

namespace {

template <class T>
Status matmul_as(KernelCall& call) {
  MSVM_ASSIGN_OR_RETURN(const T* a, dense_input<T>(call, *call.inputs[0]));
  MSVM_ASSIGN_OR_RETURN(const T* b, dense_input<T>(call, *call.inputs[1]));
  DenseOutput<T> c;
  MSVM_RETURN_IF_ERROR(c.open(call, call.outputs[0]));
  TensorMeta ma = *call.inputs[0], mb = *call.inputs[1], mc = *call.outputs[0];
  if (!set_dense_strides(ma) || !set_dense_strides(mb) || !set_dense_strides(mc)) return internal_error("MatMul: sizes leave 64 bits");
  BatchedProduct p;
  MSVM_RETURN_IF_ERROR(describe_product(ma, mb, mc, p));
  for (int64_t i = 0; i < p.count && p.m * p.n > 0; ++i) {
    auto o = p.at(i);
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t j = 0; j < p.n; ++j)
        c[o.c + r * p.c_row + j * p.c_col] = fma_chain(T{}, a + o.a + r * p.a_row, p.a_step, b + o.b + j * p.b_col, p.b_step, p.k);
  }
  c.commit();
  return {};
}

Status ref_matmul(KernelCall& call) {
  if (is_float(call.inputs[0]->dtype)) return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return matmul_as<decltype(zero)>(call); });
  return matmul_as<int64_t>(call);
}

}  // namespace

double matmul_work(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  double k = a.rank ? static_cast<double>(a.shape[a.rank - 1]) : 1;
  return k * static_cast<double>(call.outputs[0]->elements());
}

double gemm_work(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  double k = a.rank == 2 ? static_cast<double>(a.shape[call.attrs.get_int("transA", 0) ? 0 : 1]) : 1;
  return k * static_cast<double>(call.outputs[0]->elements());
}

namespace {

// ---- Gemm ----

template <class T>
Status gemm_as(KernelCall& call) {
  MSVM_ASSIGN_OR_RETURN(const T* a, dense_input<T>(call, *call.inputs[0]));
  MSVM_ASSIGN_OR_RETURN(const T* b, dense_input<T>(call, *call.inputs[1]));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  TensorMeta ma = *call.inputs[0], mb = *call.inputs[1];
  if (!set_dense_strides(ma) || !set_dense_strides(mb)) return internal_error("Gemm: sizes leave 64 bits");
  GemmShape g;
  MSVM_RETURN_IF_ERROR(describe_gemm(call, ma, mb, g));
  const T* c = nullptr;
  int64_t c_row = 0, c_col = 0;
  if (const TensorMeta* m = input_or_null(call, 2)) {
    MSVM_ASSIGN_OR_RETURN(c, dense_input<T>(call, *m));
    TensorMeta mc = *m;
    if (!set_dense_strides(mc)) return internal_error("Gemm: sizes leave 64 bits");
    MSVM_RETURN_IF_ERROR(bias_strides(mc, g.m, g.n, c_row, c_col));
  }
  double alpha = call.attrs.get_float("alpha", 1.0), beta = call.attrs.get_float("beta", 1.0);
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      T sum = fma_chain(T{}, a + i * g.a_row, g.a_step, b + j * g.b_col, g.b_step, g.k);
      T bias = c ? c[i * c_row + j * c_col] : T{};
      if constexpr (std::is_integral_v<T>) {
        if (alpha != 1.0) sum = static_cast<T>(std::clamp(alpha * static_cast<double>(sum), -9.2e18, 9.2e18));
        if (beta != 1.0) bias = static_cast<T>(std::clamp(beta * static_cast<double>(bias), -9.2e18, 9.2e18));
        y[i * g.n + j] = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(bias));
      } else {
        if (alpha != 1.0) sum = static_cast<T>(alpha) * sum;
        y[i * g.n + j] = c ? sum + (beta != 1.0 ? static_cast<T>(beta) * bias : bias) : sum;
      }
    }
  y.commit();
  return {};
}
Status ref_gemm(KernelCall& call) {
  if (is_float(call.inputs[0]->dtype)) return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return gemm_as<decltype(zero)>(call); });
  return gemm_as<int64_t>(call);
}

// ---- MatMulInteger ----

// A zero point per row of A ([..., m, 1] or [m]) or per column of B ([..., 1, n] or [n]), or one for all.
struct ZeroPoint {
  const int32_t* values = nullptr;
  int64_t count = 0;
  int32_t at(int64_t i) const { return count == 0 ? 0 : count == 1 ? values[0] : values[i]; }
};

Status ref_matmul_integer(KernelCall& call) {
  MSVM_ASSIGN_OR_RETURN(const int32_t* a, dense_input<int32_t>(call, *call.inputs[0]));
  MSVM_ASSIGN_OR_RETURN(const int32_t* b, dense_input<int32_t>(call, *call.inputs[1]));
  DenseOutput<int32_t> c;
  MSVM_RETURN_IF_ERROR(c.open(call, call.outputs[0]));
  TensorMeta ma = *call.inputs[0], mb = *call.inputs[1], mc = *call.outputs[0];
  if (!set_dense_strides(ma) || !set_dense_strides(mb) || !set_dense_strides(mc)) return internal_error("MatMulInteger: sizes leave 64 bits");
  BatchedProduct p;
  MSVM_RETURN_IF_ERROR(describe_product(ma, mb, mc, p));
  ZeroPoint za, zb;
  for (int which = 0; which < 2; ++which)
    if (const TensorMeta* z = input_or_null(call, 2 + static_cast<size_t>(which))) {
      ZeroPoint& point = which ? zb : za;
      MSVM_ASSIGN_OR_RETURN(point.values, dense_input<int32_t>(call, *z));
      point.count = z->elements();
      // One for all, one per row (column), or one per row (column) of every matrix.
      int64_t lines = which ? p.n : p.m;
      if (point.count != 1 && point.count != lines && point.count != lines * p.count) return shape_mismatch("MatMulInteger: zero points of a wrong shape " + to_string(*z));
    }
  for (int64_t i = 0; i < p.count && p.m * p.n > 0; ++i) {
    auto o = p.at(i);
    for (int64_t r = 0; r < p.m; ++r) {
      int32_t zero_a = za.at(za.count == p.m ? r : i * p.m + r);
      for (int64_t j = 0; j < p.n; ++j) {
        int32_t zero_b = zb.at(zb.count == p.n ? j : i * p.n + j);
        uint32_t sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += static_cast<uint32_t>(a[o.a + r * p.a_row + k * p.a_step] - zero_a) * static_cast<uint32_t>(b[o.b + j * p.b_col + k * p.b_step] - zero_b);
        c[o.c + r * p.c_row + j * p.c_col] = static_cast<int32_t>(sum);
      }
    }
  }
  c.commit();
  return {};
}

}  // namespace

void add_matmul_kernels(KernelList& list) {
  const DTypeSet products = kFloats | bit(DType::kI32) | bit(DType::kI64) | bit(DType::kU32) | bit(DType::kU64);
  list.push_back({.name = "ref_matmul", .op = "MatMul", .run = ref_matmul, .dtypes = products, .work = matmul_work, .default_ns_per_work = 1.1});
  list.push_back({.name = "ref_gemm", .op = "Gemm", .run = ref_gemm, .dtypes = products, .work = gemm_work, .default_ns_per_work = 1.1});
  list.push_back({.name = "ref_matmul_integer", .op = "MatMulInteger", .run = ref_matmul_integer, .dtypes = bit(DType::kI8) | bit(DType::kU8), .work = matmul_work, .default_ns_per_work = 0.8});
  add_einsum_kernels(list);
  add_det_kernels(list);
  add_matmul_f32_kernels(list);
}

}  // namespace msvm
