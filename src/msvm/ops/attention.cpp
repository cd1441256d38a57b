// Attention and the rotations of its inputs.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

/// [batch, heads, length, size], whether the input has it or packs heads into its last axis.
struct Heads {
  Dim batch, heads, length, size;
};

Result<Heads> split_heads(InferContext& c, size_t i, std::string_view attr) {
  const auto& x = c.input(i).shape;
  DimContext& m = c.dims();
  int64_t given = c.attrs().get_int(attr, 0);
  if (x.size() == 4) {
    if (given > 0) MSVM_RETURN_IF_ERROR(require_equal(c, x[1], m.constant(given), "the number of heads is that of axis 1"));
    return Heads{x[0], x[1], x[2], x[3]};
  }
  if (given <= 0) return attr_error("{} is needed where {} has rank 3", attr, c.input_name(i));
  Dim heads = m.constant(given);
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, heads, x[2], "the number of heads divides the last axis"));
  return Heads{x[0], heads, x[1], m.floordiv(x[2], heads)};
}

Status infer_attention(InferContext& c) {
  enum { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
  MSVM_RETURN_IF_ERROR(require_rank_between(c, kQ, 3, 4));
  MSVM_RETURN_IF_ERROR(require_rank(c, kK, c.rank(kQ)));
  MSVM_RETURN_IF_ERROR(require_rank(c, kV, c.rank(kQ)));
  DimContext& m = c.dims();
  MSVM_ASSIGN_OR_RETURN(Heads q, split_heads(c, kQ, "q_num_heads"));
  MSVM_ASSIGN_OR_RETURN(Heads k, split_heads(c, kK, "kv_num_heads"));
  MSVM_ASSIGN_OR_RETURN(Heads v, split_heads(c, kV, "kv_num_heads"));
  if (DType t = c.attrs().get_dtype("softmax_precision", DType::kF32); !is_float(t))
    return attr_error("softmax_precision must be a float, but is {}", dtype_name(t));
  MSVM_RETURN_IF_ERROR(require_equal(c, q.batch, k.batch, "Q and K have the same batch size"));
  MSVM_RETURN_IF_ERROR(require_equal(c, k.batch, v.batch, "K and V have the same batch size"));
  MSVM_RETURN_IF_ERROR(require_equal(c, q.size, k.size, "heads of Q and K have the same size"));
  MSVM_RETURN_IF_ERROR(require_equal(c, k.heads, v.heads, "K and V have the same number of heads"));
  MSVM_RETURN_IF_ERROR(require_equal(c, k.length, v.length, "K and V have the same length"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, k.heads, q.heads, "the number of heads of K divides that of Q"));

  Dim total = k.length;
  if (c.has_input(kPastKey) != c.has_input(kPastValue)) return attr_error("past_key and past_value come together or not at all");
  if (c.has_input(kPastKey)) {
    if (c.has_input(kLengths)) return attr_error("past_key and nonpad_kv_seqlen exclude each other");
    MSVM_RETURN_IF_ERROR(require_rank(c, kPastKey, 4));
    MSVM_RETURN_IF_ERROR(require_rank(c, kPastValue, 4));
    const auto &pk = c.input(kPastKey).shape, &pv = c.input(kPastValue).shape;
    MSVM_RETURN_IF_ERROR(require_equal(c, pk[2], pv[2], "past_key and past_value have the same length"));
    for (const auto* past : {&pk, &pv}) {
      MSVM_RETURN_IF_ERROR(require_equal(c, (*past)[0], k.batch, "past keys and values have the batch size of K"));
      MSVM_RETURN_IF_ERROR(require_equal(c, (*past)[1], k.heads, "past keys and values have the heads of K"));
    }
    MSVM_RETURN_IF_ERROR(require_equal(c, pk[3], k.size, "past_key has the head size of K"));
    MSVM_RETURN_IF_ERROR(require_equal(c, pv[3], v.size, "past_value has the head size of V"));
    total = m.add(pk[2], k.length);
  }
  MSVM_RETURN_IF_ERROR(require_vector(c, kLengths, q.batch, "nonpad_kv_seqlen has one length for each batch element"));
  if (c.has_input(kMask)) {
    MSVM_RETURN_IF_ERROR(require_rank_between(c, kMask, 1, 4));
    const auto& mask = c.input(kMask).shape;
    Dim scores[] = {q.batch, q.heads, q.length};
    auto lead = std::span(mask).first(mask.size() - 1);
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, lead, scores, "attn_mask can be broadcast to batch, heads and length of Q"));
    if (!mask.back().is_const(1))
      MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, mask.back(), total, "the last axis of attn_mask is no longer than the keys"));
  }
  if (c.rank(kQ) == 4) {
    c.set_shape(0, {q.batch, q.heads, q.length, v.size});
  } else {
    c.set_shape(0, {q.batch, q.length, m.mul(q.heads, v.size)});
  }
  c.set_shape(1, {k.batch, k.heads, total, k.size});
  c.set_shape(2, {v.batch, v.heads, total, v.size});
  c.set_shape(3, {q.batch, q.heads, q.length, total});
  return {};
}

Status infer_rotary(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, 4));
  DimContext& m = c.dims();
  MSVM_ASSIGN_OR_RETURN(Heads x, split_heads(c, 0, "num_heads"));
  int64_t part = c.attrs().get_int("rotary_embedding_dim", 0);
  Dim rotated = part > 0 ? m.constant(part) : x.size, two = m.constant(2);
  if (part > 0) MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, rotated, x.size, "rotary_embedding_dim is no larger than a head"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, two, rotated, "the rotated part of a head is even"));
  bool by_position = c.has_input(3);
  for (size_t i : {size_t{1}, size_t{2}}) {
    MSVM_RETURN_IF_ERROR(require_rank(c, i, by_position ? 2 : 3));
    const auto& cache = c.input(i).shape;
    if (!by_position) {
      MSVM_RETURN_IF_ERROR(require_equal(c, cache[0], x.batch, "without position_ids, axis 0 of the caches is the batch"));
      MSVM_RETURN_IF_ERROR(require_equal(c, cache[1], x.length, "without position_ids, axis 1 of the caches is the sequence"));
    }
    MSVM_RETURN_IF_ERROR(
        require_equal(c, m.mul(cache.back(), two), rotated, "the last axis of the caches is half of the rotated part"));
  }
  if (by_position) {
    MSVM_RETURN_IF_ERROR(
        require_equal(c, c.input(1).shape[0], c.input(2).shape[0], "cos_cache and sin_cache have the same positions"));
    MSVM_RETURN_IF_ERROR(require_rank(c, 3, 2));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.input(3).shape[0], x.batch, "position_ids has the batch size of X"));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.input(3).shape[1], x.length, "position_ids has the length of X"));
  }
  return infer_same(c);
}

}  // namespace

void add_attention_ops(OpTable& table) {
  table.add({.name = "Attention",
             .since = 23,
             .op_class = OpClass::kContraction,
             .inputs = {{"Q", kFloats, 'T'},
                        {"K", kFloats, 'T'},
                        {"V", kFloats, 'U'},
                        {"attn_mask", kFloats | bit(DType::kBool), 0, true},
                        {"past_key", kFloats, 'T', true},
                        {"past_value", kFloats, 'U', true},
                        {"nonpad_kv_seqlen", bit(DType::kI64), 0, true}},
             .outputs = {{"Y", 'T'}, {"present_key", 'T'}, {"present_value", 'U'}, {"qk_matmul_output", 'T'}},
             .hazards = kIndexHazard,
             .attrs = {flag_attr("is_causal", "0", "1 hides keys behind the query's own position"),
                       int_attr("kv_num_heads", "axis 1 of K", 1, kNoLimit, "heads of K and V of rank 3"),
                       int_attr("left_window_size", "-1", -1, kNoLimit, "keys before the query's position that count; -1 all"),
                       int_attr("q_num_heads", "axis 1 of Q", 1, kNoLimit, "heads of Q of rank 3"),
                       int_attr("qk_matmul_output_mode", "0", 0, 3,
                                "the fourth output: 0 scores, 1 after softcap, 2 after the mask, 3 after softmax"),
                       int_attr("right_window_size", "-1", -1, kNoLimit, "keys after the query's position that count; -1 all"),
                       float_attr("scale", "1 / sqrt(head size)", "factor of the scores"),
                       dtype_attr("softmax_precision", "that of Q", "dtype of the softmax"),
                       float_attr("softcap", "0.0", "scores become softcap * tanh(score / softcap); 0: unchanged")},
             .infer = infer_attention,
             .doc = "softmax(Q * K^T * scale + mask) * V for each head, with keys and values of the past before K and V. Rows that "
                    "see no key give 0."});
  table.add({.name = "RotaryEmbedding",
             .since = 23,
             .op_class = OpClass::kMovement,
             .inputs = {{"X", kFloats, 'T'},
                        {"cos_cache", kFloats, 'T'},
                        {"sin_cache", kFloats, 'T'},
                        {"position_ids", bit(DType::kI64), 0, true}},
             .outputs = {{"Y", 'T'}},
             .hazards = kIndexHazard,
             .attrs = {flag_attr("interleaved", "0", "1 pairs neighbours instead of halves"),
                       int_attr("num_heads", "axis 1 of X", 0, kNoLimit, "heads of X of rank 3"),
                       int_attr("rotary_embedding_dim", "0", 0, kNoLimit, "leading part of each head that is rotated; 0: all")},
             .infer = infer_rotary,
             .doc = "Rotates pairs of elements of each head by the angles of its position."});
}

}  // namespace msvm
