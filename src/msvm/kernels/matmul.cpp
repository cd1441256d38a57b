// MatMul with numpy's batch rule, Gemm and MatMulInteger: references and the f32 kernels on packed panels.
#include <algorithm>
#include <array>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/matmul.h"
#include "msvm/kernels/site.h"

namespace msvm {

void add_einsum_kernels(KernelList& list);  // einsum.cpp
void add_det_kernels(KernelList& list);     // det.cpp

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

namespace {

// The innermost batch axes become rows while B doesn't change with them and rows stay evenly spaced.
void fold_batch_into_rows(BatchedProduct& p) {
  while (p.batch_rank > 0) {
    int d = p.batch_rank - 1;
    if (p.batch[d] > 1) {
      if (p.b_batch[d] != 0) return;
      if (p.m == 1) {
        p.a_row = p.a_batch[d];
        p.c_row = p.c_batch[d];
      } else if (p.a_batch[d] != p.m * p.a_row || p.c_batch[d] != p.m * p.c_row) {
        return;
      }
      p.m *= p.batch[d];
      p.count /= p.batch[d];
    }
    --p.batch_rank;
  }
}

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

double matmul_work(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  double k = a.rank ? static_cast<double>(a.shape[a.rank - 1]) : 1;
  return k * static_cast<double>(call.outputs[0]->elements());
}

// ---- fast f32 ----

bool matmul_fits(const KernelCall& call) {
  const TensorMeta& c = *call.outputs[0];
  return call.inputs[1]->dtype == DType::kF32 && c.dense();
}

constexpr int kKeyMatMulB = 100, kKeyGemmB = 101;

Status matmul_packed(KernelCall& call, const VectorKernels& v) {
  BatchedProduct p;
  MSVM_RETURN_IF_ERROR(describe_product(*call.inputs[0], *call.inputs[1], *call.outputs[0], p));
  fold_batch_into_rows(p);
  if (p.count == 0 || p.m == 0 || p.n == 0) return {};
  const float* a = call.inputs[0]->as<float>();
  const float* b = call.inputs[1]->as<float>();
  float* c = call.outputs[0]->as<float>();
  // Few rows use B too few times to pay for packing.
  bool constant = is_constant(call, 1);
  bool raw = !constant && p.m <= 8 && (p.b_col == 1 || p.n == 1);
  // Distinct matrices of B, numbered in the order of those batch axes that B has.
  int64_t matrices = 1;
  std::array<int64_t, kMaxRank> number{};
  for (int d = p.batch_rank - 1; d >= 0; --d)
    if (p.b_batch[d] != 0 && p.batch[d] > 1) {
      number[d] = matrices;
      matrices *= p.batch[d];
    }
  const int64_t size = packed_cols_size(p.k, p.n);
  const float* packed = nullptr;
  if (!raw) {
    int64_t floats;
    if (__builtin_mul_overflow(size, matrices, &floats) || floats > INT64_MAX / 8) return resource_limit("MatMul: packed operand leaves 64 bits");
    auto pack = [&](float* to) {
      int64_t panels = ceil_div(p.n, kPanelCols);
      call.workers.parallel_for(matrices * panels, grain_for(matrices * panels, static_cast<double>(p.k) * 8), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t rest = i / panels, offset = 0, panel = i % panels;
          for (int d = p.batch_rank - 1; d >= 0; --d)
            if (number[d]) {
              offset += rest % p.batch[d] * p.b_batch[d];
              rest /= p.batch[d];
            }
          pack_col_panels(v, b + offset, p.b_step, p.n == 1 ? 1 : p.b_col, p.k, p.n, panel, panel + 1, to + i / panels * size);
        }
      });
    };
    MSVM_ASSIGN_OR_RETURN(packed, packed_input(call, 1, kKeyMatMulB, floats, pack));
  }
  if (raw && p.m == 1 && p.n >= 64) {
    constexpr int64_t kColumns = 1024;
    int64_t blocks = ceil_div(p.n, kColumns), chunks = p.count * blocks;
    call.workers.parallel_for(chunks, grain_for(chunks, static_cast<double>(p.k * std::min(p.n, kColumns)) * 0.1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto o = p.at(i / blocks);
        int64_t n0 = i % blocks * kColumns;
        row_times_matrix(v, a + o.a, p.a_step, b + o.b, p.b_step, p.k, n0, std::min(n0 + kColumns, p.n), c + o.c);
      }
    });
    return {};
  }
  gemm_batch(v, call.workers, p.count, p.m, p.n, p.k, [&](int64_t i) {
    auto o = p.at(i);
    Gemm g;
    g.m = p.m, g.n = p.n, g.k = p.k;
    g.a = a + o.a, g.a_row = p.a_row, g.a_step = p.a_step;
    g.c = c + o.c, g.c_row = p.m == 1 ? p.n : p.c_row;
    if (raw) {
      g.b = b + o.b, g.b_step = p.b_step;
    } else {
      int64_t rest = i, which = 0;
      for (int d = p.batch_rank - 1; d >= 0; --d) {
        which += rest % p.batch[d] * number[d];
        rest /= p.batch[d];
      }
      g.b = packed + which * size, g.b_packed = true;
    }
    return g;
  });
  return {};
}

template <Isa kIsa>
Status fast_matmul(KernelCall& call) {
  return matmul_packed(call, *vector_kernels(kIsa));
}

// ---- Gemm ----

struct GemmShape {
  int64_t m, n, k, a_row, a_step, b_step, b_col;
};
Status describe_gemm(const KernelCall& call, const TensorMeta& a, const TensorMeta& b, GemmShape& g) {
  if (a.rank != 2 || b.rank != 2 || call.outputs[0]->rank != 2) return shape_mismatch("Gemm takes matrices");
  int ta = call.attrs.get_int("transA", 0) != 0, tb = call.attrs.get_int("transB", 0) != 0;
  g = {a.shape[ta], b.shape[1 - tb], a.shape[1 - ta], a.strides[ta], a.strides[1 - ta], b.strides[tb], b.strides[1 - tb]};
  if (b.shape[tb] != g.k) return shape_mismatch("Gemm: the inner sizes differ");
  if (call.outputs[0]->shape[0] != g.m || call.outputs[0]->shape[1] != g.n) return shape_mismatch("Gemm: wrong shape of the result");
  return {};
}
// Strides of C over [m, n].
Status bias_strides(const TensorMeta& c, int64_t m, int64_t n, int64_t& row, int64_t& col) {
  if (c.rank > 2) return shape_mismatch("Gemm: C has more than two axes");
  col = c.rank > 0 && c.shape[c.rank - 1] != 1 ? c.strides[c.rank - 1] : 0;
  row = c.rank > 1 && c.shape[0] != 1 ? c.strides[0] : 0;
  if ((c.rank > 0 && c.shape[c.rank - 1] != 1 && c.shape[c.rank - 1] != n) || (c.rank > 1 && c.shape[0] != 1 && c.shape[0] != m))
    return shape_mismatch("Gemm: C " + to_string(c) + " doesn't broadcast to the result");
  return {};
}

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

double gemm_work(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  double k = a.rank == 2 ? static_cast<double>(a.shape[call.attrs.get_int("transA", 0) ? 0 : 1]) : 1;
  return k * static_cast<double>(call.outputs[0]->elements());
}

template <Isa kIsa>
Status fast_gemm(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  GemmShape s;
  MSVM_RETURN_IF_ERROR(describe_gemm(call, *call.inputs[0], *call.inputs[1], s));
  const TensorMeta* bias = input_or_null(call, 2);
  int64_t c_row = 0, c_col = 0;
  if (bias) MSVM_RETURN_IF_ERROR(bias_strides(*bias, s.m, s.n, c_row, c_col));
  if (s.m == 0 || s.n == 0) return {};
  float alpha = static_cast<float>(call.attrs.get_float("alpha", 1.0)), beta = static_cast<float>(call.attrs.get_float("beta", 1.0));
  Gemm g;
  g.m = s.m, g.n = s.n, g.k = s.k;
  g.a = call.inputs[0]->as<float>(), g.a_row = s.a_row, g.a_step = s.a_step;
  const float* b = call.inputs[1]->as<float>();
  if (!is_constant(call, 1) && s.m <= 4 && s.b_col == 1) {
    g.b = b, g.b_step = s.b_step;
  } else {
    MSVM_ASSIGN_OR_RETURN(g.b, packed_input(call, 1, kKeyGemmB, packed_cols_size(s.k, s.n), [&](float* to) { pack_cols(v, b, s.b_step, s.b_col, s.k, s.n, to); }));
    g.b_packed = true;
  }
  float* y = call.outputs[0]->as<float>();
  g.c = y, g.c_row = s.n;
  bool in_tile = bias && alpha == 1.0f && beta == 1.0f && c_row == 0 && c_col == 1;
  if (in_tile) g.col_bias = bias->as<float>();
  gemm(v, call.workers, g);
  if (in_tile || (!bias && alpha == 1.0f)) return {};
  const float* c = bias ? bias->as<float>() : nullptr;
  call.workers.parallel_for(s.m, grain_for(s.m, static_cast<double>(s.n)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        float sum = y[i * s.n + j];
        if (alpha != 1.0f) sum = alpha * sum;
        if (c) sum += beta != 1.0f ? beta * c[i * c_row + j * c_col] : c[i * c_row + j * c_col];
        y[i * s.n + j] = sum;
      }
  });
  return {};
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
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "ref_matmul", .op = "MatMul", .run = ref_matmul, .dtypes = products, .work = matmul_work, .default_ns_per_work = 1.1});
  list.push_back({.name = "ref_gemm", .op = "Gemm", .run = ref_gemm, .dtypes = products, .work = gemm_work, .default_ns_per_work = 1.1});
  list.push_back({.name = "ref_matmul_integer", .op = "MatMulInteger", .run = ref_matmul_integer, .dtypes = bit(DType::kI8) | bit(DType::kU8), .work = matmul_work, .default_ns_per_work = 0.8});
  add_einsum_kernels(list);
  add_det_kernels(list);
  list.push_back({.name = "avx512_matmul_f32_generic", .op = "MatMul", .run = fast_matmul<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = matmul_fits, .work = matmul_work, .default_ns_per_work = 0.0185, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_matmul_f32_generic", .op = "MatMul", .run = fast_matmul<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = matmul_fits, .work = matmul_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_gemm_f32_generic", .op = "Gemm", .run = fast_gemm<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = matmul_fits, .work = gemm_work, .default_ns_per_work = 0.0185, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_gemm_f32_generic", .op = "Gemm", .run = fast_gemm<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = matmul_fits, .work = gemm_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
}

}  // namespace msvm
