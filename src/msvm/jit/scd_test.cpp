#include "msvm/jit/scd.h"

#include "msvm/jit/bind.h"
#include "msvm/jit/box.h"
#include "msvm/jit/test_program.h"

namespace msvm::jit {
namespace {

struct Report {
  explicit Report(const std::string& text) : program(text), scd(declared_scd(*program.view, program.found)) {}
  const TensorScd& operator[](const std::string& name) const {
    for (const TensorScd& t : scd.tensors)
      if (t.name == name) return t;
    ADD_FAILURE() << "no tensor " << name;
    return scd.tensors.at(0);
  }
  std::string kinds(const std::string& name) const {
    std::string out;
    for (AxisKind k : (*this)[name].kinds) out += (out.empty() ? "" : " ") + std::string(axis_kind_name(k));
    return out;
  }

  TestProgram program;
  DeclaredScd scd;
};

// The golden values: a whole numpy shape; a declared input; what is sliced from it; what plain numbers resize.
constexpr const char* kGolden = R"(
symbol h in [1, 4096], w in [1, 4096], H in [1, 4096], W in [1, 4096]
func @f(a: f32[1, 3, 224, 224], x: f32[dynamic, 3, symbolic:H, symbolic:W], h: i64, w: i64) -> ()
b0:
  R0 "a" = TENSOR_CREATE input 0
  R1 "x" = TENSOR_CREATE input 1
  R2 = SCALAR_INPUT 2
  R3 = SCALAR_INPUT 3
  R4 = SHAPE_PROPAGATE R1, 0
  R12 = SHAPE_CALC ge R2, 0
  SHAPE_ASSERT R12, "h"
  R13 = SHAPE_CALC ge R3, 0
  SHAPE_ASSERT R13, "w"
  R5 "y": f32[R4, 3, R2, R3] strided = TENSOR_VIEW slice R1, axis 2 from 0 to R2, axis 3 from 0 to R3
  R6 = SCALAR_CONST 640 captured "size"                            ; model.py:14
  R7 "z" = TENSOR_ALLOC [R4, 3, R6, R6], f32, CPU(0)               ; model.py:15
  OP_CALL Resize(R5; R6, R6) -> R7 {axes: [2, 3], mode: "nearest"} ; model.py:15
  R8 "l" = TENSOR_ALLOC [R4, 3, 640, 640], f32, CPU(0)
  OP_CALL Resize(R5; 640, 640) -> R8 {axes: [2, 3], mode: "nearest"}
  R9 "r" = TENSOR_ALLOC [R4, 3, R6, R6], f32, CPU(0)
  OP_CALL Relu(R7) -> R9
  R10 "z2" = TENSOR_ALLOC [R4, 3, 640, 640], f32, CPU(0)
  OP_CALL Resize(R5; R6, R6) -> R10 {axes: [2, 3], mode: "nearest"}
  TENSOR_FREE R5
  TENSOR_FREE R7
  TENSOR_FREE R8
  TENSOR_FREE R9
  TENSOR_FREE R10
  RETURN
)";

TEST(Scd, GoldenValues) {
  Report r(kGolden);
  EXPECT_EQ(r["a"].scd, 1.0);
  EXPECT_EQ(r["x"].scd, 0.5);
  EXPECT_EQ(r["y"].scd, 0.5);
  EXPECT_EQ(r["z"].scd, 0.0);
  EXPECT_EQ(r["l"].scd, 1.0) << "a literal is const";
  EXPECT_EQ(r["z2"].scd, 0.0) << "also where the type says the number";
  EXPECT_EQ(r["r"].scd, 0.5) << "not broken by Relu, but captured";
}

TEST(Scd, Kinds) {
  Report r(kGolden);
  EXPECT_EQ(r.kinds("a"), "const const const const");
  EXPECT_EQ(r.kinds("x"), "dynamic const bound bound");
  EXPECT_EQ(r.kinds("y"), "dynamic const bound bound");
  EXPECT_EQ(r.kinds("z"), "dynamic const captured captured");
  EXPECT_EQ(r.kinds("r"), "dynamic const captured captured");
}

TEST(Scd, Text) {
  Report r(kGolden);
  EXPECT_EQ(to_string(r["x"]), "Tensor x: SCD=0.5 (dims: [dynamic, 3, symbolic:H, symbolic:W])");
  EXPECT_EQ(r["y"].reason, "propagated from x by slice");
  EXPECT_EQ(to_string(r["z"]),
            "Tensor z: SCD=0.0 (resize op breaks symbolic binding: size comes from Python ints at model.py:14;\n"
            "                   use ms.symbolic_mul(h, 2), or wrap the value in ms.mutable)");
  EXPECT_EQ(r["r"].reason, "propagated from z, dims unchanged");
}

TEST(Scd, AWholeProgram) {
  Report r(R"(
symbol N, H, W
func @f(x: f32[N, 3, H, W]) -> f32[N, 3, H, W]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
)");
  EXPECT_EQ(r.kinds("y"), "free const bound bound");
  EXPECT_EQ(r["y"].scd, 0.25);
  EXPECT_EQ(r.scd.scd, 0.25);
  EXPECT_EQ(r["y"].reason, "propagated from x, dims unchanged");
}

TEST(Scd, SizesFromData) {
  Report r(R"(
symbol N, M, L
func @f(x: f32[N, M]) -> i64[2, L]
b0:
  R0 "x" = TENSOR_CREATE input 0
  OP_CALL NonZero(R0) -> new R1 "where": i64[2, L]  ; model.py:7
  R2 "more" = TENSOR_ALLOC [2, L], i64, CPU(0)
  OP_CALL Add(R1, R1) -> R2
  TENSOR_FREE R1
  RETURN R2
)");
  EXPECT_EQ(r.kinds("where"), "const fresh");
  EXPECT_TRUE(r["where"].broken);
  EXPECT_EQ(to_string(r["where"]), "Tensor where: SCD=0.0 (NonZero at model.py:7 computes axis 1 at run time;\n                       declare an upper bound of the size)");
  EXPECT_FALSE(r["more"].broken);
  EXPECT_EQ(r["more"].scd, 0.5);
}

TEST(Scd, UnderABranchOnDataTensorsAreNotCounted) {
  Report r(R"(
symbol N
func @f(x: f32[N], flag: bool) -> f32[N]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = TENSOR_READ R0, [0]
  R3 = SCALAR_CONST 0.0
  R4 = SCALAR_CALC lt R2, R3
  BRANCH_IF R4, b1, b2 ; model.py:20
b1:
  R5 "u" = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Neg(R0) -> R5
  JUMP b3
b2:
  R6 "v" = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Abs(R0) -> R6
  JUMP b3
b3:
  R7 "w": f32[N] = TENSOR_PHI [b1: R5, b2: R6]
  RETURN R7
)");
  EXPECT_FALSE(r["u"].counted);
  EXPECT_EQ(to_string(r["u"]), "Tensor u: not counted (created under the branch at model.py:20; compute both sizes, or declare an upper bound)");
  EXPECT_FALSE(r["v"].counted);
  EXPECT_TRUE(r["w"].counted);
}

TEST(Scd, UnknownRankIsNotCounted) {
  Report r(R"(
symbol N
const %s i64[2] = [2, 3]
func @f(x: f32[N]) -> f32[*]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %s
  OP_CALL Reshape(R0, R1) -> new R2 "any": f32[*]
  RETURN R2
)");
  EXPECT_FALSE(r["any"].counted);
  EXPECT_EQ(r.scd.tensors.size(), 2u) << "constants have no row";
}

// --- boxes

TEST(Scd, OfABox) {
  TestProgram p(R"(
symbol N, H, W
func @f(x: f32[N, 3, H, W]) -> f32[N, 3, H + W]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 3, H], f32, CPU(0)
  OP_CALL ReduceSum(R0) -> R1 {axes: [3], keepdims: 0}
  R2 = TENSOR_ALLOC [N, 3, W], f32, CPU(0)
  OP_CALL ReduceSum(R0) -> R2 {axes: [2], keepdims: 0}
  R3 = TENSOR_ALLOC [N, 3, H + W], f32, CPU(0)
  OP_CALL Concat(R1, R2) -> R3 {axis: 2}
  TENSOR_FREE R1
  TENSOR_FREE R2
  RETURN R3
)");
  const Region& r = p.only();
  ASSERT_EQ(p.symbols(r), "N* H W");
  ASSERT_EQ(r.axes, 13);
  const Extent open, fixed = Extent::value(5);
  EXPECT_DOUBLE_EQ(scd_of_box(r, {{open, open, open}}), 8.0 / 13);
  EXPECT_DOUBLE_EQ(scd_of_box(r, {{open, fixed, open}}), 10.0 / 13);
  EXPECT_DOUBLE_EQ(scd_of_box(r, {{open, fixed, fixed}}), 1.0);
  EXPECT_DOUBLE_EQ(scd_of_box(r, {{open, {1, 9}, {1, 9}}}), 1.0) << "a bounded symbol counts as fixed";
  EXPECT_EQ(to_string(Box{{open, fixed, {9, 32}}}, r, p.dims()), "N*_H5_W9-32");
}

// --- values from inputs

TEST(Bind, SymbolsOfInputs) {
  TestProgram p(R"(
symbol N, H in [1, 64], K multiple_of 4
func @f(x: f32[N, 2*H + 1], y: f32[N, K]) -> ()
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 2*H + 1], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  TENSOR_FREE R2
  RETURN
)");
  auto bound = InputSizes::bind(*p.view, {{"x", {7, 21}}, {"y", {7, 8}}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(*entry_values(p.only(), *bound), (std::vector<int64_t>{7, 10}));
  EXPECT_FALSE(InputSizes::bind(*p.view, {{"x", {7, 20}}}).ok()) << "2*H + 1 is odd";
  EXPECT_FALSE(InputSizes::bind(*p.view, {{"x", {7, 21}}, {"y", {8, 8}}}).ok()) << "N twice";
  EXPECT_FALSE(InputSizes::bind(*p.view, {{"x", {7}}}).ok());
  EXPECT_FALSE(InputSizes::bind(*p.view, {{"x", {7, 201}}}).ok()) << "H is at most 64";
  EXPECT_FALSE(InputSizes::bind(*p.view, {{"y", {7, 9}}}).ok());
  auto part = InputSizes::bind(*p.view, {{"y", {7, 8}}});
  size_t unknown = 0;
  EXPECT_FALSE(entry_values(p.only(), *part, &unknown));
  EXPECT_EQ(unknown, 1u);
}

}  // namespace
}  // namespace msvm::jit
