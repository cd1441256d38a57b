#include "msvm/jit/regions.h"

#include "msvm/jit/test_program.h"

namespace msvm::jit {
namespace {

std::pair<int32_t, int32_t> span_of(const Region& r) { return {r.first(), r.last()}; }
using Span = std::pair<int32_t, int32_t>;

// A convolutional block with a skip, pooled to a vector and classified.
constexpr const char* kVision = R"(
symbol N, H, W
const %w f32[8, 3, 3, 3] = fill(0.1)
const %v f32[8, 8, 3, 3] = fill(0.1)
const %fc f32[8, 10] = fill(0.1)
func @vision(x: f32[N, 3, H, W]) -> (y: f32[N, 10])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_CONST %v
  R3 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Conv(R0, R1) -> R3 {pads: [1, 1, 1, 1]}
  R4 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Conv(R3, R2) -> R4 {pads: [1, 1, 1, 1]}
  R5 = TENSOR_ALLOC [N, 8, H, W], f32, CPU(0)
  OP_CALL Add(R4, R3) -> R5
  TENSOR_FREE R3
  TENSOR_FREE R4
  R6 = TENSOR_ALLOC [N, 8, 1, 1], f32, CPU(0)
  OP_CALL GlobalAveragePool(R5) -> R6
  TENSOR_FREE R5
  R7: f32[N, 8] = TENSOR_VIEW squeeze R6, [2, 3]
  R8 = TENSOR_CONST %fc
  R9 = TENSOR_ALLOC [N, 10], f32, CPU(0)
  OP_CALL MatMul(R7, R8) -> R9
  TENSOR_FREE R7
  TENSOR_FREE R6
  RETURN R9
)";

TEST(Regions, AVisionModelIsOne) {
  TestProgram p(kVision);
  const Region& r = p.only();
  EXPECT_EQ(span_of(r), Span(3, 19));
  EXPECT_EQ(r.calls, 5);
  EXPECT_EQ(p.symbols(r), "N* H W");
  EXPECT_EQ(p.registers(r.inputs), "x");
  EXPECT_EQ(p.registers(r.outputs), "R9");
  EXPECT_EQ(p.registers(r.constants), "R1 R2 R8");
  EXPECT_EQ(r.written.size(), 0u);
}

// Token embedding, attention scores and a softmax over the sequence.
constexpr const char* kText = R"(
symbol B, S
const %table f32[100, 16] = fill(0.1)
func @text(ids: i64[B, S]) -> (y: f32[B, S, S])
b0:
  R0 "ids" = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %table
  R2 = TENSOR_ALLOC [B, S, 16], f32, CPU(0)
  OP_CALL Gather(R1, R0) -> R2 {axis: 0}
  R3: f32[B, 16, S] strided = TENSOR_VIEW transpose R2, [0, 2, 1]
  R4 = TENSOR_ALLOC [B, S, S], f32, CPU(0)
  OP_CALL MatMul(R2, R3) -> R4
  TENSOR_FREE R3
  TENSOR_FREE R2
  R5 = TENSOR_ALLOC [B, S, S], f32, CPU(0)
  OP_CALL Softmax(R4) -> R5 {axis: 2}
  TENSOR_FREE R4
  RETURN R5
)";

TEST(Regions, ATextModelIsOne) {
  TestProgram p(kText);
  EXPECT_EQ(p.symbols(p.only()), "B* S");
  EXPECT_EQ(p.only().calls, 3);
}

TEST(Regions, SizesBehindRegistersAreSymbolsOfTheInputs) {
  TestProgram p(R"(
symbol N, H, W
func @up(x: f32[N, 3, H, W]) -> f32[N, 3, 2*H, 2*W]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SHAPE_PROPAGATE R0, 2
  R2 = SHAPE_CALC mul R1, 2
  R3 = TENSOR_ALLOC [N, 3, R2, 2*W], f32, CPU(0)
  OP_CALL Resize(R0; R2, 2*W) -> R3 {axes: [2, 3], mode: "nearest"}
  RETURN R3
)");
  EXPECT_EQ(p.symbols(p.only()), "N* H W");
  EXPECT_EQ(p.only().axes, 8);
  EXPECT_EQ(p.only().constant_axes, 2);
  EXPECT_EQ(p.registers(p.only().scalars), "R2");
}

TEST(Regions, WhatACallAllocatesDivides) {
  TestProgram p(R"(
symbol N, M, L
func @f(x: f32[N, M]) -> f32[2, L]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  OP_CALL NonZero(R1) -> new R2: i64[2, L]
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [2, L], f32, CPU(0)
  OP_CALL Cast(R2) -> R3 {to: f32}
  TENSOR_FREE R2
  RETURN R3
)");
  ASSERT_EQ(p.found.regions.size(), 2u);
  EXPECT_EQ(span_of(p.found.regions[0]), Span(1, 2));
  EXPECT_EQ(p.symbols(p.found.regions[0]), "N* M");
  EXPECT_EQ(span_of(p.found.regions[1]), Span(5, 7));
  EXPECT_EQ(p.symbols(p.found.regions[1]), "L");
  EXPECT_EQ(p.found.borders[3], BorderReason::kAllocatesOutput);
}

TEST(Regions, AReadElementDividesAndItsValueIsAnEntrySymbol) {
  TestProgram p(R"(
symbol N
func @f(x: f32[N], n: i64[1]) -> (f32[N], f32[R4])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  R3 = TENSOR_READ R1, [0]
  R4 = SHAPE_CALC max R3, 0
  R5 = TENSOR_ALLOC [R4], f32, CPU(0)
  OP_CALL msvm.Fill(; R4) -> R5 {value: 1.0}
  RETURN (R2, R5)
)");
  ASSERT_EQ(p.found.regions.size(), 2u);
  EXPECT_EQ(p.found.borders[4], BorderReason::kRead);
  EXPECT_EQ(p.symbols(p.found.regions[0]), "N*");
  EXPECT_EQ(p.symbols(p.found.regions[1]), "R3");
}

// Whole branches belong to a region if their conditions follow from sizes.
constexpr const char* kBranch = R"(
symbol N, M
func @f(x: f32[N, M], flag: bool) -> f32[N, M]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  R3 = SHAPE_CALC lt M, 10
  BRANCH_IF %condition, b1, b2
b1:
  R4 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Neg(R2) -> R4
  TENSOR_FREE R2
  JUMP b3
b2:
  R5 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Abs(R2) -> R5
  TENSOR_FREE R2
  JUMP b3
b3:
  R6: f32[N, M] = TENSOR_PHI [b1: R4, b2: R5]
  R7 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Exp(R6) -> R7
  TENSOR_FREE R6
  RETURN R7
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Regions, ABranchOnSizesBelongsToIt) {
  TestProgram p(with(kBranch, "%condition", "R3"));
  const Region& r = p.only();
  EXPECT_EQ(r.segments, (std::vector<Segment>{{0, 2, 6}, {1, 6, 10}, {2, 10, 14}, {3, 14, 18}}));
  EXPECT_EQ(p.symbols(r), "N* M");
  EXPECT_EQ(p.registers(r.outputs), "R7");
}

TEST(Regions, ABranchOnDataDoesNot) {
  TestProgram p(with(kBranch, "%condition", "R1"));
  ASSERT_EQ(p.found.regions.size(), 4u);
  for (const Region& r : p.found.regions) EXPECT_EQ(r.segments.size(), 1u);
  EXPECT_EQ(p.found.borders[5], BorderReason::kBranch);
  EXPECT_EQ(p.found.borders[14], BorderReason::kMerge);
}

TEST(Regions, AConditionOnTheBatchMakesItNoBatch) {
  TestProgram p(with(with(kBranch, "%condition", "R3"), "lt M, 10", "lt N, 10"));
  EXPECT_EQ(p.symbols(p.only()), "N M");
}

TEST(Regions, ABranchWithABorderInAnArmDoesNotBelong) {
  TestProgram p(R"(
symbol N, L
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  R2 = SHAPE_CALC lt N, 10
  BRANCH_IF R2, b1, b2
b1:
  OP_CALL NonZero(R1) -> new R3: i64[1, L]
  TENSOR_FREE R3
  JUMP b2
b2:
  R4 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Exp(R1) -> R4
  TENSOR_FREE R1
  RETURN R4
)");
  EXPECT_EQ(p.found.regions.size(), 2u);
}

// An arm without instructions, and a branch within an arm.
TEST(Regions, BranchesNest) {
  TestProgram p(R"(
symbol N, M
func @f(x: f32[N, M]) -> f32[N, M]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, M], f32, CPU(0)
  R2 = SHAPE_CALC lt M, 10
  R3 = SHAPE_CALC lt M, 5
  BRANCH_IF R2, b1, b5
b1:
  BRANCH_IF R3, b2, b3
b2:
  OP_CALL Neg(R0) -> R1
  JUMP b4
b3:
  OP_CALL Abs(R0) -> R1
  JUMP b4
b4:
  JUMP b6
b5:
  OP_CALL Exp(R0) -> R1
  JUMP b6
b6:
  RETURN R1
)");
  const Region& r = p.only();
  EXPECT_EQ(r.calls, 3);
  EXPECT_EQ(r.segments.front(), (Segment{0, 1, 5}));
  EXPECT_EQ(p.symbols(r), "N* M");
}

// The body of a decoding loop: a window of an outer tensor is its destination.
constexpr const char* kLoop = R"(
symbol T in [1, 4096]
func @decode(cache: f32[T, 80], steps: i64) -> f32[T + R1, 80]
b0:
  R0 "cache" = TENSOR_CREATE input 0
  R1 "steps" = SCALAR_INPUT 1
  R2 = TENSOR_VIEW identity R0
  R10 = SHAPE_CALC ge R1, 0
  SHAPE_ASSERT R10, "steps is not negative"
  R3: f32[T + R1, 80] strided = TENSOR_RESIZE R2, 0, T + R1
  JUMP b1
b1:
  R4 "i": i64 = SCALAR_PHI [b0: 0, b2: R6]
  R5 "filled": f32[T + R1, 80] strided filled(0, 0, T + R4) = TENSOR_PHI [b0: R3, b2: R5]
  R7 = SHAPE_CALC lt R4, R1
  BRANCH_IF R7, b2, b3
b2:
  R8 = TENSOR_VIEW window R5, axis 0 from T + R4 to T + R4 + 1
  R11 = TENSOR_ALLOC [T, 80], f32, CPU(0)
  OP_CALL Relu(R0) -> R11
  OP_CALL ReduceMean(R11) -> R8 {axes: [0], keepdims: 1}
  TENSOR_FREE R11
  TENSOR_FREE R8
  R6 = SHAPE_CALC add R4, 1
  JUMP b1
b3:
  R9 = TENSOR_ALLOC [T + R1, 80], f32, CPU(0)
  TENSOR_COPY R5 -> R9
  TENSOR_FREE R5
  RETURN R9
)";

TEST(Regions, ALoopsBodyIsARegionOfItsOwn) {
  TestProgram p(kLoop);
  const Region& r = p.only();
  EXPECT_EQ(span_of(r), Span(11, 16));
  EXPECT_EQ(r.loop_depth, 1);
  EXPECT_EQ(p.symbols(r), "T R1") << "the counter isn't in a type: it is an argument";
  EXPECT_EQ(p.registers(r.inputs), "cache");
  EXPECT_EQ(p.registers(r.written), "filled");
  EXPECT_EQ(p.registers(r.outputs), "");
  EXPECT_EQ(p.found.borders[5], BorderReason::kResize);
  EXPECT_EQ(p.found.borders[7], BorderReason::kMerge);
}

TEST(Regions, ExcludedTensors) {
  TestProgram p(R"(
symbol N, A
const %s i64[2] = [2, 3]
func @f(x: f32[N], flag: bool) -> f32[*]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %s
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  OP_CALL Reshape(R2, R1) -> new R3: f32[*]
  OP_CALL Relu(R3) -> new R4: f32[*]
  TENSOR_FREE R3
  R5 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Exp(R2) -> R5
  TENSOR_FREE R2
  R6 = LIST_MAKE [R5]
  R7 = LIST_LENGTH R6
  TENSOR_FREE R6
  RETURN R4
)");
  ASSERT_EQ(p.found.regions.size(), 2u);
  EXPECT_EQ(p.found.borders[4], BorderReason::kUnknownRank);
  EXPECT_EQ(p.found.borders[10], BorderReason::kList);
}

TEST(Regions, AnotherDeviceDivides) {
  TestProgram p(R"(
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, sim(0)
  TENSOR_COPY R1 -> R2
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N], f32, sim(0)
  OP_CALL Exp(R2) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R3 -> R4
  TENSOR_FREE R3
  RETURN R4
)");
  EXPECT_EQ(span_of(p.only()), Span(1, 2));
  EXPECT_EQ(p.found.borders[3], BorderReason::kDevice);
}

TEST(Regions, NoCallNoRegion) {
  TestProgram p(R"(
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R1
  RETURN R1
)");
  EXPECT_TRUE(p.found.regions.empty());
}

// Where paths with sizes of their own meet, what they bind depends on what decides between them.
TEST(Regions, ASizeBoundWherePathsMeetFollowsFromTheEntrySymbols) {
  TestProgram p(R"(
symbol N, M, K
func @f(x: f32[N, M]) -> f32[K]
b0:
  R0 = TENSOR_CREATE input 0
  R9 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R9
  R1 = SHAPE_CALC lt M, 10
  BRANCH_IF R1, b1, b2
b1:
  R2 = TENSOR_ALLOC [M], f32, CPU(0)
  OP_CALL ReduceSum(R9) -> R2 {axes: [0], keepdims: 0}
  JUMP b3
b2:
  R3 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL ReduceSum(R9) -> R3 {axes: [1], keepdims: 0}
  JUMP b3
b3:
  R4: f32[K] = TENSOR_PHI [b1: R2, b2: R3]
  TENSOR_FREE R9
  R5 = TENSOR_ALLOC [K], f32, CPU(0)
  OP_CALL Exp(R4) -> R5
  TENSOR_FREE R4
  RETURN R5
)");
  const Region& r = p.only();
  EXPECT_EQ(p.symbols(r), "N M");
  ASSERT_EQ(r.bound_axes.size(), 3u);
  EXPECT_EQ(r.bound_axes[2].symbols, 3u) << "K is made from both";
  EXPECT_EQ(r.bound_axes[2].axes, 2);
}

TEST(Regions, WideRegionsKeepTheirSymbolsApart) {
  std::string inputs, adds, text;
  for (int k = 0; k < 70; ++k) {
    inputs += (k ? ", x" : "x") + std::to_string(k) + ": f32[4, S" + std::to_string(k) + "]";
    const std::string s = std::to_string(k), r = std::to_string(100 + k);
    text += "  R" + s + " = TENSOR_CREATE input " + s + "\n";
    adds += "  R" + r + " = TENSOR_ALLOC [4, S" + s + "], f32, CPU(0)\n  OP_CALL Relu(R" + s + ") -> R" + r + "\n  TENSOR_FREE R" + r + "\n";
  }
  TestProgram p("func @f(" + inputs + ") -> ()\nb0:\n" + text + adds + "  RETURN\n");
  const Region& r = p.only();
  EXPECT_EQ(r.symbols.size(), 70u);
  EXPECT_EQ(r.bound_axes.size(), 64u) << "63 of their own, the others together";
  EXPECT_EQ(r.free, 0u);
}

// --- what is a batch

std::string batch_of(const std::string& body, const std::string& inputs = "x: f32[B, S, 8]") {
  TestProgram p("symbol B, S\nconst %m f32[8, 8] = fill(0.5)\nfunc @f(" + inputs + ") -> ()\nb0:\n  R0 = TENSOR_CREATE input 0\n" + body + "  RETURN\n");
  return p.symbols(p.only());
}

std::string call(const std::string& call, const std::string& shape) { return "  R9 = TENSOR_ALLOC [" + shape + "], f32, CPU(0)\n  OP_CALL " + call + "\n  TENSOR_FREE R9\n"; }

std::string with_braces(const std::string& op, const std::string& attributes) { return op + " -> R9" + (attributes.empty() ? "" : " {" + attributes + "}"); }

TEST(Regions, ABatchIsWhatNothingMixes) {
  const std::vector<std::tuple<std::string, std::string, std::string, bool>> cases{
      {"Relu(R0)", "", "B, S, 8", true},
      {"Softmax(R0)", "axis: 2", "B, S, 8", true},
      {"Softmax(R0)", "axis: 0", "B, S, 8", false},
      {"Softmax(R0)", "axis: -3", "B, S, 8", false},
      {"ReduceSum(R0)", "axes: [1], keepdims: 0", "B, 8", true},
      {"ReduceSum(R0)", "axes: [0], keepdims: 1", "1, S, 8", false},
      {"ReduceSum(R0)", "axes: [-3], keepdims: 0", "S, 8", false},
      {"Transpose(R0)", "perm: [0, 2, 1]", "B, 8, S", true},
      {"Transpose(R0)", "perm: [1, 0, 2]", "S, B, 8", false},
      {"Concat(R0, R0)", "axis: 1", "B, 2*S, 8", true},
      {"Concat(R0, R0)", "axis: 0", "2*B, S, 8", false},
      {"CumSum(R0)", "axis: 0", "B, S, 8", false},
      {"CumSum(R0)", "axis: 1", "B, S, 8", true},
      {"Pad(R0; 0, 1, 0, 0, 1, 0)", "mode: \"constant\"", "B, S + 2, 8", true},
      {"Pad(R0; 1, 0, 0, -1, 0, 0)", "mode: \"constant\"", "B, S, 8", false},
      {"Einsum(R0, R0)", "equation: \"bij,bkj->bik\"", "B, S, S", true},
      {"Einsum(R0, R0)", "equation: \"bij,bij->ij\"", "S, 8", false},
      {"Resize(R0; 2*S)", "axes: [1], mode: \"nearest\"", "B, 2*S, 8", true},
      {"msvm.Fill(; B, S)", "value: 1.0", "B, S", true},
      {"msvm.Fill(; S, B)", "value: 1.0", "S, B", false},
  };
  for (const auto& [op, attributes, shape, free] : cases) EXPECT_EQ(batch_of(call(with_braces(op, attributes), shape)), op == "msvm.Fill(; S, B)" ? "S* B" : free ? "B* S" : "B S") << op << attributes;
}

TEST(Regions, AWeightWithTheBatchMixesIt) {
  TestProgram p(R"(
symbol B, S
func @f(x: f32[B, S], w: f32[S, B]) -> f32[B, B]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [B, B], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2
  RETURN R2
)");
  EXPECT_EQ(p.symbols(p.only()), "B S");
}

TEST(Regions, BroadcastingOverAnotherAxisIsNoBatch) {
  TestProgram p(R"(
symbol B
func @f(x: f32[8, B], y: f32[B]) -> f32[8, B]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [8, B], f32, CPU(0)
  OP_CALL Add(R0, R1) -> R2
  RETURN R2
)");
  EXPECT_EQ(p.symbols(p.only()), "B");
}

}  // namespace
}  // namespace msvm::jit
