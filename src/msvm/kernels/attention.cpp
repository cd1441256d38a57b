// Attention and RotaryEmbedding.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"

namespace msvm {
namespace {

// A sequence of heads: [batch, heads, length, size], or [batch, length, heads * size]. Strides in elements of the dense tensor.
struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  int64_t batch_step = 0, head_step = 0, row_step = 0;
  int64_t at(int64_t b, int64_t h, int64_t i) const { return b * batch_step + h * head_step + i * row_step; }
};
Status heads_of(const TensorMeta& m, int64_t heads, Heads& h) {
  if (m.rank == 4) {
    h = {m.shape[0], m.shape[1], m.shape[2], m.shape[3], m.shape[1] * m.shape[2] * m.shape[3], m.shape[2] * m.shape[3], m.shape[3]};
    return {};
  }
  if (m.rank != 3 || heads < 1 || m.shape[2] % heads != 0) return shape_mismatch("Attention: " + to_string(m) + " doesn't divide into " + std::to_string(heads) + " heads");
  int64_t size = m.shape[2] / heads;
  h = {m.shape[0], heads, m.shape[1], size, m.shape[1] * m.shape[2], size, m.shape[2]};
  return {};
}

// Past rows followed by new ones, [batch, heads, past + length, size].
template <class T>
Status join(KernelCall& call, const TensorMeta& fresh, const Heads& h, const TensorMeta* past, const T*& joined, int64_t& total) {
  MSVM_ASSIGN_OR_RETURN(const T* values, dense_input<T>(call, fresh));
  int64_t before = 0;
  const T* old = nullptr;
  if (past) {
    if (past->rank != 4 || past->shape[0] != h.batch || past->shape[1] != h.heads || past->shape[3] != h.size) return shape_mismatch("Attention: past " + to_string(*past) + " doesn't fit " + to_string(fresh));
    before = past->shape[2];
    MSVM_ASSIGN_OR_RETURN(old, dense_input<T>(call, *past));
  }
  total = before + h.length;
  MSVM_ASSIGN_OR_RETURN(T * to, scratch_array<T>(call.memory, h.batch * h.heads * total * h.size));
  joined = to;
  for (int64_t i = 0; i < h.batch * h.heads; ++i) {
    if (before) to = std::copy_n(old + i * before * h.size, before * h.size, to);
    for (int64_t r = 0; r < h.length; ++r) to = std::copy_n(values + h.at(i / h.heads, i % h.heads, r), h.size, to);
  }
  return {};
}

template <class T>
Status attention_as(KernelCall& call) {
  const TensorMeta &qm = *call.inputs[0], &km = *call.inputs[1], &vm = *call.inputs[2];
  const TensorMeta *mask = input_or_null(call, 3), *past_key = input_or_null(call, 4), *past_value = input_or_null(call, 5), *valid = input_or_null(call, 6);
  const Attributes& attrs = call.attrs;
  Heads q, k, v, o;
  MSVM_RETURN_IF_ERROR(heads_of(qm, attrs.get_int("q_num_heads", 0), q));
  MSVM_RETURN_IF_ERROR(heads_of(km, attrs.get_int("kv_num_heads", 0), k));
  MSVM_RETURN_IF_ERROR(heads_of(vm, attrs.get_int("kv_num_heads", 0), v));
  MSVM_RETURN_IF_ERROR(heads_of(*call.outputs[0], q.heads, o));
  if (k.batch != q.batch || v.batch != q.batch || k.heads != v.heads || k.size != q.size || (k.heads < 1 ? q.heads != 0 : q.heads % k.heads != 0)) return shape_mismatch("Attention: shapes of Q, K and V don't fit");
  if (o.batch != q.batch || o.heads != q.heads || o.length != q.length || o.size != v.size) return shape_mismatch("Attention: wrong shape of the result");
  MSVM_ASSIGN_OR_RETURN(const T* qv, dense_input<T>(call, qm));
  const T *keys = nullptr, *values = nullptr;
  int64_t total = 0, total_values = 0;
  MSVM_RETURN_IF_ERROR(join<T>(call, km, k, past_key, keys, total));
  MSVM_RETURN_IF_ERROR(join<T>(call, vm, v, past_value, values, total_values));
  if (total != total_values) return shape_mismatch("Attention: keys and values differ in length");
  const int64_t rows = q.batch * q.heads * q.length;

  // Mask as addends [batch, heads, queries, keys]; keys beyond its last axis are hidden.
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  const T* addends = nullptr;
  int64_t mask_keys = 0;
  if (mask) {
    mask_keys = mask->rank ? mask->shape[mask->rank - 1] : 1;
    if (mask_keys == 1 && total != 1) mask_keys = total;  // broadcast
    if (mask_keys > total) return shape_mismatch("Attention: the mask is longer than the keys");
    const int64_t shape[] = {q.batch, q.heads, q.length, mask_keys};
    MSVM_ASSIGN_OR_RETURN(const T* wide, broadcast_input<T>(call, *mask, shape));
    addends = wide;
  }
  const bool as_bool = mask && mask->dtype == DType::kBool;
  const int64_t* lengths = nullptr;
  if (valid) {
    if (valid->elements() != q.batch) return shape_mismatch("Attention: nonpad_kv_seqlen isn't one length per batch row");
    MSVM_ASSIGN_OR_RETURN(lengths, dense_input<int64_t>(call, *valid));
  }
  const T scale = static_cast<T>(attrs.get_float("scale", q.size ? 1.0 / std::sqrt(static_cast<double>(q.size)) : 1.0)), softcap = static_cast<T>(attrs.get_float("softcap", 0));
  const bool causal = attrs.get_int("is_causal", 0) != 0;
  const int64_t left = attrs.get_int("left_window_size", -1), right = attrs.get_int("right_window_size", -1), mode = attrs.get_int("qk_matmul_output_mode", 0);
  DenseOutput<T> y, present_key, present_value, scores_out;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(present_key.open(call, output_or_null(call, 1)));
  MSVM_RETURN_IF_ERROR(present_value.open(call, output_or_null(call, 2)));
  MSVM_RETURN_IF_ERROR(scores_out.open(call, output_or_null(call, 3)));
  if ((present_key && output_or_null(call, 1)->elements() != q.batch * k.heads * total * k.size) || (present_value && output_or_null(call, 2)->elements() != q.batch * v.heads * total * v.size) ||
      (scores_out && output_or_null(call, 3)->elements() != rows * total))
    return shape_mismatch("Attention: wrong shape of a result");
  MSVM_ASSIGN_OR_RETURN(T * scores, scratch_array<T>(call.memory, total));
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t b = r / q.length / q.heads, h = r / q.length % q.heads, i = r % q.length, kv = b * k.heads + h / (q.heads / k.heads);
    const T* query = qv + q.at(b, h, i);
    const int64_t offset = past_key ? past_key->shape[2] : lengths ? lengths[b] - q.length : 0;
    T* shown = scores_out ? scores_out.data() + r * total : nullptr;
    T top = kHidden;
    for (int64_t j = 0; j < total; ++j) {
      T s = fma_chain(T{}, query, 1, keys + (kv * total + j) * k.size, 1, q.size) * scale;
      if (shown && mode == 0) shown[j] = s;
      if (softcap > 0) s = softcap * std::tanh(s / softcap);
      if (shown && mode == 1) shown[j] = s;
      if (addends) {
        if (j >= mask_keys) s = kHidden;
        else if (!as_bool) s += addends[r * mask_keys + j];
        else if (addends[r * mask_keys + j] == 0) s = kHidden;
      }
      const int64_t distance = j - (i + offset);
      if ((causal && distance > 0) || (lengths && j >= lengths[b]) || (left >= 0 && distance < -left) || (right >= 0 && distance > right)) s = kHidden;
      if (shown && mode == 2) shown[j] = s;
      scores[j] = s;
      top = s > top || std::isnan(s) ? s : top;
    }
    T sum{};
    for (int64_t j = 0; j < total; ++j) {
      scores[j] = top == kHidden ? T{} : std::exp(scores[j] - top);  // a query that sees nothing gives zeros
      sum += scores[j];
    }
    for (int64_t j = 0; j < total; ++j) {
      if (top != kHidden) scores[j] /= sum;
      if (shown && mode == 3) shown[j] = scores[j];
    }
    T* to = y.data() + o.at(b, h, i);
    for (int64_t d = 0; d < v.size; ++d) to[d] = fma_chain(T{}, scores, 1, values + kv * total * v.size + d, v.size, total);
  }
  y.commit();
  if (present_key) {
    std::copy_n(keys, q.batch * k.heads * total * k.size, present_key.data());
    present_key.commit();
  }
  if (present_value) {
    std::copy_n(values, q.batch * v.heads * total * v.size, present_value.data());
    present_value.commit();
  }
  if (scores_out) scores_out.commit();
  return {};
}
Status ref_attention(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return attention_as<decltype(zero)>(call); });
}

template <class T>
Status rotary_as(KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  const TensorMeta* ids = input_or_null(call, 3);
  Heads x;
  MSVM_RETURN_IF_ERROR(heads_of(m, call.attrs.get_int("num_heads", 0), x));
  int64_t dim = call.attrs.get_int("rotary_embedding_dim", 0);
  if (dim == 0) dim = x.size;
  if (dim < 0 || dim > x.size || dim % 2 != 0) return out_of_range("RotaryEmbedding: rotary_embedding_dim must be even and at most the head size");
  const int64_t half = dim / 2;
  const TensorMeta &cm = *call.inputs[1], &sm = *call.inputs[2];
  const int64_t positions = ids ? (cm.rank ? cm.shape[0] : 0) : x.batch * x.length;
  if (cm.elements() != positions * half || sm.elements() != positions * half || (ids && ids->elements() != x.batch * x.length)) return shape_mismatch("RotaryEmbedding: the caches don't fit " + to_string(m));
  MSVM_ASSIGN_OR_RETURN(const T* xv, dense_input<T>(call, m));
  MSVM_ASSIGN_OR_RETURN(const T* cosines, dense_input<T>(call, cm));
  MSVM_ASSIGN_OR_RETURN(const T* sines, dense_input<T>(call, sm));
  const int64_t* position = nullptr;
  if (ids) {
    MSVM_ASSIGN_OR_RETURN(position, dense_input<int64_t>(call, *ids));
    for (int64_t i = 0; i < x.batch * x.length; ++i)
      if (position[i] < 0 || position[i] >= positions) return out_of_range("RotaryEmbedding: position " + std::to_string(position[i]) + " is outside [0, " + std::to_string(positions) + ")");
  }
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  const bool interleaved = call.attrs.get_int("interleaved", 0) != 0;
  for (int64_t b = 0; b < x.batch; ++b)
    for (int64_t h = 0; h < x.heads; ++h)
      for (int64_t i = 0; i < x.length; ++i) {
        const int64_t at = x.at(b, h, i), row = position ? position[b * x.length + i] : b * x.length + i;
        for (int64_t d = 0; d < half; ++d) {
          const int64_t first = at + (interleaved ? 2 * d : d), second = at + (interleaved ? 2 * d + 1 : d + half);
          const T c = cosines[row * half + d], s = sines[row * half + d], real = xv[first], imaginary = xv[second];
          y[first] = c * real - s * imaginary;
          y[second] = s * real + c * imaginary;
        }
        for (int64_t d = dim; d < x.size; ++d) y[at + d] = xv[at + d];
      }
  y.commit();
  return {};
}
Status ref_rotary(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return rotary_as<decltype(zero)>(call); });
}

double attention_work(const KernelCall& call) {
  const TensorMeta &q = *call.inputs[0], &k = *call.inputs[1];
  if (k.rank < 3) return 0;
  return 2 * static_cast<double>(q.elements()) * static_cast<double>(k.shape[k.rank - 2] + (input_or_null(call, 4) ? call.inputs[4]->shape[2] : 0));
}

}  // namespace

void add_attention_f32_kernels(KernelList& list);  // attention_f32.cpp

void add_attention_kernels(KernelList& list) {
  add_attention_f32_kernels(list);
  list.push_back({.name = "ref_attention", .op = "Attention", .run = ref_attention, .dtypes = kFloats, .work = attention_work, .default_ns_per_work = 1.2});
  list.push_back({.name = "ref_rotary_embedding", .op = "RotaryEmbedding", .run = ref_rotary, .dtypes = kFloats, .default_ns_per_work = 4});
}

}  // namespace msvm
