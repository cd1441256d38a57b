// How the families of operators enter the table, and the short forms their rows are written in.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "msvm/ops/schema.h"

namespace msvm {

class OpTable {
 public:
  void add(OpSchema row) { rows_.push_back(std::move(row)); }
  std::vector<OpSchema>& rows() { return rows_; }
  const std::vector<OpSchema>& rows() const { return rows_; }

 private:
  std::vector<OpSchema> rows_;
};

// One per file of this room.
void add_unary_ops(OpTable& table);
void add_binary_ops(OpTable& table);
void add_movement_ops(OpTable& table);
void add_creation_ops(OpTable& table);
void add_indexing_ops(OpTable& table);
void add_search_ops(OpTable& table);
void add_reduce_ops(OpTable& table);
void add_norm_ops(OpTable& table);
void add_conv_ops(OpTable& table);
void add_fused_ops(OpTable& table);
void add_pool_ops(OpTable& table);
void add_matmul_ops(OpTable& table);
void add_attention_ops(OpTable& table);
void add_rnn_ops(OpTable& table);
void add_quantize_ops(OpTable& table);
void add_image_ops(OpTable& table);
void add_detection_ops(OpTable& table);
void add_signal_ops(OpTable& table);
void add_host_ops(OpTable& table);

// --- attributes --------------------------------------------------------------------------------------------------------
inline AttrSpec int_attr(std::string_view name, std::string_view fallback, int64_t min, int64_t max, std::string_view doc) {
  return {.name = name, .type = AttrType::kInt, .min = min, .max = max, .doc = doc, .fallback = fallback};
}
inline AttrSpec flag_attr(std::string_view name, std::string_view fallback, std::string_view doc) {
  return int_attr(name, fallback, 0, 1, doc);
}
inline AttrSpec float_attr(std::string_view name, std::string_view fallback, std::string_view doc) {
  return {.name = name, .type = AttrType::kFloat, .doc = doc, .fallback = fallback};
}
inline AttrSpec choice_attr(std::string_view name, std::string_view fallback, std::string_view choices, std::string_view doc) {
  return {.name = name, .type = AttrType::kString, .choices = choices, .doc = doc, .fallback = fallback};
}
inline AttrSpec dtype_attr(std::string_view name, std::string_view fallback, std::string_view doc) {
  return {.name = name, .type = AttrType::kDType, .doc = doc, .fallback = fallback};
}
inline AttrSpec ints_attr(std::string_view name, std::string_view fallback, int64_t min, int64_t max, std::string_view doc) {
  return {.name = name, .type = AttrType::kInts, .min = min, .max = max, .doc = doc, .fallback = fallback};
}
inline AttrSpec required(AttrSpec a) {
  a.required = true;
  return a;
}
/// Any axis of any rank: the shape function compares it with the rank there is.
inline AttrSpec axis_attr(std::string_view fallback, std::string_view doc, std::string_view name = "axis") {
  return int_attr(name, fallback, -kMaxRank, kMaxRank - 1, doc);
}
inline AttrSpec axes_attr(std::string_view fallback, std::string_view doc) {
  return ints_attr("axes", fallback, -kMaxRank, kMaxRank - 1, doc);
}

constexpr int64_t kNoLimit = INT64_MAX;
constexpr DTypeSet kIndexInts = bit(DType::kI32) | bit(DType::kI64);
constexpr DTypeSet kMatMulTypes = kFloats | kIndexInts | bit(DType::kU32) | bit(DType::kU64);
constexpr DTypeSet kBytes = bit(DType::kI8) | bit(DType::kU8);

}  // namespace msvm
