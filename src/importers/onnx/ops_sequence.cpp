// Sequences and optionals. A sequence whose elements are known one by one needs no list at run time.
#include <algorithm>

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

constexpr size_t kMaxSequence = 1024;

Status sequence_construct(NodeImport& n) {
  if (n.inputs.empty()) return invalid_argument("it has no inputs");
  MSVM_ASSIGN_OR_RETURN(DType dtype, n.im.dtype(n.inputs[0]));
  for (const Value& v : n.inputs) {
    MSVM_ASSIGN_OR_RETURN(DType other, n.im.dtype(v));
    if (other != dtype) return invalid_argument("its elements differ in type");
  }
  n.set(0, sequence_value(n.inputs, dtype));
  return {};
}

Status sequence_empty(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(DType dtype, n.dtype_attr("dtype", DType::kF32));
  n.set(0, sequence_value({}, dtype));
  return {};
}

/// The position of input `i` within `size` elements, if both are known now.
Result<std::optional<size_t>> known_position(NodeImport& n, size_t i, size_t size, bool end_allowed) {
  auto s = n.known_if_possible(i);
  if (!s || !s->is_const() || s->items.size() != 1 || s->items[0].kind != ScalarKind::kInt) return std::optional<size_t>();
  int64_t at = s->items[0].dim.value(), count = static_cast<int64_t>(size);
  if (at < -count || at >= count + (end_allowed ? 1 : 0)) return invalid_argument("position " + std::to_string(at) + " in a sequence of " + std::to_string(count));
  return std::optional(static_cast<size_t>(at < 0 ? at + count : at));
}

Status sequence_at(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(1));
  const Value& s = n.inputs[0];
  if (s->kind == ValueKind::kSequence) {
    MSVM_ASSIGN_OR_RETURN(auto at, known_position(n, 1, s->items.size(), false));
    if (at) {
      n.set(0, s->items[*at]);
      return {};
    }
  }
  MSVM_ASSIGN_OR_RETURN(Reg list, n.im.list(s));
  MSVM_ASSIGN_OR_RETURN(Dim at, one_size(n, 1));
  n.set(0, n.fb().list_get(list, at));
  return {};
}

Status sequence_length(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(0));
  const Value& s = n.inputs[0];
  if (s->kind == ValueKind::kSequence) {
    n.set(0, scalars_value(size_scalar(n.constant(static_cast<int64_t>(s->items.size())))));
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Reg list, n.im.list(s));
  n.set(0, scalars_value(size_scalar(n.fb().list_length(list))));
  return {};
}

Status sequence_insert(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(1));
  const Value& s = n.inputs[0];
  MSVM_ASSIGN_OR_RETURN(DType dtype, n.im.dtype(s));
  MSVM_ASSIGN_OR_RETURN(DType other, n.im.dtype(n.inputs[1]));
  if (other != dtype) return invalid_argument("the element has another type than the sequence");
  if (s->kind == ValueKind::kSequence && s->items.size() < kMaxSequence) {
    size_t at = s->items.size();
    if (n.has(2)) {
      MSVM_ASSIGN_OR_RETURN(auto given, known_position(n, 2, at, true));
      if (!given) return unsupported("a position that is known only at run time");
      at = *given;
    }
    if (!n.im.take_elements(s->items.size())) return resource_limit("sequences are copied too often");
    std::vector<Value> items = s->items;
    items.insert(items.begin() + static_cast<ptrdiff_t>(at), n.inputs[1]);
    n.set(0, sequence_value(std::move(items), dtype));
    return {};
  }
  if (n.has(2)) return unsupported("a position in a sequence that is made at run time: only appending is supported");
  MSVM_ASSIGN_OR_RETURN(Reg list, n.im.list(s));
  MSVM_ASSIGN_OR_RETURN(Reg item, n.tensor(1));
  n.set(0, list_value(n.fb().list_append(list, item), dtype));
  return {};
}

Status sequence_erase(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(0));
  const Value& s = n.inputs[0];
  if (s->kind != ValueKind::kSequence) return unsupported("erasing from a sequence that is made at run time");
  if (s->items.empty()) return invalid_argument("the sequence is empty");
  size_t at = s->items.size() - 1;
  if (n.has(1)) {
    MSVM_ASSIGN_OR_RETURN(auto given, known_position(n, 1, s->items.size(), false));
    if (!given) return unsupported("a position that is known only at run time");
    at = *given;
  }
  std::vector<Value> items = s->items;
  items.erase(items.begin() + static_cast<ptrdiff_t>(at));
  n.set(0, sequence_value(std::move(items), s->dtype));
  return {};
}

Status concat_from_sequence(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(0));
  const Value& s = n.inputs[0];
  std::vector<Reg> in;
  if (s->kind == ValueKind::kSequence) {
    if (s->items.empty()) return invalid_argument("the sequence is empty");
    for (const Value& v : s->items) {
      MSVM_ASSIGN_OR_RETURN(Reg r, n.im.tensor(v));
      in.push_back(r);
    }
  } else {
    MSVM_ASSIGN_OR_RETURN(Reg list, n.im.list(s));
    in.push_back(list);
  }
  bool stack = n.int_attr("new_axis", 0) != 0;
  if (!n.has_attr("axis")) return invalid_argument("attribute 'axis' is missing");
  Attributes attrs{{"axis", n.int_attr("axis", 0)}};
  if (!stack && in.size() == 1 && s->kind == ValueKind::kSequence) {
    n.set(0, in[0]);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call(stack ? "msvm.Stack" : "Concat", in, {}, attrs));
  n.set(0, y);
  return {};
}

Status split_to_sequence(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  std::vector<Dim> shape = n.shape(x);
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(n.int_attr("axis", 0), shape.size()));
  bool keep = n.int_attr("keepdims", 1) != 0;
  Dim size = shape[static_cast<size_t>(axis)];
  std::vector<Dim> parts;
  bool one_by_one = !n.has(1);
  int64_t chunk = 1;
  if (!one_by_one) {
    if (!n.sizes_possible(1)) return unsupported("a number of parts that is known only at run time");
    MSVM_ASSIGN_OR_RETURN(Scalars s, n.im.scalars(n.inputs[1]));
    MSVM_ASSIGN_OR_RETURN(parts, n.sizes(1));
    if (s.shape.empty()) {
      if (!parts[0].is_const() || parts[0].value() < 1) return unsupported("parts of a size that is known only at run time");
      chunk = parts[0].value();
      parts.clear();
      one_by_one = false;
    } else if (parts.empty()) {
      return invalid_argument("there are no parts");
    }
  }
  if (parts.empty()) {
    if (!size.is_const()) return unsupported("an axis of unknown size: the number of parts is known only at run time");
    int64_t count = size.value() / chunk + (size.value() % chunk != 0);
    if (count > static_cast<int64_t>(kMaxSequence)) return unsupported("more than " + std::to_string(kMaxSequence) + " parts");
    for (int64_t from = 0; from < size.value(); from += chunk) parts.push_back(n.constant(std::min(chunk, size.value() - from)));
  }
  std::vector<Value> items;
  Dim from = n.constant(0);
  for (Dim part : parts) {
    Dim to = n.dims().add(from, part);
    if (!to.valid()) return overflow_error("the arithmetic of its sizes overflows");
    Reg piece = n.fb().slice(x, {axis}, {from}, {to}, {1});
    if (one_by_one && !keep) piece = n.fb().squeeze(piece, {axis});
    items.push_back(tensor_value(piece));
    from = to;
  }
  if (from != size) {
    if (from.is_const() && size.is_const()) return invalid_argument("the sizes of the parts don't sum up to the size of the axis");
    n.fb().shape_assert(n.fb().compare(CalcOp::kEq, from, size), n.label() + ": the sizes of the parts don't sum up to the size of the axis");
  }
  n.set(0, sequence_value(std::move(items), n.fb().tensor_type(x).dtype));
  return {};
}

Status optional(NodeImport& n) {
  n.attr("type");
  n.set(0, n.has(0) ? n.inputs[0] : absent_value());
  return {};
}

Status optional_has_element(NodeImport& n) {
  n.set(0, scalars_value({DType::kBool, {}, {bool_scalar(n.has(0))}}));
  return {};
}

Status optional_get_element(NodeImport& n) {
  if (!n.has(0)) return invalid_argument("the optional is empty");
  return import_identity(n);
}

constexpr HandlerRow kRows[] = {
    {"SequenceConstruct", sequence_construct},
    {"SequenceEmpty", sequence_empty},
    {"SequenceAt", sequence_at},
    {"SequenceLength", sequence_length},
    {"SequenceInsert", sequence_insert},
    {"SequenceErase", sequence_erase},
    {"ConcatFromSequence", concat_from_sequence},
    {"SplitToSequence", split_to_sequence},
    {"Optional", optional},
    {"OptionalHasElement", optional_has_element},
    {"OptionalGetElement", optional_get_element},
};

}  // namespace

std::span<const HandlerRow> sequence_handlers() { return kRows; }

}  // namespace msvm::onnx
