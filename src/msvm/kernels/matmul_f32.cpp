// MatMul, msvm.MatMul and Gemm of f32 over packed panels.
#include <algorithm>
#include <array>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/gemm_ending.h"
#include "msvm/kernels/matmul.h"
#include "msvm/kernels/panel_gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr int kKeyPanels = 1;

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

// The different matrices of B, numbered in row-major order of the batch axes that B has.
struct Matrices {
  int64_t count = 1;
  std::array<int64_t, kMaxRank> number{};
  explicit Matrices(const BatchedProduct& p) {
    for (int d = p.batch_rank - 1; d >= 0; --d)
      if (p.b_batch[d] != 0 && p.batch[d] > 1) {
        number[d] = count;
        count *= p.batch[d];
      }
  }
  int64_t of(const BatchedProduct& p, int64_t product) const {
    int64_t which = 0;
    for (int d = p.batch_rank - 1; d >= 0; --d) {
      which += product % p.batch[d] * number[d];
      product /= p.batch[d];
    }
    return which;
  }
  int64_t offset(const BatchedProduct& p, int64_t matrix) const {
    int64_t at = 0;
    for (int d = p.batch_rank - 1; d >= 0; --d)
      if (number[d]) {
        at += matrix % p.batch[d] * p.b_batch[d];
        matrix /= p.batch[d];
      }
    return at;
  }
};

// B as the blocks want it.
class Operand {
 public:
  enum Mode { kPlain, kPacked, kPackedByItem };

  Status open(KernelCall& call, const GemmKernels& g, const BatchedProduct& p) {
    g_ = &g, p_ = &p;
    b_ = call.inputs[1]->as<float>();
    col_ = p.n == 1 ? 1 : p.b_col;
    const bool constant = is_constant(call, 1);
    if (!constant && col_ == 1 && p.m <= g.most_rows) {  // each element is used once or twice
      mode_ = kPlain;
      return {};
    }
    const Matrices matrices(p);
    if (!sane_size({p.k, p.n}) || !sane_size({p.k, p.n, matrices.count})) return resource_limit("MatMul: an operand of " + to_string(*call.inputs[1]) + " can't be packed");
    size_ = panels_size(p.k, p.n);
    if (!constant && matrices.count == p.count && p.count > 1 && gemm_ns(p.m, p.n, p.k) < 2e5) {
      mode_ = kPackedByItem;
      return {};
    }
    mode_ = kPacked;
    auto pack = [&](float* to) {
      const int64_t panels = (p.n + kPanel - 1) / kPanel, all = matrices.count * panels;
      call.workers.parallel_for(all, grain_for(all, static_cast<double>(p.k) * 3), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) pack_one(matrices.offset(p, i / panels), i % panels, i % panels + 1, to + i / panels * size_);
      });
    };
    MSVM_ASSIGN_OR_RETURN(packed_, packed_input(call, 1, kKeyPanels, size_ * matrices.count, pack));
    return {};
  }
  Mode mode() const { return mode_; }
  int64_t size() const { return size_; }
  void give(PanelGemm& t, int64_t product, const BatchedProduct::Offsets& o) const {
    if (mode_ == kPacked) t.packed_b(packed_ + Matrices(*p_).of(*p_, product) * size_);
    else t.plain_b(b_ + o.b, p_->b_step);
  }
  void pack_item(PanelGemm& t, const BatchedProduct::Offsets& o, float* to) const {
    pack_one(o.b, 0, (p_->n + kPanel - 1) / kPanel, to);
    t.packed_b(to);
  }

 private:
  void pack_one(int64_t offset, int64_t first, int64_t last, float* to) const { pack_panels(*g_, b_ + offset, p_->b_step, col_, p_->k, p_->n, first, last, to); }

  const GemmKernels* g_ = nullptr;
  const BatchedProduct* p_ = nullptr;
  const float* b_ = nullptr;
  const float* packed_ = nullptr;
  int64_t col_ = 1, size_ = 0;
  Mode mode_ = kPlain;
};

bool matmul_fits(const KernelCall& call) {
  const TensorMeta& c = *call.outputs[0];
  return call.inputs[1]->dtype == DType::kF32 && (c.rank == 0 || c.strides[c.rank - 1] == 1 || c.shape[c.rank - 1] == 1 || call.inputs[1]->rank < 2);
}
bool gemm_fits(const KernelCall& call) { return call.inputs[1]->dtype == DType::kF32 && call.outputs[0]->dense(); }
bool fused_fits(const KernelCall& call) { return matmul_fits(call) && call.inputs[0]->rank >= 2 && call.inputs[1]->rank >= 2; }

// Whole rows of B: long streams from memory.
void one_row_each(KernelCall& call, const VectorKernels& v, const BatchedProduct& p) {
  const float *a = call.inputs[0]->as<float>(), *b = call.inputs[1]->as<float>();
  float* c = call.outputs[0]->as<float>();
  constexpr int64_t kColumns = 1024;
  const int64_t blocks = (p.n + kColumns - 1) / kColumns, chunks = p.count * blocks;
  stoppable_for(call.workers, chunks, grain_for(chunks, static_cast<double>(p.k * std::min(p.n, kColumns)) * 0.06), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto o = p.at(i / blocks);
      const int64_t n0 = i % blocks * kColumns;
      row_times_matrix(v, a + o.a, p.a_step, b + o.b, p.b_step, p.k, n0, std::min(n0 + kColumns, p.n), c + o.c);
    }
  });
}

Status run_matmul(KernelCall& call, Isa isa, bool fused) {
  const GemmKernels& g = *gemm_kernels(isa);
  TensorMeta b_meta = *call.inputs[1];
  if (fused && call.attrs.get_int("transB", 0) != 0) {
    std::swap(b_meta.shape[b_meta.rank - 1], b_meta.shape[b_meta.rank - 2]);
    std::swap(b_meta.strides[b_meta.rank - 1], b_meta.strides[b_meta.rank - 2]);
  }
  BatchedProduct p;
  MSVM_RETURN_IF_ERROR(describe_product(*call.inputs[0], b_meta, *call.outputs[0], p));
  fold_batch_into_rows(p);
  GemmEnding ending;
  MSVM_RETURN_IF_ERROR(ending.open(call, isa, fused));
  if (p.count == 0 || p.m == 0 || p.n == 0) return {};
  const float* a = call.inputs[0]->as<float>();
  float* c = call.outputs[0]->as<float>();
  Operand b;
  MSVM_RETURN_IF_ERROR(b.open(call, g, p));
  if (!fused && b.mode() == Operand::kPlain && p.m == 1 && p.n >= 64) {
    one_row_each(call, *vector_kernels(isa), p);
    return {};
  }
  auto problem = [&](const BatchedProduct::Offsets& o) {
    PanelGemm t;
    t.m = p.m, t.n = p.n, t.k = p.k;
    t.a = a + o.a, t.a_row = p.a_row, t.a_step = p.a_step;
    t.c = c + o.c, t.c_row = p.m == 1 ? p.n : p.c_row;
    ending.give(t, o.c);
    return t;
  };
  const double finish_ns = ending.ns_per_element() * static_cast<double>(p.m) * static_cast<double>(p.n);
  if (b.mode() == Operand::kPackedByItem) {
    const int64_t floats = (b.size() + 15) / 16 * 16;
    return parallel_with_scratch(call, p.count, grain_for(p.count, gemm_ns(p.m, p.n, p.k) + finish_ns), floats * 4 + ending.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
      float* panels = reinterpret_cast<float*>(scratch);
      for (int64_t i = begin; i < end; ++i) {
        const auto o = p.at(i);
        PanelGemm t = problem(o);
        b.pack_item(t, o, panels);
        gemm_block(g, t, 0, p.m, 0, p.n);
        ending.finish(i, t, 0, p.m, 0, p.n, reinterpret_cast<std::byte*>(panels + floats));
      }
    });
  }
  auto finish_one = [&](int64_t item, const PanelGemm& t, int64_t m0, int64_t m1, int64_t n0, int64_t n1, std::byte* scratch) { ending.finish(item, t, m0, m1, n0, n1, scratch); };
  const FinishBlock finish = finish_one;
  auto one = [&](int64_t i) {
    const auto o = p.at(i);
    PanelGemm t = problem(o);
    b.give(t, i, o);
    return t;
  };
  return gemm_batch(call, g, p.count, p.m, p.n, p.k, one, ending.finishes() ? &finish : nullptr, ending.scratch_bytes(), finish_ns);
}

Status run_gemm(KernelCall& call, Isa isa) {
  const GemmKernels& g = *gemm_kernels(isa);
  GemmShape s;
  MSVM_RETURN_IF_ERROR(describe_gemm(call, *call.inputs[0], *call.inputs[1], s));
  const TensorMeta* bias = input_or_null(call, 2);
  int64_t c_row = 0, c_col = 0;
  if (bias) MSVM_RETURN_IF_ERROR(bias_strides(*bias, s.m, s.n, c_row, c_col));
  if (s.m == 0 || s.n == 0) return {};
  const float alpha = static_cast<float>(call.attrs.get_float("alpha", 1.0)), beta = static_cast<float>(call.attrs.get_float("beta", 1.0));
  const float* b = call.inputs[1]->as<float>();
  float* y = call.outputs[0]->as<float>();
  PanelGemm t;
  t.m = s.m, t.n = s.n, t.k = s.k;
  t.a = call.inputs[0]->as<float>(), t.a_row = s.a_row, t.a_step = s.a_step;
  if (!is_constant(call, 1) && s.m <= g.most_rows && (s.b_col == 1 || s.n == 1)) {
    t.plain_b(b, s.b_step);
  } else {
    if (!sane_size({s.k, s.n})) return resource_limit("Gemm: an operand of " + to_string(*call.inputs[1]) + " can't be packed");
    MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, kKeyPanels, panels_size(s.k, s.n), [&](float* to) {
      pack_all_panels(g, call.workers, b, s.b_step, s.n == 1 ? 1 : s.b_col, s.k, s.n, to);
    }));
    t.packed_b(packed);
  }
  t.c = y, t.c_row = s.n;
  t.scaled = alpha != 1.0f, t.scale = alpha;
  const bool in_tile = bias && beta == 1.0f && (c_col == 1 || (c_row != 0 && s.n == 1));
  if (in_tile && c_row == 0) t.bias = bias->as<float>();
  else if (in_tile) t.residual = bias->as<float>(), t.residual_row = c_row;
  MSVM_RETURN_IF_ERROR(gemm_batch(call, g, 1, t.m, t.n, t.k, [&](int64_t) { return t; }));
  if (in_tile || !bias) return {};
  const float* c = bias->as<float>();
  stoppable_for(call.workers, s.m, grain_for(s.m, static_cast<double>(s.n)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < s.n; ++j) y[i * s.n + j] += beta != 1.0f ? beta * c[i * c_row + j * c_col] : c[i * c_row + j * c_col];
  });
  return {};
}

template <Isa kIsa>
Status fast_matmul(KernelCall& call) {
  return run_matmul(call, kIsa, false);
}
template <Isa kIsa>
Status fused_matmul(KernelCall& call) {
  return run_matmul(call, kIsa, true);
}
template <Isa kIsa>
Status fast_gemm(KernelCall& call) {
  return run_gemm(call, kIsa);
}

}  // namespace

void add_matmul_f32_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_matmul_f32_generic", .op = "MatMul", .run = fast_matmul<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = matmul_fits, .work = matmul_work, .default_ns_per_work = 0.018, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_matmul_f32_generic", .op = "MatMul", .run = fast_matmul<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = matmul_fits, .work = matmul_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_fused_matmul_f32", .op = "msvm.MatMul", .run = fused_matmul<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = fused_fits, .work = matmul_work, .default_ns_per_work = 0.018, .default_overhead_ns = 350});
  list.push_back({.name = "avx2_fused_matmul_f32", .op = "msvm.MatMul", .run = fused_matmul<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = fused_fits, .work = matmul_work, .default_ns_per_work = 0.021, .default_overhead_ns = 350});
  list.push_back({.name = "avx512_gemm_f32_generic", .op = "Gemm", .run = fast_gemm<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = gemm_fits, .work = gemm_work, .default_ns_per_work = 0.018, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_gemm_f32_generic", .op = "Gemm", .run = fast_gemm<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = gemm_fits, .work = gemm_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
}

}  // namespace msvm
