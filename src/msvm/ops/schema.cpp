// The operator table: look-up, checks of calls, and the driver of shape functions.
#include "msvm/ops/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"
#include "msvm/ops/registered.h"

namespace msvm {
namespace {

class Registry {
 public:
  static const Registry& get() {
    static const Registry& registry = *new Registry;  // threads may run programs while the process ends
    return registry;
  }
  const OpSchema* find(std::string_view name) const {
    auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }
  const std::vector<OpSchema>& rows() const { return table_.rows(); }

 private:
  Registry() {
    table_.rows().reserve(256);
    for (auto add : {add_unary_ops, add_binary_ops, add_movement_ops, add_creation_ops, add_indexing_ops, add_search_ops,
                     add_reduce_ops, add_norm_ops, add_conv_ops, add_fused_ops, add_pool_ops, add_matmul_ops, add_attention_ops, add_rnn_ops,
                     add_quantize_ops, add_image_ops, add_detection_ops, add_signal_ops, add_host_ops})
      add(table_);
    by_name_.reserve(2 * table_.rows().size());
    for (OpSchema& row : table_.rows()) {
      row.max_outputs = static_cast<int>(row.outputs.size());
      by_name_.emplace(row.name, &row);
    }
  }
  OpTable table_;
  std::unordered_map<std::string_view, const OpSchema*> by_name_;
};

/// The input spec of operand `i`; the last one repeats where the operator is variadic.
const InputSpec& spec_of(const OpSchema& op, size_t i) { return op.inputs[std::min(i, op.inputs.size() - 1)]; }

/// "A", or "inputs[3]" of a repeated one.
std::string operand_name(const OpSchema& op, size_t i) {
  const InputSpec& spec = spec_of(op, i);
  if (op.variadic && i + 1 >= op.inputs.size()) return fmt::format("{}[{}]", spec.name, i + 1 - op.inputs.size());
  return std::string(spec.name);
}

bool matches_choice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

std::string_view type_words(AttrType t) {
  switch (t) {
    case AttrType::kInt:
      return "an int";
    case AttrType::kFloat:
      return "a float";
    case AttrType::kString:
      return "a string";
    case AttrType::kDType:
      return "a dtype";
    case AttrType::kInts:
      return "a list of ints";
    case AttrType::kFloats:
      return "a list of floats";
    case AttrType::kStrings:
      return "a list of strings";
    case AttrType::kNumber:
      return "an int or a float";
  }
  return "?";
}

bool empty_list(const AttrValue& v) {
  if (auto* p = std::get_if<std::vector<int64_t>>(&v)) return p->empty();
  if (auto* p = std::get_if<std::vector<double>>(&v)) return p->empty();
  if (auto* p = std::get_if<std::vector<std::string>>(&v)) return p->empty();
  return false;
}

bool has_type(const AttrValue& v, AttrType t) {
  switch (t) {
    case AttrType::kInt:
      return std::holds_alternative<int64_t>(v);
    case AttrType::kFloat:
      return std::holds_alternative<double>(v);
    case AttrType::kString:
      return std::holds_alternative<std::string>(v);
    case AttrType::kDType:
      return std::holds_alternative<DType>(v);
    case AttrType::kNumber:
      return std::holds_alternative<int64_t>(v) || std::holds_alternative<double>(v);
    // An empty list of any kind is an empty list: text doesn't tell them apart.
    case AttrType::kInts:
      return std::holds_alternative<std::vector<int64_t>>(v) || empty_list(v);
    case AttrType::kFloats:
      return std::holds_alternative<std::vector<double>>(v) || empty_list(v);
    case AttrType::kStrings:
      return std::holds_alternative<std::vector<std::string>>(v) || empty_list(v);
  }
  return false;
}

constexpr AttrSpec kCommonAttrs[] = {
    {.name = "precision",
     .type = AttrType::kString,
     .choices = "fp32|bf16|fp16|int8|strict",
     .doc = "overrides the program's precision"},
    {.name = "fusion", .type = AttrType::kInt, .min = 0, .max = 1, .doc = "0 keeps the call out of fused loops"},
};

const AttrSpec* find_attr(const OpSchema& op, std::string_view name) {
  for (const AttrSpec& a : op.attrs)
    if (a.name == name) return &a;
  for (const AttrSpec& a : kCommonAttrs)
    if (a.name == name) return &a;
  return nullptr;
}

std::string range_words(const AttrSpec& a) {
  if (a.max == INT64_MAX) return fmt::format("{} or more", a.min);
  if (a.min == INT64_MIN) return fmt::format("{} or less", a.max);
  if (a.max == a.min + 1) return fmt::format("{} or {}", a.min, a.max);
  return fmt::format("{} to {}", a.min, a.max);
}

Status check_attr(const OpSchema& op, const Attr& attr) {
  const AttrSpec* spec = find_attr(op, attr.name);
  if (!spec) {
    if (const RegisteredOp* r = as_registered(op); r && r->traits.any_attributes) return {};
    std::string known;
    for (const AttrSpec& a : op.attrs) known += fmt::format("{}{}", known.empty() ? "" : ", ", a.name);
    return invalid_argument(fmt::format("{}: unknown attribute {}; it has {}", op.name, attr.name,
                                        known.empty() ? "none of its own (every operator has precision and fusion)" : known));
  }
  if (!has_type(attr.value, spec->type))
    return invalid_argument(
        fmt::format("{}: attribute {} must be {}, but is {}", op.name, attr.name, type_words(spec->type), to_string(attr.value)));
  auto bad_int = [&](int64_t v) { return v < spec->min || v > spec->max; };
  auto bad_string = [&](const std::string& s) { return !spec->choices.empty() && !matches_choice(spec->choices, s); };
  if (auto* i = std::get_if<int64_t>(&attr.value); i && bad_int(*i))
    return invalid_argument(fmt::format("{}: attribute {} must be {}, but is {}", op.name, attr.name, range_words(*spec), *i));
  if (auto* list = std::get_if<std::vector<int64_t>>(&attr.value))
    for (int64_t v : *list)
      if (bad_int(v))
        return invalid_argument(fmt::format("{}: each element of {} must be {}, but it is {}", op.name, attr.name,
                                            range_words(*spec), to_string(attr.value)));
  if (auto* s = std::get_if<std::string>(&attr.value); s && bad_string(*s))
    return invalid_argument(
        fmt::format("{}: attribute {} must be one of {}, but is \"{}\"", op.name, attr.name, spec->choices, *s));
  if (auto* list = std::get_if<std::vector<std::string>>(&attr.value))
    for (const std::string& s : *list)
      if (bad_string(s))
        return invalid_argument(
            fmt::format("{}: each element of {} must be one of {}, but one is \"{}\"", op.name, attr.name, spec->choices, s));
  return {};
}

std::string counted(int n, std::string_view word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

std::string count_words(int lo, int hi, std::string_view word) {
  if (lo == hi) return counted(lo, word);
  return fmt::format("{} to {} {}s", lo, hi, word);
}

/// Calls `report(Status)` for each violation until it returns false.
template <class Report>
void check_each(const OpSchema& op, std::span<const TensorType* const> inputs, size_t num_args, size_t num_outputs,
                const Attributes& attrs, Report report) {
  const size_t fixed = op.variadic ? op.inputs.size() - 1 : op.inputs.size();
  if (!op.variadic && inputs.size() > fixed) {
    if (!report(invalid_argument(
            fmt::format("{} takes {}, but has {}", op.name, counted(static_cast<int>(fixed), "input"), inputs.size()))))
      return;
  }
  if (op.variadic && inputs.size() < fixed + static_cast<size_t>(op.min_variadic)) {
    if (!report(invalid_argument(fmt::format("{} takes {} or more inputs, but has {}", op.name,
                                             fixed + static_cast<size_t>(op.min_variadic), inputs.size()))))
      return;
  }
  const size_t operands = op.variadic ? std::max(inputs.size(), fixed) : op.inputs.size();
  std::array<int8_t, 128> group_dtype;
  std::array<uint8_t, 128> group_first;
  group_dtype.fill(-1);
  for (size_t i = 0; i < operands; ++i) {
    const InputSpec& spec = spec_of(op, i);
    if (i >= inputs.size() || !inputs[i]) {
      if (!spec.optional && !report(invalid_argument(fmt::format("{}: input {} is missing", op.name, operand_name(op, i))))) return;
      continue;
    }
    DType dtype = inputs[i]->dtype;
    if (!(spec.dtypes & bit(dtype))) {
      if (!report(invalid_argument(fmt::format("{}: input {} must be {}, but is {}", op.name, operand_name(op, i),
                                               to_string(spec.dtypes), dtype_name(dtype)))))
        return;
      continue;
    }
    if (spec.group) {
      auto g = static_cast<size_t>(spec.group);
      if (group_dtype[g] < 0) {
        group_dtype[g] = static_cast<int8_t>(dtype);
        group_first[g] = static_cast<uint8_t>(std::min<size_t>(i, 255));
      } else if (group_dtype[g] != static_cast<int8_t>(dtype)) {
        if (!report(invalid_argument(fmt::format("{}: inputs {} and {} must have the same dtype, but are {} and {}", op.name,
                                                 operand_name(op, group_first[g]), operand_name(op, i),
                                                 dtype_name(static_cast<DType>(group_dtype[g])), dtype_name(dtype)))))
          return;
      }
    }
  }
  if (num_args < static_cast<size_t>(op.min_args) || num_args > static_cast<size_t>(op.max_args)) {
    if (!report(invalid_argument(
            fmt::format("{} takes {}{}{}{}, but has {}", op.name, count_words(op.min_args, op.max_args, "size argument"),
                        op.args_doc.empty() ? "" : " (", op.args_doc, op.args_doc.empty() ? "" : ")", num_args))))
      return;
  }
  if (num_outputs < static_cast<size_t>(op.min_outputs) || num_outputs > static_cast<size_t>(op.max_outputs)) {
    if (!report(invalid_argument(fmt::format("{} gives {}, but {} are asked for", op.name,
                                             count_words(op.min_outputs, op.max_outputs, "output"), num_outputs))))
      return;
  }
  for (const Attr& a : attrs)
    if (Status s = check_attr(op, a); !s.ok() && !report(std::move(s))) return;
  for (const AttrSpec& a : op.attrs)
    if (a.required && !attrs.has(a.name) && !report(invalid_argument(fmt::format("{}: attribute {} is missing", op.name, a.name))))
      return;
}

DType output_dtype(const OpSchema& op, const OutputSpec& out, std::span<const TensorType* const> inputs, const Attributes& attrs) {
  if (!out.attr.empty()) {
    if (const AttrValue* v = attrs.find(out.attr))
      if (auto* t = std::get_if<DType>(v)) return *t;
  }
  if (out.group)
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] && spec_of(op, i).group == out.group) return inputs[i]->dtype;
  return out.fixed;
}

/// Sizes of what the shape function gave: no overflow, not negative, rank within limits.
Status check_outputs(const OpSchema& op, InferContext& c) {
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    const TensorType& t = c.outputs()[i];
    if (t.rank() > kMaxRank)
      return unsupported(fmt::format("{}: output {} would have rank {}; tensors have at most {} axes", op.name, op.outputs[i].name,
                                     t.rank(), kMaxRank));
    for (int a = 0; a < t.rank(); ++a) {
      Dim d = t.shape[static_cast<size_t>(a)];
      if (!d.valid()) {
        if (op.data_dependent) continue;
        return overflow_error(fmt::format("{}: the size of axis {} of output {} leaves 64 bits", op.name, a, op.outputs[i].name));
      }
      if (d.is_const() && d.value() < 0)
        return shape_mismatch(
            fmt::format("{}: axis {} of output {} would have size {}", op.name, a, op.outputs[i].name, d.value()));
    }
  }
  return {};
}

}  // namespace

// --- InferContext ------------------------------------------------------------------------------------------------------
InferContext::InferContext(DimContext& dims, std::span<const TensorType* const> inputs, std::span<const Dim> args,
                           const Attributes& attrs, size_t num_outputs, ConditionSink& sink)
    : dims_(dims), inputs_(inputs), args_(args), attrs_(attrs), num_outputs_(num_outputs), sink_(sink), outputs_(num_outputs) {}

Status InferContext::require(CondOp op, Dim a, Dim b, std::string_view what) {
  if (!a.valid() || !b.valid()) return overflow_error(fmt::format("a size leaves 64 bits in the condition that {}", what));
  if (a == b && op != CondOp::kNe && op != CondOp::kLt && op != CondOp::kDivides) return {};
  if (a.is_const() && b.is_const() && holds(op, a.value(), b.value())) return {};
  return sink_.require({op, a, b}, what);
}

Result<Dim> InferContext::broadcast(Dim a, Dim b, std::string_view what) {
  if (a == b || b.is_const(1)) return a;
  if (a.is_const(1)) return b;
  if (!a.valid() || !b.valid()) return overflow_error(fmt::format("a size leaves 64 bits where {}", what));
  if (a.is_const() && b.is_const()) {
    MSVM_RETURN_IF_ERROR(sink_.require({CondOp::kBroadcastable, a, b}, what));
    return shape_error("not true that {}: {} and {}", what, a.value(), b.value());  // a sink that only collects
  }
  MSVM_RETURN_IF_ERROR(require(CondOp::kBroadcastable, a, b, what));
  if (a.is_const()) return a;
  if (b.is_const()) return b;
  return dims_.broadcast(a, b);
}

Result<std::vector<Dim>> InferContext::broadcast_shapes(std::span<const TensorType* const> types) {
  // Axes counted from the right, as broadcasting aligns them.
  static constexpr std::string_view kWhat[kMaxRank] = {"sizes of the last axis are equal or 1",
                                                       "sizes of the last axis but one are equal or 1",
                                                       "sizes of the 3rd axis from the right are equal or 1",
                                                       "sizes of the 4th axis from the right are equal or 1",
                                                       "sizes of the 5th axis from the right are equal or 1",
                                                       "sizes of the 6th axis from the right are equal or 1",
                                                       "sizes of the 7th axis from the right are equal or 1",
                                                       "sizes of the 8th axis from the right are equal or 1"};
  size_t rank = 0;
  for (const TensorType* t : types)
    if (t) rank = std::max(rank, t->shape.size());
  if (rank > kMaxRank) return unsupported(fmt::format("rank {}; tensors have at most {} axes", rank, kMaxRank));
  std::vector<Dim> shape;
  bool first = true;
  for (const TensorType* t : types) {
    if (!t) continue;
    if (first) {
      shape.reserve(rank);
      shape.assign(rank - t->shape.size(), dims_.constant(1));
      shape.insert(shape.end(), t->shape.begin(), t->shape.end());
      first = false;
      continue;
    }
    size_t offset = rank - t->shape.size();
    for (size_t i = 0; i < t->shape.size(); ++i) {
      Dim& d = shape[offset + i];
      if (d == t->shape[i]) continue;
      MSVM_ASSIGN_OR_RETURN(d, broadcast(d, t->shape[i], kWhat[rank - 1 - offset - i]));
    }
  }
  return shape;
}

Result<int> InferContext::normalize_axis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    if (rank == 0) return attr_error("{} is {}, but a tensor of rank 0 has no axes", what, axis);
    return attr_error("{} must be {} to {} for rank {}, but is {}", what, -rank, rank - 1, rank, axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::string_view InferContext::input_name(size_t i) const {
  if (!op_ || op_->inputs.empty()) return "an input";
  return spec_of(*op_, i).name;
}

void InferContext::set_shape(size_t i, std::vector<Dim> shape) {
  if (i >= outputs_.size()) return;
  outputs_[i].shape = std::move(shape);
  outputs_[i].unknown_rank = false;
}

void InferContext::set_unknown_rank(size_t i) {
  if (i >= outputs_.size()) return;
  outputs_[i].shape.clear();
  outputs_[i].unknown_rank = true;
}

void InferContext::set_output(size_t i, TensorType type) {
  if (i < outputs_.size()) outputs_[i] = std::move(type);
}

void InferContext::set_output(size_t i, DType dtype, std::vector<Dim> shape) {
  set_shape(i, std::move(shape));
  if (i < outputs_.size()) outputs_[i].dtype = dtype;
}

Status ConstantSink::require(const DimCondition& c, std::string_view what) {
  if (!c.a.valid() || !c.b.valid()) return overflow_error(fmt::format("a size leaves 64 bits in the condition that {}", what));
  if (!c.a.is_const() || !c.b.is_const() || holds(c.op, c.a.value(), c.b.value())) return {};
  return shape_mismatch(fmt::format("not true that {}: {} and {}", what, c.a.value(), c.b.value()));
}

// --- the table ---------------------------------------------------------------------------------------------------------
const OpSchema* find_op(std::string_view name) {
  if (const OpSchema* op = Registry::get().find(name)) return op;
  return find_registered(name).op;
}

std::vector<const OpSchema*> all_ops() {
  std::vector<const OpSchema*> list;
  for (const OpSchema& row : Registry::get().rows()) list.push_back(&row);
  return list;
}

std::string to_string(DTypeSet set) {
  if ((set & kAny) == kAny) return "any dtype";
  if (set == kFloats) return "a float";
  if (set == kInts) return "an integer";
  if (set == kNumeric) return "a number";
  std::string text;
  for (int i = 0, left = __builtin_popcount(set & kAny); i < kNumDTypes; ++i) {
    if (!(set >> i & 1)) continue;
    if (!text.empty()) text += left == 1 ? " or " : ", ";
    text += dtype_name(static_cast<DType>(i));
    --left;
  }
  return text;
}

Status check_call(const OpSchema& op, std::span<const TensorType* const> inputs, size_t num_args, size_t num_outputs,
                  const Attributes& attrs) {
  Status first;
  check_each(op, inputs, num_args, num_outputs, attrs, [&](Status s) {
    first = std::move(s);
    return false;
  });
  return first;
}

std::vector<Status> check_call_all(const OpSchema& op, std::span<const TensorType* const> inputs, size_t num_args,
                                   size_t num_outputs, const Attributes& attrs) {
  std::vector<Status> all;
  check_each(op, inputs, num_args, num_outputs, attrs, [&](Status s) {
    all.push_back(std::move(s));
    return true;
  });
  return all;
}

Result<std::vector<TensorType>> infer_checked_call(const OpSchema& op, DimContext& dims, std::span<const TensorType* const> inputs,
                                                   std::span<const Dim> args, const Attributes& attrs, size_t num_outputs,
                                                   ConditionSink& sink) {
  InferContext c(dims, inputs, args, attrs, num_outputs, sink);
  c.set_op(op);
  bool unknown_rank = false;
  const TensorType* first = nullptr;
  for (const TensorType* t : inputs) {
    if (!t) continue;
    if (!first) first = t;
    unknown_rank |= t->unknown_rank;
    for (Dim d : t->shape)
      if (!d.valid()) return overflow_error(fmt::format("{}: a size of an input leaves 64 bits", op.name));
    if (t->rank() > kMaxRank)
      return unsupported(fmt::format("{}: an input has rank {}; tensors have at most {} axes", op.name, t->rank(), kMaxRank));
  }
  for (Dim d : args)
    if (!d.valid()) return overflow_error(fmt::format("{}: a size argument leaves 64 bits", op.name));
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    c.outputs()[i].dtype = output_dtype(op, op.outputs[i], inputs, attrs);
    if (first) c.outputs()[i].device = first->device;
  }
  if (unknown_rank && !op.any_rank) {
    for (size_t i = 0; i < num_outputs; ++i) c.set_unknown_rank(i);
    return std::move(c.outputs());
  }
  if (Status s = op.infer(c); !s.ok()) return s.with_context(fmt::format("{}: ", op.name));
  MSVM_RETURN_IF_ERROR(check_outputs(op, c));
  return std::move(c.outputs());
}

Result<std::vector<TensorType>> infer_call(const OpSchema& op, DimContext& dims, std::span<const TensorType* const> inputs,
                                           std::span<const Dim> args, const Attributes& attrs, size_t num_outputs,
                                           ConditionSink& sink) {
  MSVM_RETURN_IF_ERROR(check_call(op, inputs, args.size(), num_outputs, attrs));
  return infer_checked_call(op, dims, inputs, args, attrs, num_outputs, sink);
}

}  // namespace msvm
