// The table itself: every row complete, every check of a call worded.
#include <set>

#include "msvm/ops/infer_tester.h"
#include "msvm/ops/registered.h"

namespace msvm {
namespace {

TEST(OpTable, RowsAreComplete) {
  std::set<std::string_view> names;
  for (const OpSchema* op : all_ops()) {
    SCOPED_TRACE(op->name);
    EXPECT_TRUE(names.insert(op->name).second) << "twice";
    EXPECT_EQ(find_op(op->name), op);
    EXPECT_NE(op->infer, nullptr);
    EXPECT_GE(op->since, 1);
    EXPECT_GT(op->doc.size(), 10u);
    EXPECT_EQ(op->doc.back(), '.');
    EXPECT_TRUE(!op->outputs.empty() || has_effect(*op));
    EXPECT_EQ(static_cast<size_t>(op->max_outputs), op->outputs.size());
    EXPECT_GE(op->min_outputs, op->outputs.empty() ? 0 : 1);
    EXPECT_LE(op->min_outputs, op->max_outputs);
    EXPECT_LE(op->min_args, op->max_args);
    EXPECT_EQ(op->max_args > 0, !op->args_doc.empty());
    EXPECT_TRUE(!op->variadic || (!op->inputs.empty() && (op->min_variadic >= 1 || op->inputs.back().optional)));
    std::set<std::string_view> inputs;
    uint32_t groups = 0;
    for (const InputSpec& in : op->inputs) {
      EXPECT_FALSE(in.name.empty());
      EXPECT_TRUE(inputs.insert(in.name).second) << in.name;
      EXPECT_NE(in.dtypes, 0u);
      EXPECT_EQ(in.dtypes & ~kAny, 0u);
      if (in.group) {
        ASSERT_TRUE(in.group >= 'A' && in.group <= 'Z');
        groups |= 1u << (in.group - 'A');
      }
    }
    for (const OutputSpec& out : op->outputs) {
      EXPECT_FALSE(out.name.empty());
      EXPECT_TRUE(!out.group || (groups >> (out.group - 'A') & 1)) << "output of a group that no input has";
      if (out.attr.empty()) continue;
      bool found = false;
      for (const AttrSpec& a : op->attrs) found |= a.name == out.attr && a.type == AttrType::kDType;
      EXPECT_TRUE(found) << out.attr;
    }
    for (size_t i = 0; i < 32; ++i) {
      if (!(op->in_place >> i & 1)) continue;
      if (!op->variadic) { ASSERT_LT(i, op->inputs.size()); }
      EXPECT_EQ(op->max_outputs, 1);
      // Bytes that change their dtype can't change their owner while a broadcast reads them (BitCast reads each once).
      EXPECT_TRUE(op->name == "BitCast" || op->inputs[std::min(i, op->inputs.size() - 1)].group == op->outputs[0].group);
    }
    std::set<std::string_view> attrs;
    for (const AttrSpec& a : op->attrs) {
      EXPECT_TRUE(attrs.insert(a.name).second) << a.name;
      EXPECT_FALSE(a.doc.empty()) << a.name;
      EXPECT_LE(a.min, a.max) << a.name;
      EXPECT_EQ(a.required, a.fallback.empty()) << a.name << ": a default, or required";
      EXPECT_TRUE(a.name != "precision" && a.name != "fusion") << "taken by every operator";
    }
  }
  EXPECT_GE(names.size(), 150u);
}

TEST(OpTable, Lookup) {
  EXPECT_EQ(find_op("Conv")->name, "Conv");
  EXPECT_EQ(find_op("conv"), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(CheckCall, Messages) {
  InferTester t;
  EXPECT_EQ(t("Relu", "f32[2], f32[2]"), "error: Relu takes 1 input, but has 2");
  EXPECT_EQ(t("Add", "f32[2]"), "error: Add: input B is missing");
  EXPECT_EQ(t("Add", "f32[2], i64[2]"), "error: Add: inputs A and B must have the same dtype, but are f32 and i64");
  EXPECT_EQ(t("Add", "bool[2], bool[2]"), "error: Add: input A must be a number, but is bool");
  EXPECT_EQ(t("Concat", "f32[2], i32[2]", {{"axis", int64_t{0}}}),
            "error: Concat: inputs inputs[0] and inputs[1] must have the same dtype, but are f32 and i32");
  EXPECT_EQ(t("Concat", "", {{"axis", int64_t{0}}}), "error: Concat takes 1 or more inputs, but has 0");
  EXPECT_EQ(t("Concat", "f32[2], _", {{"axis", int64_t{0}}}), "error: Concat: input inputs[1] is missing");
  EXPECT_EQ(t("Concat", "f32[2]"), "error: Concat: attribute axis is missing");
  EXPECT_EQ(t("TopK", "f32[8]"), "error: TopK takes 1 size argument (k), but has 0");
  EXPECT_EQ(t("TopK", "f32[8]; 3", {}, 3), "error: TopK gives 1 to 2 outputs, but 3 are asked for");
  EXPECT_EQ(t("Softmax", "f32[8]", {{"axes", int64_t{0}}}), "error: Softmax: unknown attribute axes; it has axis");
  EXPECT_EQ(t("Softmax", "f32[8]", {{"axis", 0.5}}), "error: Softmax: attribute axis must be an int, but is 0.5");
  EXPECT_EQ(t("LeakyRelu", "f32[8]", {{"alpha", int64_t{1}}}), "error: LeakyRelu: attribute alpha must be a float, but is 1");
  EXPECT_EQ(t("MaxPool", "f32[1, 1, 8, 8]", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 2}}}),
            "error: MaxPool: each element of strides must be 1 or more, but it is [0, 2]");
  EXPECT_EQ(t("Gelu", "f32[8]", {{"approximate", std::string("fast")}}),
            "error: Gelu: attribute approximate must be one of none|tanh, but is \"fast\"");
  EXPECT_EQ(t("ArgMax", "f32[8]", {{"keepdims", int64_t{2}}}), "error: ArgMax: attribute keepdims must be 0 or 1, but is 2");
  EXPECT_EQ(t("Relu", "f32[8]", {{"precision", std::string("fp8")}}),
            "error: Relu: attribute precision must be one of fp32|bf16|fp16|int8|strict, but is \"fp8\"");
  EXPECT_EQ(t("Relu", "f32[8]", {{"precision", std::string("strict")}, {"fusion", int64_t{0}}}), "f32[8]");
  // An empty list is one of any kind.
  EXPECT_EQ(t("ReduceSum", "f32[8]", {{"axes", Floats{}}}), "f32[8]");
}

TEST(CheckCall, AllViolations) {
  TensorType a, b;
  b.dtype = DType::kBool;
  const TensorType* inputs[] = {&a, &b, &a};
  auto all = check_call_all(*find_op("Add"), inputs, 2, 1, Attributes{{"axis", int64_t{1}}});
  EXPECT_EQ(all.size(), 4u);  // inputs, dtype of B, arguments, attribute
}

TEST(InferCall, UnknownRankPassesOn) {
  InferTester t;
  EXPECT_EQ(t("Add", "f32[*], f32[3]"), "f32[*]");
  EXPECT_EQ(t("Add", "f32[*], i32[3]"), "error: Add: inputs A and B must have the same dtype, but are f32 and i32");
  EXPECT_EQ(t("Cast", "f32[*]", {{"to", DType::kI32}}), "i32[*]");
  EXPECT_EQ(t("Greater", "f32[*], f32[3]"), "bool[*]");
  EXPECT_EQ(t("LayerNormalization", "f16[*], f16[3]", {}, 3), "f16[*], f32[*], f32[*]");
  EXPECT_EQ(t("Shape", "f32[*]"), "i64[?]");
  EXPECT_EQ(t("Size", "f32[*]"), "i64[]");
  EXPECT_EQ(t("Flatten", "f32[*]"), "f32[?, ?]");
}

TEST(InferCall, Limits) {
  InferTester t;
  EXPECT_EQ(t("msvm.Stack", "f32[1,1,1,1,1,1,1,1]", {{"axis", int64_t{0}}}),
            "error: msvm.Stack: output Y would have rank 9; tensors have at most 8 axes");
  EXPECT_EQ(t("Tile", "f32[4611686018427387904]; 4"), "error: Tile: the size of axis 0 of output Y leaves 64 bits");
  EXPECT_EQ(t("Gather", "f32[2, 2, 2, 2, 2], i64[1, 1, 1, 1, 1]"),
            "error: Gather: output output would have rank 9; tensors have at most 8 axes");
}

}  // namespace
}  // namespace msvm
