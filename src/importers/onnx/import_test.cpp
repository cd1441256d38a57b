// Models of a few nodes, from their bytes to the bytecode that they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "importers/onnx/model_writer.h"
#include "msvm/base/file_copy.h"
#include "msvm/bytecode/text.h"

namespace msvm::onnx_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const OnnxImportResult& r) {
  if (!r.errors.empty()) return "ERRORS\n" + format_diagnostics(r.errors);
  return disassemble(r.module, {.debug = false});
}
std::string import_text(const GraphWriter& g, int64_t opset = 18, const std::vector<std::string>& functions = {}) { return text_of(import_bytes(model(g, opset, functions))); }

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(OnnxImport, DimensionsKeepTheirNames) {
  GraphWriter g;
  g.input("x", kFloat, {"batch", 3, "4*h", "w"}).output("y").node("Relu", {"x"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("x: f32[batch, 3, 4*h, w]"));
  EXPECT_THAT(t, HasSubstr("y: f32[batch, 3, 4*h, w]"));
  EXPECT_THAT(t, HasSubstr("OP_CALL Relu("));
}

TEST(OnnxImport, LargeUnalignedTensorsAreCopiesOfTheFile) {
  int copies = 0;
  for (std::string name : {"w", "wx", "wxy", "wxyz"}) {  // each at another address
    std::vector<float> values(128 * 130);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    GraphWriter g;
    g.input("a", kFloat, {"n", 128}).output("y").weight(floats(name, {128, 130}, values)).node("MatMul", {"a", name}, {"y"});
    const OnnxImportResult r = import_bytes(model(g));
    ASSERT_TRUE(r.errors.empty());
    const Constant& c = r.module.constants.at(0);
    ASSERT_EQ(c.bytes, values.size() * 4);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(c.data) % 4, 0u);
    EXPECT_EQ(std::memcmp(c.data, values.data(), c.bytes), 0);
    if (!drop_copy(c.data)) continue;
    ++copies;
    EXPECT_NE(std::memcmp(c.data, values.data(), c.bytes), 0);
    fill_copy(c.data);
    EXPECT_EQ(std::memcmp(c.data, values.data(), c.bytes), 0);
  }
  EXPECT_GE(copies, 2);
}

TEST(OnnxImport, UnnamedAndNegativeDimensionsAreFresh) {
  GraphWriter g;
  g.input("x", kFloat, {Size(-1), Size(-1)}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("x: f32[x_0_0, x_1_0]"));
}

TEST(OnnxImport, QuestionMarksNameNothing) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 3, "?", "?"}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("x: f32[b, 3, d0, d1]"));
}

TEST(OnnxImport, ShapeChainsBecomeSizesNotTensors) {
  GraphWriter g;
  g.input("x", kFloat, {"b", "s", 12}).output("y");
  g.weight(int_scalar("i0", 0)).weight(int_scalar("i1", 1)).weight(ints("axis", {0})).weight(ints("heads", {3, 4}));
  g.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "i0"}, {"b"}).node("Gather", {"shape", "i1"}, {"s"});
  g.node("Unsqueeze", {"b", "axis"}, {"b1"}).node("Unsqueeze", {"s", "axis"}, {"s1"});
  g.node("Concat", {"b1", "s1", "heads"}, {"target"}, {attr_int("axis", 0)});
  g.node("Reshape", {"x", "target"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("TENSOR_VIEW reshape R0, [b, s, 3, 4]"));
  EXPECT_THAT(t, Not(HasSubstr("OP_CALL")));
}

TEST(OnnxImport, ASizeThatIsNeededAsATensorBecomesOne) {
  GraphWriter g;
  g.input("x", kFloat, {"b", "s"}).output("y", kInt64).node("Shape", {"x"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("OP_CALL msvm.ShapeTensor(; b, s)"));
}

TEST(OnnxImport, ReshapeMinusOneIsAnExactQuotient) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 8, "h", "w"}).output("y").weight(ints("to", {0, 4, -1})).node("Reshape", {"x", "to"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("reshape R0, [b, 4, 2*h*w]"));
}

TEST(OnnxImport, ReshapeZeroWithAllowzeroIsZero) {
  GraphWriter g;
  g.input("x", kFloat, {0, 8}).output("y").weight(ints("to", {4, 0})).node("Reshape", {"x", "to"}, {"y"}, {attr_int("allowzero", 1)});
  EXPECT_THAT(import_text(g), HasSubstr("reshape R0, [4, 0]"));
}

TEST(OnnxImport, SizesReadFromATensorMayBeMarkers) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 8}).input("to", kInt64, {2}).output("y").node("Reshape", {"x", "to"}, {"y"});
  std::string t = import_text(g);
  EXPECT_EQ(count(t, "TENSOR_READ"), 2u) << t;
  EXPECT_EQ(count(t, "SHAPE_CALC select"), 4u) << t;
}

TEST(OnnxImport, ShapesOfUnknownLengthGiveUnknownRank) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 8}).input("to", kInt64, {"n"}).output("y").node("Reshape", {"x", "to"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("OP_CALL Reshape(R0, R1) -> new"));
  EXPECT_THAT(t, HasSubstr("y: f32[*]"));
}

TEST(OnnxImport, SliceFoldsWhatIsProvable) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 10}).output("y");
  g.weight(ints("from", {2})).weight(ints("to", {-1})).weight(ints("axis", {1})).node("Slice", {"x", "from", "to", "axis"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("slice R0, axis 1 from 2 to 9"));
}

TEST(OnnxImport, SliceClampsWhatIsNot) {
  GraphWriter g;
  g.input("x", kFloat, {"b", "n"}).output("y");
  g.weight(ints("from", {2})).weight(ints("to", {INT64_MAX})).weight(ints("axis", {1})).node("Slice", {"x", "from", "to", "axis"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("slice R0, axis 1 from min(n, 2) to n"));
  EXPECT_THAT(t, Not(HasSubstr("SHAPE_CALC")));
}

TEST(OnnxImport, NegativeStepsAreTheOperator) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").weight(ints("from", {-1})).weight(ints("to", {INT64_MIN})).weight(ints("axis", {0})).weight(ints("step", {-1}));
  g.node("Slice", {"x", "from", "to", "axis", "step"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("OP_CALL Slice(R0;"));
}

TEST(OnnxImport, SplitWithASmallerLastPart) {
  GraphWriter g;
  g.input("x", kFloat, {7}).output("a").output("b").output("c").node("Split", {"x"}, {"a", "b", "c"}, {attr_int("num_outputs", 3)});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("a: f32[3], b: f32[3], c: f32[1]"));
}

TEST(OnnxImport, AxesAreAttributesOrInputs) {
  for (int64_t opset : {11, 13}) {
    GraphWriter g;
    g.input("x", kFloat, {"b", "s"}).output("y");
    if (opset < 13) g.node("Unsqueeze", {"x"}, {"u"}, {attr_ints("axes", {1})});
    else g.weight(ints("axes", {1})).node("Unsqueeze", {"x", "axes"}, {"u"});
    g.node("ReduceMean", {"u"}, {"y"}, {attr_ints("axes", {-1}), attr_int("keepdims", 0)});
    EXPECT_THAT(import_text(g, opset), HasSubstr("y: f32[b, 1]")) << opset;
  }
}

TEST(OnnxImport, OldSoftmaxFlattens) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 3, 4}).output("y").node("Softmax", {"x"}, {"y"}, {attr_int("axis", 1)});
  EXPECT_THAT(import_text(g, 11), HasSubstr("reshape R0, [b, 12]"));
  EXPECT_THAT(import_text(g, 13), Not(HasSubstr("reshape")));
}

TEST(OnnxImport, ResizeByScalesKeepsExpressions) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 3, "h", "w"}).output("y").weight(floats("scales", {4}, {1, 1, 2, 0.5}));
  g.node("Resize", {"x", "", "scales"}, {"y"}, {attr_string("mode", "nearest")});
  EXPECT_THAT(import_text(g), HasSubstr("y: f32[b, 3, 2*h, floordiv(w, 2)]"));
}

TEST(OnnxImport, NodesNeedNotBeSorted) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").node("Neg", {"r"}, {"y"}).node("Relu", {"x"}, {"r"});
  EXPECT_THAT(import_text(g), HasSubstr("OP_CALL Neg("));
}

TEST(OnnxImport, ACircleIsAnError) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").node("Add", {"x", "y"}, {"z"}).node("Neg", {"z"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("circle"));
}

TEST(OnnxImport, InitializersThatAreInputsAreConstants) {
  GraphWriter g;
  g.input("x", kFloat, {2}).input("w", kFloat, {2}).weight(floats("w", {2}, {1, 2})).output("y").node("Add", {"x", "w"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("func @main(x: f32[2])"));
}

TEST(OnnxImport, SizesThatGrowTooLargeAreComputed) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").weight(ints("from", {1})).weight(ints("to", {-2})).weight(ints("axis", {0})).weight(ints("step", {3}));
  std::string last = "x";
  for (int i = 0; i < 60; ++i) {
    std::string name = "s" + std::to_string(i);
    g.node("Concat", {last, last, "x"}, {"c" + name}, {attr_int("axis", 0)}).node("Slice", {"c" + name, "from", "to", "axis", "step"}, {name});
    last = name;
  }
  g.node("Relu", {last}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, Not(HasSubstr("ERRORS")));
  EXPECT_LT(t.size(), 200000u);
}

TEST(OnnxImport, ReductionsOfAllAxes) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 3}).output("y").node("ReduceMax", {"x"}, {"y"}, {attr_int("keepdims", 0)});
  EXPECT_THAT(import_text(g), HasSubstr("axes: [0, 1]"));
}

// --- errors --------------------------------------------------------------------------------------------------------------

TEST(OnnxImport, EveryUnsupportedOperatorIsNamedAtOnce) {
  GraphWriter inner;
  inner.output("t").node("NoSuchOp3", {"x"}, {"t"});
  GraphWriter g;
  g.input("x", kFloat, {"n"}).input("c", kBool, {}).output("y");
  g.node("NoSuchOp1", {"x"}, {"a"}).node("NoSuchOp2", {"a"}, {"b"}, {}, "com.example").node("If", {"c"}, {"d"}, {attr_graph("then_branch", inner.bytes()), attr_graph("else_branch", inner.bytes())});
  g.node("Add", {"b", "d"}, {"y"}).node("Relu", {"x"}, {"z"}, {attr_int("strange", 1)});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("NoSuchOp1"));
  EXPECT_THAT(t, HasSubstr("com.example.NoSuchOp2"));
  EXPECT_THAT(t, HasSubstr("NoSuchOp3"));
  EXPECT_THAT(t, HasSubstr("'strange'"));
  EXPECT_THAT(t, HasSubstr("n_a"));
}

TEST(OnnxImport, UnsupportedTypesAreNamed) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).weight(tensor("w", kFloat8, {1}, "x")).output("y").node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("FLOAT8E4M3FN"));
}

TEST(OnnxImport, DataMustFitItsShape) {
  GraphWriter g;
  g.input("x", kFloat, {2}).weight(tensor("w", kFloat, {1 << 30, 1 << 20}, "1234")).output("y").node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("tensor 'w'"));
}

TEST(OnnxImport, MissingValuesAndOutputs) {
  GraphWriter g;
  g.input("x", kFloat, {2}).output("y").output("z").node("Add", {"x", "nowhere"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("'nowhere' isn't defined"));
  EXPECT_THAT(t, HasSubstr("output 'z'"));
}

TEST(OnnxImport, InputsNeedARank) {
  GraphWriter g;
  g.input_of_unknown_rank("x", kFloat).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_THAT(import_text(g), HasSubstr("its rank must be known"));
}

TEST(OnnxImport, NoModelAtAll) {
  EXPECT_FALSE(import_bytes("").errors.empty());
  EXPECT_FALSE(import_bytes("hello, world").errors.empty());
}

TEST(OnnxImport, EveryTruncationIsAnErrorOrAModel) {
  GraphWriter g;
  g.input("x", kFloat, {"b", 8}).output("y").weight(ints("to", {0, 4, -1})).node("Reshape", {"x", "to"}, {"y"});
  std::string bytes = model(g);
  for (size_t n = 0; n < bytes.size(); ++n) import_bytes(bytes.substr(0, n));
}

TEST(OnnxImport, DeepNestingIsRefused) {
  std::string graph;
  {
    GraphWriter g;
    g.output("t").node("Relu", {"x"}, {"t"});
    graph = g.bytes();
  }
  for (int i = 0; i < 200; ++i) {
    GraphWriter g;
    g.output("t").node("If", {"c"}, {"t"}, {attr_graph("then_branch", graph), attr_graph("else_branch", graph.size() < 4000 ? graph : "")});
    graph = g.bytes();
  }
  GraphWriter g;
  g.input("x", kFloat, {2}).input("c", kBool, {}).output("y").node("If", {"c"}, {"y"}, {attr_graph("then_branch", graph), attr_graph("else_branch", graph)});
  EXPECT_THAT(import_text(g), HasSubstr("nested too deeply"));
}

TEST(OnnxImport, ExternalDataCantLeaveTheFolder) {
  std::string t, entry;
  protozero::pbf_writer e(entry);
  e.add_string(1, "location");
  e.add_string(2, "../../etc/passwd");
  protozero::pbf_writer w(t);
  std::vector<int64_t> dims{1};
  w.add_packed_int64(1, dims.begin(), dims.end());
  w.add_int32(2, kFloat);
  w.add_string(8, "w");
  w.add_message(13, entry);
  w.add_int32(14, 1);
  GraphWriter g;
  g.input("x", kFloat, {1}).weight(t).output("y").node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(text_of(import_bytes(model(g), {.directory = "/tmp"})), HasSubstr("ERRORS"));
  EXPECT_THAT(text_of(import_bytes(model(g))), HasSubstr("folder isn't known"));
}

// --- control flow --------------------------------------------------------------------------------------------------------

TEST(OnnxImport, AnIfThatAsksForARankFolds) {
  GraphWriter yes, no;
  yes.output("t").node("Relu", {"x"}, {"t"});
  no.output("t").node("NoSuchOp", {"x"}, {"t"});
  GraphWriter g;
  g.input("x", kFloat, {"b", "s"}).output("y").weight(int_scalar("two", 2));
  g.node("Shape", {"x"}, {"shape"}).node("Size", {"shape"}, {"rank"}).node("Equal", {"rank", "two"}, {"c"});
  g.node("If", {"c"}, {"y"}, {attr_graph("then_branch", yes.bytes()), attr_graph("else_branch", no.bytes())});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("OP_CALL Relu"));
  EXPECT_THAT(t, Not(HasSubstr("BRANCH_IF")));
}

TEST(OnnxImport, BranchesMeetInAPhi) {
  GraphWriter yes, no;
  yes.output("t").node("Relu", {"x"}, {"t"});
  no.output("t").node("Concat", {"x", "x"}, {"t"}, {attr_int("axis", 0)});
  GraphWriter g;
  g.input("x", kFloat, {"b", 4}).input("c", kBool, {}).output("y");
  g.node("If", {"c"}, {"y"}, {attr_graph("then_branch", yes.bytes()), attr_graph("else_branch", no.bytes())});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("BRANCH_IF"));
  EXPECT_THAT(t, HasSubstr("f32[d0, 4] = TENSOR_PHI"));
}

TEST(OnnxImport, SizesOfBranchesMeetInAScalarPhi) {
  GraphWriter yes, no;
  yes.output("t", kInt64).node("Shape", {"x"}, {"t"});
  no.output("t", kInt64).weight(ints("k", {5})).node("Concat", {"k"}, {"t"}, {attr_int("axis", 0)});
  GraphWriter g;
  g.input("x", kFloat, {"n"}).input("c", kBool, {}).output("y");
  g.node("If", {"c"}, {"t"}, {attr_graph("then_branch", yes.bytes()), attr_graph("else_branch", no.bytes())}).node("ConstantOfShape", {"t"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("SCALAR_PHI"));
  EXPECT_THAT(t, HasSubstr("OP_CALL msvm.Fill"));
}

TEST(OnnxImport, ALoopWidensWhatItsBodyGrows) {
  GraphWriter body;
  body.input("i", kInt64, {}).input("c", kBool, {}).input("v", kFloat, {"k"}).output("c2", kBool).output("v2").output("s");
  body.node("Identity", {"c"}, {"c2"}).node("Concat", {"v", "x"}, {"v2"}, {attr_int("axis", 0)}).node("ReduceSum", {"v2"}, {"s"}, {attr_int("keepdims", 0)});
  GraphWriter g;
  g.input("x", kFloat, {"n"}).input("m", kInt64, {}).output("y").output("sums").node("Loop", {"m", "", "x"}, {"y", "sums"}, {attr_graph("body", body.bytes())});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("TENSOR_PHI"));
  EXPECT_THAT(t, HasSubstr("LIST_APPEND"));
  EXPECT_THAT(t, HasSubstr("OP_CALL msvm.Stack("));
  EXPECT_THAT(t, Not(HasSubstr("ERRORS")));
}

TEST(OnnxImport, LoopsCarrySizesAsScalars) {
  GraphWriter body;
  body.input("i", kInt64, {}).input("c", kBool, {}).input("v", kInt64, {}).output("c2", kBool).output("v2", kInt64).weight(int_scalar("one", 1)).weight(int_scalar("limit", 100));
  body.node("Add", {"v", "one"}, {"v2"}).node("Less", {"v2", "limit"}, {"c2"});
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").weight(int_scalar("zero", 0)).weight(ints("axis", {0}));
  g.node("Loop", {"", "", "zero"}, {"k"}, {attr_graph("body", body.bytes())}).node("Unsqueeze", {"k", "axis"}, {"k1"}).node("ConstantOfShape", {"k1"}, {"y"});
  std::string t = import_text(g);
  EXPECT_THAT(t, Not(HasSubstr("TENSOR_PHI")));
  EXPECT_THAT(t, HasSubstr("OP_CALL msvm.Fill"));
}

TEST(OnnxImport, ScanWalksAnAxis) {
  GraphWriter body;
  body.input("a", kFloat, {"k"}).input("e", kFloat, {"k"}).output("a2").output("o").node("Add", {"a", "e"}, {"a2"}).node("Neg", {"a2"}, {"o"});
  GraphWriter g;
  g.input("a0", kFloat, {4}).input("x", kFloat, {"t", 4}).output("a").output("o");
  g.node("Scan", {"a0", "x"}, {"a", "o"}, {attr_graph("body", body.bytes()), attr_int("num_scan_inputs", 1)});
  std::string t = import_text(g);
  EXPECT_THAT(t, HasSubstr("o: f32[t, 4]")) << t;
}

// --- functions and sequences ---------------------------------------------------------------------------------------------

std::string function(const std::string& name, const std::vector<std::string>& in, const std::vector<std::string>& out, const std::vector<std::string>& attributes, const GraphWriter& nodes) {
  std::string f;
  protozero::pbf_writer w(f);
  w.add_string(1, name);
  for (const auto& i : in) w.add_string(4, i);
  for (const auto& o : out) w.add_string(5, o);
  for (const auto& a : attributes) w.add_string(6, a);
  protozero::pbf_reader r(nodes.bytes());
  while (r.next()) {
    if (r.tag() == 1) w.add_message(7, std::string(r.get_view()));
    else r.skip();
  }
  w.add_message(9, opset_import("", 18));
  w.add_message(9, opset_import("local", 1));
  w.add_string(10, "local");
  return f;
}

TEST(OnnxImport, FunctionsAreInlinedWithTheirAttributes) {
  GraphWriter nodes;
  nodes.node("LeakyRelu", {"a"}, {"r"}, {attr_reference("alpha", "slope", 1)});
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").node("Leak", {"x"}, {"y"}, {attr_float("slope", 0.5F)}, "local");
  EXPECT_THAT(import_text(g, 18, {function("Leak", {"a"}, {"r"}, {"slope"}, nodes)}), HasSubstr("OP_CALL LeakyRelu(R0) -> R1 {alpha: 0.5}"));
}

TEST(OnnxImport, AFunctionMustNotCallItself) {
  GraphWriter nodes;
  nodes.node("Leak", {"a"}, {"r"}, {}, "local");
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").node("Leak", {"x"}, {"y"}, {}, "local");
  EXPECT_THAT(import_text(g, 18, {function("Leak", {"a"}, {"r"}, {}, nodes)}), HasSubstr("calls itself"));
}

TEST(OnnxImport, KnownSequencesNeedNoList) {
  GraphWriter g;
  g.input("x", kFloat, {"n"}).output("y").weight(int_scalar("one", 1)).node("Neg", {"x"}, {"m"}).node("SequenceConstruct", {"x", "m"}, {"s"}).node("SequenceAt", {"s", "one"}, {"y"});
  EXPECT_THAT(import_text(g), Not(HasSubstr("LIST_")));
}

}  // namespace
}  // namespace msvm::onnx_test
