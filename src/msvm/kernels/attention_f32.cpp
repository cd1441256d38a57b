// Attention of f32 whose scores never leave the cache: blocks of queries, whole rows of scores in scratch.
// The result lies within 2e-6 of the largest value seen by a query: sums of both products in order, exp 7.2e-8 relative.
#include <algorithm>
#include <cmath>
#include <limits>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/panel_gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/row_kernels.h"

namespace msvm {
namespace {

constexpr int64_t kRowsWorthPacking = 12;

// [batch, heads, length, size] of any strides, or heads side by side in the last axis of [batch, length, heads * size].
struct HeadView {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  int64_t batch_step = 0, head_step = 0, row_step = 0, step = 0;
  int64_t at(int64_t b, int64_t h) const { return b * batch_step + h * head_step; }
};
bool view_heads(const TensorMeta& m, int64_t heads, HeadView& v) {
  if (m.rank == 4) {
    v = {m.shape[0], m.shape[1], m.shape[2], m.shape[3], m.strides[0], m.strides[1], m.strides[2], m.strides[3]};
    return true;
  }
  if (m.rank != 3 || heads < 1 || m.shape[2] % heads != 0) return false;
  const int64_t size = m.shape[2] / heads;
  v = {m.shape[0], heads, m.shape[1], size, m.strides[0], size * m.strides[2], m.strides[1], m.strides[2]};
  return true;
}

bool contiguous(const HeadView& v) { return v.step == 1 || v.size <= 1; }

struct Views {
  HeadView q, k, v, y;
  bool read(const KernelCall& call) {
    const int64_t q_heads = call.attrs.get_int("q_num_heads", 0), kv_heads = call.attrs.get_int("kv_num_heads", 0);
    if (!view_heads(*call.inputs[0], q_heads, q) || !view_heads(*call.inputs[1], kv_heads, k) || !view_heads(*call.inputs[2], kv_heads, v) || !view_heads(*call.outputs[0], q.heads, y)) return false;
    return k.batch == q.batch && v.batch == q.batch && k.heads == v.heads && k.length == v.length && q.size == k.size && (k.heads > 0 ? q.heads % k.heads == 0 : q.heads == 0) && y.batch == q.batch &&
           y.heads == q.heads && y.length == q.length && y.size == v.size;
  }
};

bool attention_fits(const KernelCall& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.inputs[i]->dtype != DType::kF32) return false;
  for (size_t i = 4; i < 7; ++i)
    if (input_or_null(call, i)) return false;
  for (size_t i = 1; i < 4; ++i)
    if (output_or_null(call, i)) return false;
  const Attributes& a = call.attrs;
  if (a.get_float("softcap", 0) != 0 || a.get_int("left_window_size", -1) >= 0 || a.get_int("right_window_size", -1) >= 0) return false;
  Views s;
  if (!s.read(call) || !contiguous(s.v) || !contiguous(s.y)) return false;
  if (const TensorMeta* mask = input_or_null(call, 3)) {
    if (mask->rank < 1 || mask->rank > 4 || (mask->dtype != DType::kF32 && mask->dtype != DType::kBool)) return false;
    const int64_t full[] = {s.q.batch, s.q.heads, s.q.length, s.k.length};
    for (int d = 0; d < mask->rank; ++d) {
      const int64_t size = mask->shape[d], whole = full[d + 4 - mask->rank];
      if (size != 1 && size != whole) return false;
    }
  }
  return true;
}

// Addends of the scores: pointer and strides over [batch, heads, queries, keys].
struct Mask {
  const float* data = nullptr;
  int64_t steps[4] = {};
  const float* row(int64_t b, int64_t h, int64_t i) const { return data ? data + b * steps[0] + h * steps[1] + i * steps[2] : nullptr; }
};

Status open_mask(KernelCall& call, Mask& out) {
  const TensorMeta* m = input_or_null(call, 3);
  if (!m) return {};
  TensorMeta dense = *m;
  if (m->dtype == DType::kF32 && (m->strides[m->rank - 1] == 1 || m->shape[m->rank - 1] == 1)) {
    out.data = m->as<float>();
  } else {
    const int64_t n = m->elements();
    MSVM_ASSIGN_OR_RETURN(float* copy, scratch_array<float>(call.memory, n));
    read_elements(*m, copy);
    if (m->dtype == DType::kBool)
      for (int64_t i = 0; i < n; ++i) copy[i] = copy[i] != 0 ? 0.0f : -std::numeric_limits<float>::infinity();
    if (!set_dense_strides(dense)) return internal_error("Attention: the mask's sizes leave 64 bits");
    out.data = copy;
  }
  for (int d = 0; d < m->rank; ++d) out.steps[d + 4 - m->rank] = m->shape[d] == 1 ? 0 : dense.strides[d];
  return {};
}

// Weights of one query in the order of the operator: the reference's bits. Scores beyond `shown` are hidden.
void weights_in_order(float* s, const float* mask, int64_t mask_step, int64_t shown, int64_t n) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  float top = kHidden, sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    s[j] = j >= shown ? kHidden : mask ? s[j] + mask[j * mask_step] : s[j];
    top = s[j] > top || std::isnan(s[j]) ? s[j] : top;
  }
  for (int64_t j = 0; j < n; ++j) sum += s[j] = top == kHidden ? 0.0f : std::exp(s[j] - top);
  for (int64_t j = 0; j < n && top != kHidden; ++j) s[j] /= sum;
}

// `in_order`: sums of weights as the operator declares them.
Status run_attention(KernelCall& call, Isa isa, bool in_order) {
  const GemmKernels& g = *gemm_kernels(isa);
  const RowKernels& rows = *row_kernels(isa);
  Views s;
  if (!s.read(call)) return shape_mismatch("Attention: shapes of Q, K, V and the result don't fit");
  const int64_t heads = s.q.batch * s.q.heads, total = s.k.length, size = s.q.size, value_size = s.v.size;
  if (heads == 0 || s.q.length == 0 || value_size == 0) return {};
  if (!sane_size({total, size})) return resource_limit("Attention: keys of " + to_string(*call.inputs[1]) + " can't be packed");
  Mask mask;
  MSVM_RETURN_IF_ERROR(open_mask(call, mask));
  const bool causal = call.attrs.get_int("is_causal", 0) != 0;
  const float scale = static_cast<float>(call.attrs.get_float("scale", size ? 1.0 / std::sqrt(static_cast<double>(size)) : 1.0));
  // Scores of a block fill half of L2; some eight blocks in all.
  int64_t block = std::clamp<int64_t>(131072 / std::max<int64_t>(total, 1), 16, 256);
  if (heads < 8) block = std::min(block, std::max<int64_t>(16, (s.q.length * heads + 7) / 8));
  const int64_t blocks = (s.q.length + block - 1) / block;
  int64_t row = (total + 15) / 16 * 16;  // of scores
  if (row % 1024 == 0) row += 16;        // not all in the same lines of L1
  const int64_t most_rows = (s.q.length + blocks - 1) / blocks, panels = (panels_size(size, total) + 15) / 16 * 16;
  // Rows of V that lie apart meet in the same lines of L1: side by side they are read faster, if they are read often enough.
  const bool pack_values = s.q.length >= kRowsWorthPacking && s.v.row_step != value_size;
  if (pack_values && !sane_size({total, value_size})) return resource_limit("Attention: values of " + to_string(*call.inputs[2]) + " can't be packed");
  const int64_t value_panels = pack_values ? (panels_size(total, value_size) + 15) / 16 * 16 : 0;
  const int64_t bytes = (panels + value_panels + most_rows * (row + 1) + 16) * static_cast<int64_t>(sizeof(float));
  const float *q = call.inputs[0]->as<float>(), *k = call.inputs[1]->as<float>(), *v = call.inputs[2]->as<float>();
  float* y = call.outputs[0]->as<float>();
  const double ns = gemm_ns(most_rows, total, size) + gemm_ns(most_rows, value_size, total) + static_cast<double>(most_rows * total) * 0.3 + static_cast<double>(total * size) * 0.3;
  return parallel_with_scratch(call, heads * blocks, grain_for(heads * blocks, ns), bytes, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* keys = reinterpret_cast<float*>(scratch);
    float* values = keys + panels;
    float *scores = values + value_panels, *sums = scores + most_rows * row;
    int64_t packed = -1, packed_keys = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / blocks, b = head / s.q.heads, h = head % s.q.heads, kv = h / (s.q.heads / s.k.heads);
      const int64_t first = i % blocks * s.q.length / blocks, last = (i % blocks + 1) * s.q.length / blocks, n = last - first;
      const int64_t seen = causal ? std::min(total, last) : total;  // keys beyond are hidden from the whole block
      float* out = y + s.y.at(b, h) + first * s.y.row_step;
      if (seen == 0) {
        for (int64_t r = 0; r < n; ++r) std::fill_n(out + r * s.y.row_step, value_size, 0.0f);
        continue;
      }
      if (packed != b * s.k.heads + kv || packed_keys < seen) {
        packed = b * s.k.heads + kv, packed_keys = total;
        pack_panels(g, k + s.k.at(b, kv), s.k.step, s.k.row_step, size, total, 0, (total + 15) / 16, keys);
        if (pack_values) pack_panels(g, v + s.v.at(b, kv), s.v.row_step, 1, total, value_size, 0, (value_size + 15) / 16, values);
      }
      PanelGemm t;
      t.m = n, t.n = seen, t.k = size;
      t.a = q + s.q.at(b, h) + first * s.q.row_step, t.a_row = s.q.row_step, t.a_step = s.q.step;
      t.packed_b(keys);
      t.c = scores, t.c_row = row;
      t.scaled = true, t.scale = scale;
      gemm_block(g, t, 0, n, 0, seen);
      for (int64_t r = 0; r < n; ++r) {
        const int64_t shown = causal ? std::min(seen, first + r + 1) : seen;
        if (in_order) {
          weights_in_order(scores + r * row, mask.row(b, h, first + r), mask.steps[3], shown, seen);
          continue;
        }
        sums[r] = rows.exponentials(scores + r * row, mask.row(b, h, first + r), mask.steps[3], shown);
        std::fill(scores + r * row + shown, scores + r * row + seen, 0.0f);
      }
      PanelGemm u;
      u.m = n, u.n = value_size, u.k = seen;
      u.a = scores, u.a_row = row;
      u.plain_b(v + s.v.at(b, kv), s.v.row_step);
      if (pack_values) u.packed_b(values), u.b_panel = total * kPanel;
      u.c = out, u.c_row = s.y.row_step;
      gemm_block(g, u, 0, n, 0, value_size);
      for (int64_t r = 0; r < n && !in_order; ++r)
        if (sums[r] != 0) rows.scale(out + r * s.y.row_step, 1.0f / sums[r], value_size);
    }
  });
}

template <Isa kIsa, bool kInOrder>
Status fast_attention(KernelCall& call) {
  return run_attention(call, kIsa, kInOrder);
}

double attention_multiply_adds(const KernelCall& call) {
  Views s;
  return s.read(call) ? static_cast<double>(s.q.batch * s.q.heads * s.q.length) * static_cast<double>(s.k.length * (s.q.size + s.v.size)) : 0;
}

}  // namespace

void add_attention_f32_kernels(KernelList& list) {
  KernelInfo k{.op = "Attention", .dtypes = bit(DType::kF32), .strict_order = false, .accepts = attention_fits, .work = attention_multiply_adds, .default_overhead_ns = 500};
  k.name = "avx512_attention_f32", k.run = fast_attention<Isa::kAvx512, false>, k.isa = Isa::kAvx512, k.default_ns_per_work = 0.025;
  list.push_back(k);
  k.name = "avx2_attention_f32", k.run = fast_attention<Isa::kAvx2, false>, k.isa = Isa::kAvx2, k.default_ns_per_work = 0.03;
  list.push_back(k);
  k.strict_order = true, k.default_ns_per_work = 0.2;
  k.name = "avx2_attention_f32_in_order", k.run = fast_attention<Isa::kAvx2, true>;
  list.push_back(k);
  k.name = "avx512_attention_f32_in_order", k.run = fast_attention<Isa::kAvx512, true>, k.isa = Isa::kAvx512, k.default_ns_per_work = 0.19;
  list.push_back(k);
}

}  // namespace msvm
