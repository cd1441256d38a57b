#include "msvm/ops/docs.h"

#include <fmt/format.h>

#include "msvm/ops/body.h"
#include "msvm/ops/schema.h"

namespace msvm {
namespace {

std::string_view class_title(OpClass c) {
  switch (c) {
    case OpClass::kElementwise:
      return "Element by element";
    case OpClass::kReduction:
      return "Reductions, scans and pools";
    case OpClass::kContraction:
      return "Products, convolutions and filters";
    case OpClass::kNormalization:
      return "Normalisations";
    case OpClass::kMovement:
      return "Movement of elements";
    case OpClass::kIndexing:
      return "Indexing and search";
    case OpClass::kRecurrent:
      return "Recurrent networks";
    case OpClass::kQuantize:
      return "Quantization";
    case OpClass::kOther:
      return "Tensors from sizes, values and keys; text for the host";
  }
  return "";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char ch : text) {
    if (ch == '|' || ch == '*') out += '\\';
    out += ch;
  }
  return out;
}

}  // namespace

std::string op_signature(const OpSchema& op) {
  std::string text = fmt::format("{}(", op.name);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const InputSpec& in = op.inputs[i];
    text += fmt::format("{}{}{}{}", i ? ", " : "", in.name, in.optional ? "?" : "",
                        op.variadic && i + 1 == op.inputs.size() ? "..." : "");
  }
  if (op.max_args > 0) text += op.max_args == op.min_args && op.max_args == 1 ? fmt::format("; {}", op.args_doc) : "; sizes...";
  text += op.outputs.empty() ? ")" : ") -> ";
  for (size_t i = 0; i < op.outputs.size(); ++i)
    text += fmt::format("{}{}{}", i ? ", " : "", op.outputs[i].name, i >= static_cast<size_t>(op.min_outputs) ? "?" : "");
  return text;
}

std::string op_dtypes(const OpSchema& op) {
  std::string text;
  std::vector<bool> done(op.inputs.size());
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (done[i]) continue;
    const InputSpec& in = op.inputs[i];
    std::string names(in.name);
    bool shared = op.variadic && i + 1 == op.inputs.size() && in.group;
    if (in.group)
      for (size_t k = i + 1; k < op.inputs.size(); ++k)
        if (op.inputs[k].group == in.group && op.inputs[k].dtypes == in.dtypes) {
          names += fmt::format(", {}", op.inputs[k].name);
          done[k] = shared = true;
        }
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", names, to_string(in.dtypes), shared ? " (one for all)" : "");
  }
  for (const OutputSpec& out : op.outputs) {
    std::string rule;
    if (!out.attr.empty()) rule = fmt::format("`{}`, else ", out.attr);
    const InputSpec* source = nullptr;
    for (const InputSpec& in : op.inputs)
      if (out.group && in.group == out.group) {
        source = &in;
        break;
      }
    const AttrSpec* attr = nullptr;
    for (const AttrSpec& a : op.attrs)
      if (a.name == out.attr) attr = &a;
    if (attr && attr->required) {
      rule = fmt::format("`{}`", out.attr);
    } else if (!source) {
      rule += dtype_name(out.fixed);
    } else {
      rule += fmt::format("that of {}", source->name);
      if (source->optional) rule += fmt::format(", else {}", dtype_name(out.fixed));
    }
    text += fmt::format("{}-> {}: {}", text.empty() ? "" : "; ", out.name, rule);
  }
  return text;
}

namespace {

std::string values(const AttrSpec& a) {
  auto limit = [&] {
    if (a.min == INT64_MIN && a.max == INT64_MAX) return std::string();
    if (a.min == INT64_MIN) return fmt::format(", up to {}", a.max);
    if (a.max == INT64_MAX) return fmt::format(", from {}", a.min);
    return fmt::format(", {} to {}", a.min, a.max);
  };
  switch (a.type) {
    case AttrType::kInt:
      return "int" + limit();
    case AttrType::kFloat:
      return "float";
    case AttrType::kString:
      return a.choices.empty() ? "string" : escaped(a.choices);
    case AttrType::kDType:
      return "dtype";
    case AttrType::kInts:
      return "ints" + limit();
    case AttrType::kFloats:
      return "floats";
    case AttrType::kStrings:
      return a.choices.empty() ? "strings" : "list of " + escaped(a.choices);
    case AttrType::kNumber:
      return "int or float";
  }
  return "";
}

std::string hazards(uint32_t h) {
  std::string text;
  for (auto [flag, words] : {std::pair<uint32_t, std::string_view>{kIndexHazard, "positions outside their axis"},
                             {kDivisionHazard, "division by 0"},
                             {kShiftHazard, "shifts by too many bits"},
                             {kCastHazard, "values outside the range of an integer"},
                             {kSizeHazard, "sizes that values give"},
                             {kZeroPointHazard, "zero points"}})
    if (h & flag) text += fmt::format("{}{}", text.empty() ? "" : "; ", words);
  return text;
}

std::string entry(const OpSchema& op) {
  std::string text = fmt::format("### {}\n`{}`\n\n{}\n\n", op.name, op_signature(op), escaped(op.doc));
  text += fmt::format("- dtypes: {}\n", op_dtypes(op));
  if (op.max_args > 1 || op.min_args != op.max_args) text += fmt::format("- size arguments: {}\n", escaped(op.args_doc));
  if (op.data_dependent) text += "- sizes of the result depend on values: outputs are `new`\n";
  if (op.hazards) text += fmt::format("- checked while it runs: {}\n", hazards(op.hazards));
  if (op.in_place) {
    std::string names;
    for (size_t i = 0; i < op.inputs.size(); ++i)
      if (op.in_place >> i & 1) names += fmt::format("{}{}", names.empty() ? "" : ", ", op.inputs[i].name);
    text += fmt::format("- may work in place of: {}\n", names);
  }
  if (op.attrs.empty()) return text + "\n";
  text += "\n| attribute | values | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const AttrSpec& a : op.attrs)
    text +=
        fmt::format("| {} | {} | {} | {} |\n", a.name, values(a), a.required ? "required" : escaped(a.fallback), escaped(a.doc));
  return text + "\n";
}

std::string_view number_name(std::string_view step, int k) {
  if (step == "Clip") return k == 1 ? "low" : "high";
  if (step == "LeakyRelu") return "slope";
  return k == 2 ? "beta" : "alpha";
}

std::string body_table() {
  std::string text = fmt::format(
      "## Bodies\n\n"
      "The attribute `body` of msvm.Pointwise, msvm.Conv and msvm.MatMul lists up to {} steps over single elements, all of f32; the last one is the result. A step reads `y` (the value of the "
      "product or\nconvolution, its bias included), `i3` (input 3 of the call, broadcast to the result), `s0` (the value of step 0) and numbers. Trailing operands named in *italics* are numbers.\n\n"
      "| step | value |\n| --- | --- |\n",
      kMaxBodySteps);
  for (const BodyOpInfo& info : body_ops()) {
    std::string operands;
    for (int k = 0; k < info.operands; ++k)
      operands += fmt::format("{}{}", k ? ", " : "", k < info.operands - info.constants ? std::string(1, static_cast<char>('a' + k)) : fmt::format("*{}*", number_name(info.name, k)));
    text += fmt::format("| {}({}) | {} |\n", info.name, operands, escaped(info.doc));
  }
  return text;
}

}  // namespace

std::string operator_docs() {
  auto ops = all_ops();
  std::string text = fmt::format(
      "# Operators\n\n"
      "<!-- Written by tools/gen_operator_docs.sh from the table in src/msvm/ops. Don't edit. -->\n\n"
      "The {} operators that `OP_CALL` knows, in their canonical form: `Op(tensors; sizes) {{attributes}}`. `?` marks what may be "
      "absent, `...` what\n"
      "repeats. Names and semantics are ONNX's; those of the domain `msvm` have no counterpart there. Every operator also takes "
      "`precision`\n"
      "(fp32, bf16, fp16, int8 or strict) and `fusion` (0 keeps it out of fused loops). Broadcasting is numpy's.\n\n",
      ops.size());
  for (int c = 0; c <= static_cast<int>(OpClass::kOther); ++c) {
    text += fmt::format("## {}\n\n", class_title(static_cast<OpClass>(c)));
    for (const OpSchema* op : ops)
      if (static_cast<int>(op->op_class) == c) text += entry(*op);
  }
  text += body_table();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace msvm
