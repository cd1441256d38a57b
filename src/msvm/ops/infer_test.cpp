// Shape functions: constants against known results (also sizes of 0 and 1), symbols, conditions, errors.
#include "msvm/base/checked.h"
#include "msvm/ops/infer_tester.h"

namespace msvm {
namespace {

using ::testing::Test;
Attr axis(int64_t a) { return {"axis", a}; }
Attr i(const char* name, int64_t v) { return {name, v}; }
Attr s(const char* name, const char* v) { return {name, std::string(v)}; }
Attr l(const char* name, Ints v) { return {name, std::move(v)}; }
using Conditions = std::vector<std::string>;

TEST(Elementwise, Unary) {
  InferTester t;
  EXPECT_EQ(t("Relu", "f32[N, 3, H, W]"), "f32[N, 3, H, W]");
  EXPECT_EQ(t("Exp", "f64[]"), "f64[]");
  EXPECT_EQ(t("IsNaN", "f16[0, 3]"), "bool[0, 3]");
  EXPECT_EQ(t("Cast", "string[N]", {{"to", DType::kI64}}), "i64[N]");
  EXPECT_EQ(t("BitCast", "f32[N]", {{"to", DType::kI32}}), "i32[N]");
  EXPECT_EQ(t("BitCast", "f32[N]", {{"to", DType::kI64}}), "error: BitCast: to: i64 has 64 bits, but X is f32 with 32");
  EXPECT_EQ(t("Clip", "f32[N], f32[], f32[1]"), "f32[N]");
  EXPECT_EQ(t("Clip", "f32[N], _, f32[2]"),
            "error: Clip: not true that an input that stands for one value has one element: 2 and 1");
  EXPECT_EQ(t("Clip", "f32[N], f32[1, 1]"), "error: Clip: min must have a rank of 0 to 1, but has rank 2");
}

TEST(Elementwise, Broadcast) {
  InferTester t;
  EXPECT_EQ(t("Add", "f32[2, 3], f32[3]"), "f32[2, 3]");
  EXPECT_EQ(t("Add", "f32[], f32[]"), "f32[]");
  EXPECT_EQ(t("Add", "f32[1, 3], f32[0, 1]"), "f32[0, 3]");
  EXPECT_EQ(t("Add", "f32[4, 1, 3], f32[5, 1]"), "f32[4, 5, 3]");
  EXPECT_EQ(t("Add", "f32[2, 3], f32[4]"), "error: Add: not true that sizes of the last axis are equal or 1: 3 and 4");
  EXPECT_EQ(t("Add", "f32[2, 3], f32[0, 3]"), "error: Add: not true that sizes of the last axis but one are equal or 1: 2 and 0");
  EXPECT_EQ(t("Add", "f32[N, 1, H], f32[C, 1]"), "f32[N, C, H]");
  EXPECT_TRUE(t.conditions().empty());
  EXPECT_EQ(t("Add", "f32[N, H], f32[N, 4]"), "f32[N, 4]");
  EXPECT_EQ(t.conditions().size(), 1u);
  EXPECT_EQ(t("Add", "f32[H], f32[W]"), "f32[bcast(H, W)]");
  EXPECT_EQ(t.conditions().size(), 1u);
  EXPECT_EQ(t("Max", "f32[H], f32[1], f32[2, 1]"), "f32[2, H]");
  EXPECT_EQ(t("Where", "bool[3, 1], string[4], string[]"), "string[3, 4]");
  EXPECT_EQ(t("Equal", "string[N], string[1]"), "bool[N]");
  EXPECT_EQ(t("Pow", "f32[N], i64[]"), "f32[N]");
}

TEST(Elementwise, OneWay) {
  InferTester t;
  EXPECT_EQ(t("PRelu", "f32[N, 3, H, W], f32[3, 1, 1]"), "f32[N, 3, H, W]");
  EXPECT_TRUE(t.conditions().empty());
  EXPECT_EQ(t("PRelu", "f32[1, 3], f32[2, 3]"), "error: PRelu: not true that slope can be broadcast to X: 2 and 1");
  EXPECT_EQ(t("PRelu", "f32[3], f32[1, 3]"), "error: PRelu: slope can be broadcast to X: rank 2 can't be broadcast to rank 1");
  EXPECT_EQ(t("PRelu", "f32[H], f32[W]"), "f32[H]");
  EXPECT_EQ(t.conditions().size(), 2u);
  EXPECT_EQ(t("SwiGLU", "f32[N, 8], f32[N, 1]"), "error: SwiGLU: not true that A and B have the same shape: 8 and 1");
}

TEST(Fused, Shapes) {
  InferTester t;
  const Attr body{"body", Strings{"Add(y, i3)", "Relu(s0)"}};
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, H, W], f32[8, 3, 3, 3], f32[8]", {l("pads", {1, 1, 1, 1})}), "f32[N, 8, H, W]");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, H, W], f32[8, 3, 3, 3], _", {l("pads", {1, 1, 1, 1}), l("upsample", {2, 3})}), "f32[N, 8, 2*H, 3*W]");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, H, W], f32[8, 3, 3, 3], _", {l("upsample", {2})}), "error: msvm.Conv: upsample must have 2 elements, but has 1");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, H, W], f32[8, 3, 3, 3], _", {l("upsample", {2, 0})}), "error: msvm.Conv: each element of upsample must be 1 or more, but it is [2, 0]");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, 5, 5], f32[8, 3, 3, 3], _, f32[8, 1, 1]", {body}), "f32[N, 8, 3, 3]");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, 5, 5], f32[8, 3, 3, 3], _, f32[7, 1, 1]", {body}), "error: msvm.Conv: not true that the inputs of a body broadcast to the result: 7 and 8");
  EXPECT_EQ(t("msvm.Conv", "f32[N, 3, 5, 5], f32[8, 3, 3, 3], _", {body}), "error: msvm.Conv: body step 0: operand \"i3\" isn't an input of the body: those are 3 to 2");
  EXPECT_EQ(t("msvm.MatMul", "f32[N, 1, H, 4], f32[7, 4, 5], f32[5]"), "f32[N, 7, H, 5]");
  EXPECT_EQ(t("msvm.MatMul", "f32[H, 4], f32[5, 4], _", {i("transB", 1)}), "f32[H, 5]");
  EXPECT_EQ(t("msvm.MatMul", "f32[H, 4], f32[5, 3], _", {i("transB", 1)}), "error: msvm.MatMul: not true that the inner sizes of the matrices are equal: 4 and 3");
  EXPECT_EQ(t("msvm.Pointwise", "f32[N, 1], f32[5]", {{"body", Strings{"Mul(i0, i1)"}}}), "f32[N, 5]");
  EXPECT_EQ(t("msvm.Pointwise", "f32[N, 1]", {{"body", Strings{"Mul(y, i0)"}}}), "error: msvm.Pointwise: body step 0: operand \"y\" is the value of a product: this operator has none");
}

TEST(Movement, Join) {
  InferTester t;
  EXPECT_EQ(t("Concat", "f32[N, 2], f32[N, 0], f32[N, 3]", {axis(-1)}), "f32[N, 5]");
  EXPECT_EQ(t("Concat", "f32[N, H], f32[4, W]", {axis(1)}), "f32[4, H + W]");
  EXPECT_EQ(t.conditions().size(), 1u);
  EXPECT_EQ(t("Concat", "f32[2, 3], f32[2]", {axis(0)}),
            "error: Concat: all inputs must have the same rank, but inputs 0 and 1 have ranks 2 and 1");
  EXPECT_EQ(t("Concat", "f32[2, 3], f32[4, 4]", {axis(0)}),
            "error: Concat: not true that sizes of joined tensors are equal on all axes but the joined one: 3 and 4");
  EXPECT_EQ(t("Concat", "f32[2]", {axis(1)}), "error: Concat: axis must be -1 to 0 for rank 1, but is 1");
  EXPECT_EQ(t("Concat", "f32[], f32[]", {axis(0)}), "error: Concat: tensors of rank 0 can't be joined along an axis");
  EXPECT_EQ(t("msvm.Stack", "f32[], f32[]", {axis(0)}), "f32[2]");
  EXPECT_EQ(t("msvm.Stack", "f32[H, 2], f32[H, 2]", {axis(-1)}), "f32[H, 2, 2]");
}

TEST(Movement, Assign) {
  InferTester t;
  auto axes = [](std::vector<int64_t> list) { return Attr{"axes", std::move(list)}; };
  EXPECT_EQ(t("msvm.Assign", "f32[4, W], f32[1, W]; 3", {axes({0})}), "f32[4, W]");
  EXPECT_EQ(t("msvm.Assign", "f32[H, W], f32[2, 1]; N, 0", {axes({0, -1})}), "f32[H, W]");
  EXPECT_EQ(t.conditions().size(), 3u);
  EXPECT_EQ(t("msvm.Assign", "f32[4, W], f32[2, W]; 3", {axes({0})}), "error: msvm.Assign: not true that the written part ends within X: 5 and 4");
  EXPECT_EQ(t("msvm.Assign", "f32[4, 3], f32[1, 2]; 0", {axes({0})}), "error: msvm.Assign: not true that update has X's size on axes without a start: 3 and 2");
  EXPECT_EQ(t("msvm.Assign", "f32[4, 3], f32[3]; 0", {axes({0})}), "error: msvm.Assign: X and update must have the same rank, but have 2 and 1");
  EXPECT_EQ(t("msvm.Assign", "f32[4], f32[1]; 0, 1", {axes({0, 0})}), "error: msvm.Assign: axes names axis 0 twice");
  EXPECT_EQ(t("msvm.Assign", "f32[4], f32[1]; 0", {axes({0, 0})}), "error: msvm.Assign: there must be one start per axis, but there are 1 for 2 axes");
}

TEST(Movement, Transpose) {
  InferTester t;
  EXPECT_EQ(t("Transpose", "f32[N, 3, H]"), "f32[H, 3, N]");
  EXPECT_EQ(t("Transpose", "f32[N, 3, H]", {l("perm", {1, 2, 0})}), "f32[3, H, N]");
  EXPECT_EQ(t("Transpose", "f32[]"), "f32[]");
  EXPECT_EQ(t("Transpose", "f32[2, 3]", {l("perm", {0, 0})}), "error: Transpose: perm must name each axis of X once");
  EXPECT_EQ(t("Transpose", "f32[2, 3]", {l("perm", {0, 2})}), "error: Transpose: perm must name each axis of X once");
  EXPECT_EQ(t("Transpose", "f32[2, 3]", {l("perm", {0})}), "error: Transpose: perm must have 2 elements, but has 1");
}

TEST(Movement, Slice) {
  InferTester t;
  auto one = [&](std::string_view size, std::string_view from, std::string_view to, int64_t step) {
    return t("Slice", fmt::format("f32[{}]; {}, {}", size, from, to), {l("steps", {step})});
  };
  EXPECT_EQ(one("10", "2", "8", 1), "f32[6]");
  EXPECT_EQ(one("10", "2", "8", 4), "f32[2]");
  EXPECT_EQ(one("10", "-3", "9223372036854775807", 1), "f32[3]");
  EXPECT_EQ(one("10", "-100", "-1", 1), "f32[9]");
  EXPECT_EQ(one("10", "8", "2", 1), "f32[0]");
  EXPECT_EQ(one("0", "0", "5", 1), "f32[0]");
  EXPECT_EQ(one("10", "-1", "-9223372036854775807", -1), "f32[10]");
  EXPECT_EQ(one("10", "9", "0", -1), "f32[9]");
  EXPECT_EQ(one("10", "100", "0", -3), "f32[3]");
  EXPECT_EQ(one("0", "-1", "-9223372036854775807", -1), "f32[0]");
  EXPECT_EQ(one("10", "0", "10", INT64_MAX), "f32[1]");
  EXPECT_EQ(one("10", "9", "-100", INT64_MIN), "f32[1]");
  EXPECT_EQ(one("10", "0", "10", 0), "error: Slice: steps: a step is 0");
  EXPECT_EQ(one("H", "0", "9223372036854775807", 1), "f32[H]");
  EXPECT_EQ(one("H", "1", "9223372036854775807", 1), "f32[max(H - 1, 0)]");
  EXPECT_EQ(one("H + 1", "1", "9223372036854775807", 1), "f32[H]");
  EXPECT_EQ(one("2*H", "0", "9223372036854775807", 2), "f32[H]");
  EXPECT_EQ(one("H", "-1", "-9223372036854775807", -1), "f32[H]");
  EXPECT_EQ(one("H", "0", "-1", 1), "f32[max(H - 1, 0)]");
  EXPECT_EQ(one("H", "1", "-1", 1), "f32[max(H - 2, 0)]");
  EXPECT_EQ(one("H", "-5", "9223372036854775807", 1), "f32[min(H, 5)]");
  EXPECT_EQ(one("H", "0", "W", 1), "f32[min(H, W)]");
  EXPECT_EQ(one("H", "W", "9223372036854775807", 1), "f32[max(H - W, 0)]");
  EXPECT_EQ(t("Slice", "f32[N, H, W]; 0, 1, 4, 3", {l("axes", {2, -2})}), "f32[N, max(min(H, 3) - 1, 0), min(W, 4)]");
  EXPECT_EQ(t("Slice", "f32[N, H]; 0, 0", {l("axes", {0, -2})}), "error: Slice: axes must have 1 elements, but has 2");
  EXPECT_EQ(t("Slice", "f32[N, H]; 0, 0, 1, 1", {l("axes", {0, -2})}), "error: Slice: axes: axis 0 is listed twice");
  EXPECT_EQ(t("Slice", "f32[N, H]; 0, 0, 1"), "error: Slice: takes a start and an end for each axis, but has 3 arguments");
}

// Against Python's own rule, over all small cases, constant and symbolic.
TEST(Movement, SliceMatchesOnnx) {
  InferTester t;
  const OpSchema& op = *find_op("Slice");
  DimContext& m = t.dims();
  SymbolId size = m.add_symbol({.name = "d"}), from = m.add_symbol({.name = "a", .min = INT64_MIN}),
           to = m.add_symbol({.name = "b", .min = INT64_MIN});
  ConstantSink sink;
  for (int64_t step : {-3, -2, -1, 1, 2, 3}) {
    Attributes attrs{{"steps", Ints{step}}};
    TensorType sym;
    sym.shape = {m.symbol(size)};
    const TensorType* in[] = {&sym};
    Dim sym_args[] = {m.symbol(from), m.symbol(to)};
    auto general = infer_call(op, m, in, sym_args, attrs, 1, sink);
    ASSERT_TRUE(general.ok()) << general.status().message();
    for (int64_t d = 0; d <= 5; ++d)
      for (int64_t a = -7; a <= 7; ++a)
        for (int64_t b = -7; b <= 7; ++b) {
          int64_t x = a < 0 ? a + d : a, y = b < 0 ? b + d : b;
          x = step > 0 ? std::clamp<int64_t>(x, 0, d) : std::min<int64_t>(std::max<int64_t>(x, 0), d - 1);
          y = step > 0 ? std::clamp<int64_t>(y, 0, d) : std::min<int64_t>(std::max<int64_t>(y, -1), d - 1);
          int64_t expected = 0;
          for (int64_t p = x; step > 0 ? p < y : p > y; p += step) ++expected;
          TensorType fixed;
          fixed.shape = {m.constant(d)};
          const TensorType* fixed_in[] = {&fixed};
          Dim args[] = {m.constant(a), m.constant(b)};
          auto r = infer_call(op, m, fixed_in, args, attrs, 1, sink);
          ASSERT_TRUE(r.ok());
          ASSERT_EQ((*r)[0].shape[0].value(), expected) << d << " " << a << " " << b << " " << step;
          auto value_of = [&](SymbolId id) -> std::optional<int64_t> { return id == size ? d : id == from ? a : b; };
          ASSERT_EQ(DimContext::evaluate((*general)[0].shape[0], value_of), expected) << d << " " << a << " " << b << " " << step;
          auto half = infer_call(op, m, in, args, attrs, 1, sink);  // constant bounds, symbolic size
          ASSERT_TRUE(half.ok());
          ASSERT_EQ(DimContext::evaluate((*half)[0].shape[0], value_of), expected) << d << " " << a << " " << b << " " << step;
        }
  }
}

TEST(Movement, Pad) {
  InferTester t;
  EXPECT_EQ(t("Pad", "f32[N, H], f32[]; 0, 1, 0, 2"), "f32[N, H + 3]");
  EXPECT_EQ(t("Pad", "f32[0, 4]; 1, 0, 1, 0"), "f32[2, 4]");
  EXPECT_EQ(t("Pad", "f32[4]; -1, -3"), "f32[0]");
  EXPECT_EQ(t("Pad", "f32[4]; -1, -4"), "error: Pad: not true that negative pads don't crop more than there is: 0 and -1");
  EXPECT_EQ(t("Pad", "f32[4]; 1"), "error: Pad: takes a begin and an end for each of 1 axes, but has 1 arguments");
  EXPECT_EQ(t("Pad", "f32[4]; 3, 3", {s("mode", "reflect")}), "f32[10]");
  EXPECT_EQ(t("Pad", "f32[4]; 4, 0", {s("mode", "reflect")}),
            "error: Pad: not true that reflected pads are smaller than the axis: 4 and 4");
  EXPECT_EQ(t("Pad", "f32[N, H]; 0, 1, 0, 1", {s("mode", "reflect")}), "f32[N, H + 2]");
  EXPECT_EQ(t.conditions(), (Conditions{"1 < H", "1 < H"}));
  EXPECT_EQ(t("Pad", "f32[0]; 1, 0", {s("mode", "edge")}), "error: Pad: not true that an axis to repeat from isn't empty: 1 and 0");
  EXPECT_EQ(t("Pad", "f32[3]; 5, 0", {s("mode", "wrap")}), "f32[8]");
  EXPECT_EQ(t("Pad", "f32[]"), "f32[]");
}

TEST(Movement, Others) {
  InferTester t;
  EXPECT_EQ(t("Identity", "string[N, 3]"), "string[N, 3]");
  EXPECT_EQ(t("Identity", "f32[*]"), "f32[*]");
  EXPECT_EQ(t("Tile", "f32[N, 3]; 2, H"), "f32[2*N, 3*H]");
  EXPECT_EQ(t("Tile", "f32[2]; 0"), "f32[0]");
  EXPECT_EQ(t("Tile", "f32[2]; -1"), "error: Tile: not true that repeats are not negative: 0 and -1");
  EXPECT_EQ(t("Reshape", "f32[N], i64[3]"), "f32[?, ?, ?]");
  EXPECT_EQ(t("Reshape", "f32[*], i64[N]"), "f32[*]");
  EXPECT_EQ(t("Reshape", "f32[2], i64[9]"), "error: Reshape: not true that the new shape has at most 8 axes: 9 and 8");
  EXPECT_EQ(t("Expand", "f32[2, 1, 1], i64[2]"), "f32[?, ?, ?]");
  EXPECT_EQ(t("Squeeze", "f32[1, N, 1]", {l("axes", {0})}), "f32[N, 1]");
  EXPECT_EQ(t("Squeeze", "f32[1, 3, 1]"), "f32[3]");
  EXPECT_EQ(t("Squeeze", "f32[1, N, 1]"), "f32[*]");
  EXPECT_EQ(t("Squeeze", "f32[2]", {l("axes", {0})}), "error: Squeeze: not true that squeezed axes have size 1: 2 and 1");
  EXPECT_EQ(t("Unsqueeze", "f32[N]", {l("axes", {0, -1})}), "f32[1, N, 1]");
  EXPECT_EQ(t("Flatten", "f32[N, 3, H]", {axis(1)}), "f32[N, 3*H]");
  EXPECT_EQ(t("Flatten", "f32[]", {axis(0)}), "f32[1, 1]");
  EXPECT_EQ(t("Shape", "f32[N, 3, H]", {i("start", -2)}), "i64[2]");
  EXPECT_EQ(t("Shape", "f32[N, 3, H]", {i("start", 2), i("end", 1)}), "i64[0]");
  EXPECT_EQ(t("DepthToSpace", "f32[N, 12, H, W]", {i("blocksize", 2)}), "f32[N, 3, 2*H, 2*W]");
  EXPECT_EQ(t("DepthToSpace", "f32[N, 6, H, W]", {i("blocksize", 2)}),
            "error: DepthToSpace: not true that blocksize squared divides the channels of X: 4 and 6");
  EXPECT_EQ(t("SpaceToDepth", "f32[N, 3, 2*H, 4]", {i("blocksize", 2)}), "f32[N, 12, H, 2]");
  EXPECT_EQ(t("ReverseSequence", "f32[L, N, 3], i64[N]"), "f32[L, N, 3]");
  EXPECT_EQ(t("ReverseSequence", "f32[4, 3], i64[4]"),
            "error: ReverseSequence: not true that there is one length for each sequence: 4 and 3");
  EXPECT_EQ(t("Trilu", "f32[N, 0, 3]; -1"), "f32[N, 0, 3]");
  EXPECT_EQ(t("Trilu", "f32[3]"), "error: Trilu: X must have rank 2 or more, but has rank 1");
  EXPECT_EQ(t("CenterCropPad", "f32[N, H, W]; 10, 12", {l("axes", {1, -1})}), "f32[N, 10, 12]");
  EXPECT_EQ(t("Col2Im", "f32[N, 5, 25]; 5, 5, 1, 5", {l("pads", {0, 0, 0, 0})}),
            "error: Col2Im: not true that axis 2 of X counts the blocks of the image: 25 and 5");
  EXPECT_EQ(t("Col2Im", "f32[N, 5, 5]; 5, 5, 1, 5"), "f32[N, 1, 5, 5]");
}

TEST(Creation, All) {
  InferTester t;
  EXPECT_EQ(t("Range", "i64[], i64[1], i64[]"), "i64[?]");
  EXPECT_EQ(t("msvm.Iota", "; 0, H, 2"), "i64[H]");
  EXPECT_EQ(t("msvm.Iota", "; 0, -1, 2"), "error: msvm.Iota: not true that count is not negative: 0 and -1");
  EXPECT_EQ(t("msvm.Iota", "; 0, 4, 2", {{"dtype", DType::kBool}}), "error: msvm.Iota: dtype must be a number, but is bool");
  EXPECT_EQ(t("msvm.Fill", "; N, 0, 3", {{"dtype", DType::kI32}, {"value", int64_t{7}}}), "i32[N, 0, 3]");
  EXPECT_EQ(t("msvm.Fill", "", {{"value", 0.5}}), "f32[]");
  EXPECT_EQ(t("msvm.ShapeTensor", "; N, 3"), "i64[2]");
  EXPECT_EQ(t("msvm.ShapeTensor", ""), "i64[0]");
  EXPECT_EQ(t("msvm.ShapeTensor", "; N", {i("scalar", 1)}), "i64[]");
  EXPECT_EQ(t("msvm.ShapeTensor", "", {i("scalar", 1)}), "error: msvm.ShapeTensor: scalar=1 takes one argument, but there are 0");
  EXPECT_EQ(t("EyeLike", "f32[N, 3]", {{"dtype", DType::kBool}}), "bool[N, 3]");
  EXPECT_EQ(t("EyeLike", "f64[N, 3]"), "f64[N, 3]");
  EXPECT_EQ(t("RandomUniform", "u64[2]; N, 3", {}, 2), "f32[N, 3], u64[2]");
  EXPECT_EQ(t("RandomNormal", "u64[3]; N, 3", {}, 2), "error: RandomNormal: not true that a key has two elements: 3 and 2");
  EXPECT_EQ(t("Bernoulli", "u64[2], f32[N]", {{"dtype", DType::kBool}}, 2), "bool[N], u64[2]");
  EXPECT_EQ(t("Multinomial", "u64[2], f32[N, 10]; 5", {}, 2), "i32[N, 5], u64[2]");
}

TEST(Indexing, Gather) {
  InferTester t;
  EXPECT_EQ(t("Gather", "f32[N, H, 8], i64[2, L]", {axis(1)}), "f32[N, 2, L, 8]");
  EXPECT_EQ(t("Gather", "string[4], i32[]"), "string[]");
  EXPECT_EQ(t("Gather", "f32[], i32[]"), "error: Gather: axis is 0, but a tensor of rank 0 has no axes");
  EXPECT_EQ(t("GatherElements", "f32[4, 5], i64[3, 9]", {axis(1)}), "f32[3, 9]");
  EXPECT_EQ(t("GatherElements", "f32[4, 5], i64[5, 9]", {axis(1)}),
            "error: GatherElements: not true that indices are no larger than data on the axes not indexed: 5 and 4");
  EXPECT_EQ(t("GatherND", "f32[N, 3, H], i64[L, 2]"), "f32[L, H]");
  EXPECT_EQ(t("GatherND", "f32[N, 3, H], i64[N, L, 1]", {i("batch_dims", 1)}), "f32[N, L, H]");
  EXPECT_EQ(t("GatherND", "f32[2, 3], i64[L, 3]"),
            "error: GatherND: not true that index tuples are no longer than data has axes: 3 and 2");
  EXPECT_EQ(t("GatherND", "f32[2, 3], i64[L, K]"), "f32[*]");
  EXPECT_EQ(t("GatherND", "f32[2, 3], i64[2, 1]", {i("batch_dims", 2)}),
            "error: GatherND: batch_dims must be less than both ranks, 2 and 2, but is 2");
}

TEST(Indexing, Scatter) {
  InferTester t;
  EXPECT_EQ(t("ScatterElements", "f32[N, 5], i64[N, 2], f32[N, 2]", {axis(1)}), "f32[N, 5]");
  EXPECT_EQ(t("ScatterElements", "f32[4, 5], i64[4, 2], f32[4, 3]", {axis(1)}),
            "error: ScatterElements: not true that indices and updates have the same shape: 2 and 3");
  EXPECT_EQ(t("ScatterND", "f32[8, 3], i64[L, 1], f32[L, 3]"), "f32[8, 3]");
  EXPECT_EQ(t("ScatterND", "f32[8, 3], i64[L, K], f32[L, 3]"), "f32[8, 3]");
  EXPECT_EQ(t.conditions().size(), 1u);
  EXPECT_EQ(t("ScatterND", "f32[8, 3], i64[L, 2], f32[L, 3]"),
            "error: ScatterND: not true that the length of index tuples and the rank of updates fit each other: 2 and 1");
  EXPECT_EQ(t("ScatterND", "f32[8, 3], i64[L, 2], f32[N, L, 3, 3]"),
            "error: ScatterND: updates has rank 4, which no length of index tuples gives for data of rank 2 and indices of rank 2");
  EXPECT_EQ(t("TensorScatter", "f32[N, 8, 64, 16], f32[N, 8, L, 16], i64[N]"), "f32[N, 8, 64, 16]");
  EXPECT_EQ(t.conditions(), (Conditions{"L <= 64"}));
  EXPECT_EQ(t("TensorScatter", "f32[2, 8], f32[2, 8]", {axis(0)}), "error: TensorScatter: axis can't be 0, the batch");
}

TEST(Indexing, Others) {
  InferTester t;
  EXPECT_EQ(t("OneHot", "i64[N, L], f32[2]; 10"), "f32[N, L, 10]");
  EXPECT_EQ(t("OneHot", "i64[N, L], bool[2]; H", {axis(0)}), "bool[H, N, L]");
  EXPECT_EQ(t("OneHot", "i64[], f32[3]; H"), "error: OneHot: not true that values holds the off value and the on value: 3 and 2");
  EXPECT_EQ(t("Compress", "f32[N, 4], bool[2]", {axis(1)}), "f32[N, ?]");
  EXPECT_EQ(t("Compress", "f32[N, 4], bool[2]"), "f32[?]");
  EXPECT_EQ(t("NonZero", "f32[N, 4]"), "i64[2, ?]");
  EXPECT_EQ(t("NonZero", "bool[]"), "i64[1, ?]");
  EXPECT_EQ(t("Unique", "f32[N, 4]", {}, 4), "f32[?], i64[?], i64[4*N], i64[?]");
  EXPECT_EQ(t("Unique", "f32[N, 4]", {axis(1)}, 4), "f32[N, ?], i64[?], i64[4], i64[?]");
  EXPECT_EQ(t("TopK", "f32[N, 100]; 5", {}, 2), "f32[N, 5], i64[N, 5]");
  EXPECT_EQ(t("TopK", "f32[N, 3]; 5", {}, 2), "error: TopK: not true that k is no larger than the axis: 5 and 3");
  EXPECT_EQ(t("TopK", "f32[N]; min(N, 5)", {}, 2), "f32[min(N, 5)], i64[min(N, 5)]");
  EXPECT_EQ(t("ArgMax", "f32[N, 3, H]", {axis(-1)}), "i64[N, 3, 1]");
  EXPECT_EQ(t("ArgMin", "f32[N, 3, H]", {axis(1), i("keepdims", 0)}), "i64[N, H]");
  EXPECT_EQ(t("CumSum", "f32[N, 3]", {axis(1)}), "f32[N, 3]");
  EXPECT_EQ(t("msvm.CumMax", "f32[N, 3]", {axis(1)}, 2), "f32[N, 3], i64[N, 3]");
  EXPECT_EQ(t("msvm.CumLogSumExp", "f16[N, 3]", {axis(-2)}), "f16[N, 3]");
  EXPECT_EQ(t("CumProd", "f32[N, 3]", {axis(2)}), "error: CumProd: axis must be -2 to 1 for rank 2, but is 2");
}

TEST(Reduce, All) {
  InferTester t;
  EXPECT_EQ(t("ReduceSum", "f32[N, 3, H]", {l("axes", {-1, 0})}), "f32[1, 3, 1]");
  EXPECT_EQ(t("ReduceMean", "f32[N, 3, H]", {l("axes", {1}), i("keepdims", 0)}), "f32[N, H]");
  EXPECT_EQ(t("ReduceMax", "bool[N, 3]", {l("axes", {})}), "bool[N, 3]");
  EXPECT_EQ(t("ReduceMax", "f32[N, 3]", {l("axes", {0, -2})}), "error: ReduceMax: axes: axis 0 is listed twice");
  EXPECT_EQ(t("ReduceMax", "f32[N, 3]"), "error: ReduceMax: attribute axes is missing");
  EXPECT_EQ(t("ReduceSum", "f32[]", {l("axes", {})}), "f32[]");
}

TEST(Norm, All) {
  InferTester t;
  EXPECT_EQ(t("Softmax", "f32[N, 3]"), "f32[N, 3]");
  EXPECT_EQ(t("Softmax", "f32[]"), "error: Softmax: axis is -1, but a tensor of rank 0 has no axes");
  EXPECT_EQ(t("LayerNormalization", "f16[N, L, 768], f16[768], f16[768]", {}, 3), "f16[N, L, 768], f32[N, L, 1], f32[N, L, 1]");
  EXPECT_TRUE(t.conditions().empty());
  EXPECT_EQ(t("LayerNormalization", "f32[N, L, 768], f32[512]"),
            "error: LayerNormalization: not true that the scale can be broadcast to X: 512 and 768");
  EXPECT_EQ(t("RMSNormalization", "f16[N, 8], f32[8]"), "f32[N, 8]");
  EXPECT_EQ(t("GroupNormalization", "f32[N, 6, H, W], f32[6], f32[6]", {i("num_groups", 4)}),
            "error: GroupNormalization: not true that num_groups divides the channels of X: 4 and 6");
  EXPECT_EQ(t("InstanceNormalization", "f32[N, 6, H], f32[6], f32[6]"), "f32[N, 6, H]");
  EXPECT_EQ(t("BatchNormalization", "f32[N, 6, H], f32[6], f32[6], f32[6], f32[5]"),
            "error: BatchNormalization: not true that input_var has one element for each channel of X: 5 and 6");
  EXPECT_EQ(t("BatchNormalization", "f32[N], f32[1], f32[1], f32[1], f32[1]"), "f32[N]");
  EXPECT_EQ(t("BatchNormalization", "f32[N, 6], f32[6], f32[6], f32[6], f32[6]", {}, 3),
            "error: BatchNormalization: running_mean and running_var are given only with training_mode=1");
  EXPECT_EQ(t("BatchNormalization", "f32[N, 6], f32[6], f32[6], f64[6], f64[6]", {i("training_mode", 1)}, 3),
            "f32[N, 6], f64[6], f64[6]");
  EXPECT_EQ(t("LRN", "f32[N, 6, H, W]", {i("size", 5)}), "f32[N, 6, H, W]");
  EXPECT_EQ(t("MeanVarianceNormalization", "f32[N, 6, H]"),
            "error: MeanVarianceNormalization: axes must be -3 to 2 for rank 3, but is 3");
}

TEST(Conv, Shapes) {
  InferTester t;
  EXPECT_EQ(t("Conv", "f32[N, 3, H, W], f32[64, 3, 3, 3]", {l("pads", {1, 1, 1, 1}), l("strides", {2, 2})}),
            "f32[N, 64, ceildiv(H, 2), ceildiv(W, 2)]");
  EXPECT_TRUE(t.conditions().empty());  // floordiv(H - 1, 2) + 1 in its canonical form
  EXPECT_EQ(t("Conv", "f32[N, 3, H], f32[64, 3, 5]", {l("pads", {1, 1}), l("strides", {3})}), "f32[N, 64, floordiv(H, 3)]");
  EXPECT_EQ(t("Conv", "f32[N, 3, H, W], f32[64, 3, 1, 1]"), "f32[N, 64, H, W]");
  EXPECT_EQ(t("Conv", "f32[N, 3, H], f32[64, 3, 7], f32[64]"), "f32[N, 64, H - 6]");
  EXPECT_EQ(t.conditions(), (Conditions{"7 <= H"}));
  EXPECT_EQ(t("Conv", "f32[0, 3, 224, 224], f32[64, 3, 7, 7]", {l("pads", {3, 3, 3, 3}), l("strides", {2, 2})}),
            "f32[0, 64, 112, 112]");
  EXPECT_EQ(t("Conv", "f32[1, 4, 5], f32[4, 1, 3]", {i("group", 4), l("dilations", {2})}), "f32[1, 4, 1]");
  EXPECT_EQ(t("Conv", "f32[1, 1, 0], f32[1, 1, 3]", {l("pads", {1, 1})}), "f32[1, 1, 0]");
  EXPECT_EQ(t("Conv", "f32[1, 1, 2], f32[1, 1, 5]"), "error: Conv: not true that the window fits into the padded input: 5 and 2");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 2, 3]"),
            "error: Conv: not true that channels of X equal input channels of W times group: 3 and 2");
  EXPECT_EQ(t("Conv", "f32[1, 4, 8], f32[3, 2, 3]", {i("group", 2)}),
            "error: Conv: not true that group divides the output channels of W: 2 and 3");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 3, 3]"), "error: Conv: W must have rank 3, but has rank 4");
  EXPECT_EQ(t("Conv", "f32[1, 3], f32[4, 3]"), "error: Conv: X must have rank 3 or more, but has rank 2");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 3]", {l("kernel_shape", {5})}),
            "error: Conv: not true that kernel_shape is that of W: 3 and 5");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 3]", {l("pads", {1})}), "error: Conv: pads must have 2 elements, but has 1");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 0]"), "error: Conv: not true that the kernel isn't empty: 1 and 0");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 3], f32[3]"),
            "error: Conv: not true that B has one element for each output channel: 3 and 4");
  EXPECT_EQ(t("Conv", "f32[1, 3, 8], f32[4, 3, 3]", {l("dilations", {INT64_MAX})}),
            "error: Conv: a size leaves 64 bits in the condition that the window fits into the padded input");
  EXPECT_EQ(t("Conv", "f32[N, 3, H], f32[4, 3, 3]", {s("auto_pad", "SAME_UPPER"), l("strides", {2})}), "f32[N, 4, ceildiv(H, 2)]");
  EXPECT_EQ(t("Conv", "f32[N, 3, 7], f32[4, 3, 3]", {s("auto_pad", "SAME_LOWER"), l("strides", {2})}), "f32[N, 4, 4]");
  EXPECT_EQ(t("Conv", "f32[N, 3, 7], f32[4, 3, 3]", {s("auto_pad", "VALID"), l("strides", {2})}), "f32[N, 4, 3]");
  EXPECT_EQ(t("Conv", "f32[N, 3, 7], f32[4, 3, 3]", {s("auto_pad", "VALID"), l("pads", {1, 1})}),
            "error: Conv: pads and auto_pad=VALID exclude each other");
  EXPECT_EQ(t("Conv", "f32[N, 3, 7], f32[4, 3, K]"), "f32[N, 4, -K + 8]");
}

TEST(Conv, Transposed) {
  InferTester t;
  EXPECT_EQ(t("ConvTranspose", "f32[N, 8, H, W], f32[8, 4, 2, 2]", {l("strides", {2, 2})}), "f32[N, 4, 2*H, 2*W]");
  EXPECT_EQ(t("ConvTranspose", "f32[N, 8, 5], f32[8, 2, 3], f32[4]",
              {l("strides", {2}), l("pads", {1, 1}), l("output_padding", {1}), i("group", 2)}),
            "f32[N, 4, 10]");
  EXPECT_EQ(t("ConvTranspose", "f32[N, 8, H], f32[8, 2, 3]", {s("auto_pad", "SAME_UPPER"), l("strides", {3})}), "f32[N, 2, 3*H]");
  EXPECT_EQ(t("ConvTranspose", "f32[N, 8, H], f32[8, 2, 3]", {l("output_shape", {17})}), "f32[N, 2, 17]");
  EXPECT_EQ(t("ConvTranspose", "f32[N, 7, H], f32[8, 2, 3]"),
            "error: ConvTranspose: not true that channels of X equal axis 0 of W: 7 and 8");
  EXPECT_EQ(t("ConvTranspose", "f32[N, 8, 1], f32[8, 2, 1]", {l("pads", {1, 1})}),
            "error: ConvTranspose: not true that pads leave something of the result: 0 and -1");
}

TEST(Conv, Others) {
  InferTester t;
  EXPECT_EQ(t("ConvInteger", "u8[N, 3, H], i8[4, 3, 1], u8[], i8[4]"), "i32[N, 4, H]");
  EXPECT_EQ(t("DeformConv", "f32[N, 4, 8, 8], f32[6, 4, 3, 3], f32[N, 18, 6, 6], _, f32[N, 9, 6, 6]"), "f32[N, 6, 6, 6]");
  EXPECT_EQ(t("DeformConv", "f32[N, 4, 8, 8], f32[6, 4, 3, 3], f32[N, 9, 6, 6]"),
            "error: DeformConv: not true that offset has offset_group * taps * spatial axes channels, mask offset_group * taps: 9 "
            "and 18");
  EXPECT_EQ(t("CausalConvWithState", "f32[N, 8, L], f32[8, 1, 4], f32[8], f32[N, 8, 3]", {}, 2), "f32[N, 8, L], f32[N, 8, 3]");
}

TEST(Pool, Shapes) {
  InferTester t;
  auto pool = [&](std::string_view size, int64_t k, int64_t stride, int64_t begin, int64_t end, int64_t ceil,
                  int64_t dilation = 1) {
    return t("MaxPool", fmt::format("f32[1, 1, {}]", size),
             {l("kernel_shape", {k}), l("strides", {stride}), l("pads", {begin, end}), i("ceil_mode", ceil),
              l("dilations", {dilation})});
  };
  EXPECT_EQ(pool("32", 3, 2, 0, 0, 0), "f32[1, 1, 15]");
  EXPECT_EQ(pool("32", 3, 2, 0, 0, 1), "f32[1, 1, 16]");
  EXPECT_EQ(pool("32", 3, 2, 1, 1, 0), "f32[1, 1, 16]");
  EXPECT_EQ(pool("2", 1, 2, 0, 0, 1), "f32[1, 1, 1]");  // a window at 2 would start behind the input
  EXPECT_EQ(pool("3", 2, 2, 1, 1, 1), "f32[1, 1, 2]");  // ... or in its padding
  EXPECT_EQ(pool("H", 2, 2, 0, 0, 1), "f32[1, 1, ceildiv(H, 2)]");
  EXPECT_TRUE(t.conditions().empty());
  EXPECT_EQ(pool("0", 2, 2, 0, 0, 1), "f32[1, 1, 0]");
  EXPECT_EQ(pool("1", 2, 2, 0, 0, 1), "f32[1, 1, 1]");
  EXPECT_EQ(pool("1", 2, 2, 0, 0, 0), "error: MaxPool: not true that the window fits into the padded input: 2 and 1");
  EXPECT_EQ(pool("H", 2, 2, 0, 0, 0), "f32[1, 1, floordiv(H, 2)]");
  EXPECT_EQ(pool("8", 3, 1, 0, 0, 0, 2), "f32[1, 1, 4]");
  EXPECT_EQ(pool("8", 2, 1, 2, 0, 0), "error: MaxPool: not true that pads are smaller than the window: 2 and 2");
  EXPECT_EQ(t("MaxPool", "f32[N, 3, 8, 8]", {l("kernel_shape", {2, 2})}, 2), "f32[N, 3, 7, 7], i64[N, 3, 7, 7]");
  EXPECT_EQ(t("AveragePool", "f32[N, 3, H]", {l("kernel_shape", {3}), l("strides", {3}), s("auto_pad", "SAME_UPPER")}),
            "f32[N, 3, ceildiv(H, 3)]");
  EXPECT_EQ(
      t("AveragePool", "f32[N, 3, 7]", {l("kernel_shape", {3}), l("strides", {3}), s("auto_pad", "VALID"), i("ceil_mode", 1)}),
      "f32[N, 3, 2]");
  EXPECT_EQ(t("LpPool", "f32[N, 3, H, W]", {l("kernel_shape", {3})}),
            "error: LpPool: kernel_shape must have 2 elements, but has 1");
  EXPECT_EQ(t("GlobalAveragePool", "f32[N, 3, H, W]"), "f32[N, 3, 1, 1]");
  EXPECT_EQ(t("MaxUnpool", "f32[N, 1, 2, 2], i64[N, 1, 2, 2]", {l("kernel_shape", {2, 2}), l("strides", {2, 2})}),
            "f32[N, 1, 4, 4]");
  EXPECT_EQ(t("MaxUnpool", "f32[N, 1, 2, 2], i64[N, 1, 2, 2]; N, 1, 5, 5", {l("kernel_shape", {2, 2}), l("strides", {2, 2})}),
            "f32[N, 1, 5, 5]");
  EXPECT_EQ(t("MaxRoiPool", "f32[N, 3, H, W], f32[K, 5]", {l("pooled_shape", {7, 7})}), "f32[K, 3, 7, 7]");
}

// The rule in its original words, over all small cases; and the symbolic form under the same values.
TEST(Pool, CeilModeMatchesOnnx) {
  InferTester t;
  const OpSchema& op = *find_op("MaxPool");
  DimContext& m = t.dims();
  Dim h = m.symbol(*m.find_symbol("H"));
  ConstantSink sink;
  for (int64_t k = 1; k <= 4; ++k)
    for (int64_t stride = 1; stride <= 4; ++stride)
      for (int64_t dilation = 1; dilation <= 2; ++dilation)
        for (int64_t begin = 0; begin < k; ++begin)
          for (int64_t end = 0; end < k; ++end) {
            Attributes attrs{{"kernel_shape", Ints{k}},
                             {"strides", Ints{stride}},
                             {"dilations", Ints{dilation}},
                             {"pads", Ints{begin, end}},
                             {"ceil_mode", int64_t{1}}};
            TensorType sym;
            sym.shape = {m.constant(1), m.constant(1), h};
            const TensorType* in[] = {&sym};
            auto general = infer_call(op, m, in, {}, attrs, 1, sink);
            ASSERT_TRUE(general.ok());
            int64_t extent = (k - 1) * dilation + 1;
            for (int64_t size = std::max<int64_t>(1, extent - begin - end - stride + 1); size <= 12; ++size) {
              int64_t expected = *checked_ceildiv(size + begin + end - extent, stride) + 1;
              if ((expected - 1) * stride >= size + begin) --expected;
              auto value = DimContext::evaluate((*general)[0].shape[2], [&](SymbolId) { return std::optional(size); });
              ASSERT_EQ(value, expected) << size << " k" << k << " s" << stride << " d" << dilation << " p" << begin << "," << end;
            }
          }
}

TEST(MatMul, Shapes) {
  InferTester t;
  EXPECT_EQ(t("MatMul", "f32[N, L, 768], f32[768, 64]"), "f32[N, L, 64]");
  EXPECT_EQ(t("MatMul", "f32[3], f32[3]"), "f32[]");
  EXPECT_EQ(t("MatMul", "f32[3], f32[N, 3, 4]"), "f32[N, 4]");
  EXPECT_EQ(t("MatMul", "f32[N, 2, 3], f32[3]"), "f32[N, 2]");
  EXPECT_EQ(t("MatMul", "f32[N, 1, 0, 3], f32[8, 3, 0]"), "f32[N, 8, 0, 0]");
  EXPECT_EQ(t("MatMul", "f32[], f32[3]"), "error: MatMul: A must have rank 1 or more, but has rank 0");
  EXPECT_EQ(t("MatMul", "f32[2, 3], f32[4, 5]"), "error: MatMul: not true that the inner sizes of the matrices are equal: 3 and 4");
  EXPECT_EQ(t("MatMul", "f32[2, 1, 3], f32[3, 3, 5]"),
            "error: MatMul: not true that the batch sizes of the matrices are equal or 1: 2 and 3");
  EXPECT_EQ(t("MatMul", "f32[N, H], f32[W, 5]"), "f32[N, 5]");
  EXPECT_EQ(t.conditions(), (Conditions{"H == W"}));
  EXPECT_EQ(t("MatMulInteger", "u8[M, K], i8[K, N], u8[M], i8[1, N]"), "i32[M, N]");
  EXPECT_EQ(
      t("MatMulInteger", "u8[2, 3], i8[3, 4], u8[3]"),
      "error: MatMulInteger: not true that a scale or zero point is one value, or one for each row of A or column of B: 3 and 2");
  EXPECT_EQ(t("QLinearMatMul", "u8[N, 2, 3], f32[], u8[], i8[3, 4], f32[4], i8[4], f32[], u8[]"), "u8[N, 2, 4]");
  EXPECT_EQ(t("Gemm", "f32[3, N], f32[5, 3], f32[5]", {i("transA", 1), i("transB", 1)}), "f32[N, 5]");
  EXPECT_EQ(t("Gemm", "f32[N, 3], f32[3, 5], f32[N, 1]"), "f32[N, 5]");
  EXPECT_EQ(t("Gemm", "f32[2, 3], f32[3, 5], f32[5, 5]"), "error: Gemm: not true that C can be broadcast to the product: 5 and 2");
  EXPECT_EQ(t("Det", "f32[N, 3, 3]"), "f32[N]");
  EXPECT_EQ(t("Det", "f32[2, 3]"), "error: Det: not true that the matrices are square: 2 and 3");
}

TEST(MatMul, Einsum) {
  InferTester t;
  auto e = [&](const char* equation, std::string_view inputs) { return t("Einsum", inputs, {s("equation", equation)}); };
  EXPECT_EQ(e("bij, bjk -> bik", "f32[N, 2, 3], f32[N, 3, 4]"), "f32[N, 2, 4]");
  EXPECT_EQ(e("ij,jk", "f32[H, 3], f32[3, W]"), "f32[H, W]");
  EXPECT_EQ(e("ba", "f32[2, 3]"), "f32[3, 2]");
  EXPECT_EQ(e("ii", "f32[3, 3]"), "f32[]");
  EXPECT_EQ(e("ii->i", "f32[3, 3]"), "f32[3]");
  EXPECT_EQ(e("ii->i", "f32[3, 1]"), "error: Einsum: not true that axes of one input with one label have the same size: 3 and 1");
  EXPECT_EQ(e("...ij,...jk->...ik", "f32[N, 8, 2, 3], f32[8, 3, 4]"), "f32[N, 8, 2, 4]");
  EXPECT_EQ(e("...ij->...ji", "f32[2, 3]"), "f32[3, 2]");
  EXPECT_EQ(e("i,j->ij", "f32[H], f32[W]"), "f32[H, W]");
  EXPECT_EQ(e("i->", "f32[H]"), "f32[]");
  EXPECT_EQ(e(",i->i", "f32[], f32[H]"), "f32[H]");
  EXPECT_EQ(e("ij,jk->ik", "f32[2, 3], f32[4, 5]"),
            "error: Einsum: not true that sizes of axes with one label are equal or 1: 3 and 4");
  EXPECT_EQ(e("ij->ik", "f32[2, 3]"), "error: Einsum: equation \"ij->ik\": output label 'k' is in no input");
  EXPECT_EQ(e("ij->ii", "f32[2, 3]"), "error: Einsum: equation \"ij->ii\": output label 'i' occurs twice");
  EXPECT_EQ(e("ij,k->i", "f32[2, 3]"), "error: Einsum: equation \"ij,k->i\" has 2 terms for 1 inputs");
  EXPECT_EQ(e("i1->i", "f32[2, 3]"), "error: Einsum: equation \"i1->i\": unexpected '1' at position 1");
  EXPECT_EQ(e("ijk", "f32[2, 3]"), "error: Einsum: term \"ijk\" names 3 axes, but input 0 has rank 2");
  EXPECT_EQ(e("......i", "f32[2, 3]"), "error: Einsum: equation \"......i\": unexpected '.' at position 3");
}

TEST(Attention, Shapes) {
  InferTester t;
  EXPECT_EQ(t("Attention", "f32[N, 8, L, 64], f32[N, 2, K, 64], f32[N, 2, K, 32]", {}, 4),
            "f32[N, 8, L, 32], f32[N, 2, K, 64], f32[N, 2, K, 32], f32[N, 8, L, K]");
  EXPECT_EQ(
      t("Attention", "f32[N, L, 512], f32[N, K, 128], f32[N, K, 64], bool[L, K]", {i("q_num_heads", 8), i("kv_num_heads", 2)}),
      "f32[N, L, 256]");
  EXPECT_EQ(t("Attention", "f32[N, 8, 1, 64], f32[N, 8, 1, 64], f32[N, 8, 1, 64], _, f32[N, 8, L, 64], f32[N, 8, L, 64]", {}, 3),
            "f32[N, 8, 1, 64], f32[N, 8, L + 1, 64], f32[N, 8, L + 1, 64]");
  EXPECT_EQ(t("Attention", "f32[N, L, 512], f32[N, K, 128], f32[N, K, 64]", {i("kv_num_heads", 2)}),
            "error: Attention: q_num_heads is needed where Q has rank 3");
  EXPECT_EQ(t("Attention", "f32[1, 3, 4, 8], f32[1, 2, 4, 8], f32[1, 2, 4, 8]"),
            "error: Attention: not true that the number of heads of K divides that of Q: 2 and 3");
  EXPECT_EQ(t("Attention", "f32[1, 2, 4, 8], f32[1, 2, 4, 8], f32[1, 2, 4, 8], _, f32[1, 2, 4, 8]"),
            "error: Attention: past_key and past_value come together or not at all");
  EXPECT_EQ(t("Attention", "f32[1, 2, 4, 8], f32[1, 2, 4, 8], f32[1, 2, 4, 8], f32[3, 4]"),
            "error: Attention: not true that attn_mask can be broadcast to batch, heads and length of Q: 3 and 4");
  EXPECT_EQ(t("Attention", "f32[1, 2, 4, 8], f32[1, 2, 4, 8], f32[1, 2, 4, 8], f32[4, 5]"),
            "error: Attention: not true that the last axis of attn_mask is no longer than the keys: 5 and 4");
  EXPECT_EQ(t("RotaryEmbedding", "f32[N, 8, L, 64], f32[512, 32], f32[512, 32], i64[N, L]"), "f32[N, 8, L, 64]");
  EXPECT_EQ(
      t("RotaryEmbedding", "f32[N, L, 512], f32[N, L, 16], f32[N, L, 16]", {i("num_heads", 8), i("rotary_embedding_dim", 32)}),
      "f32[N, L, 512]");
  EXPECT_EQ(t("RotaryEmbedding", "f32[N, 8, L, 64], f32[512, 16], f32[512, 16], i64[N, L]"),
            "error: RotaryEmbedding: not true that the last axis of the caches is half of the rotated part: 32 and 64");
}

TEST(Recurrent, Shapes) {
  InferTester t;
  EXPECT_EQ(t("LSTM", "f32[L, N, 10], f32[1, 80, 10], f32[1, 80, 20]", {}, 3), "f32[L, 1, N, 20], f32[1, N, 20], f32[1, N, 20]");
  EXPECT_EQ(
      t("LSTM", "f32[L, N, 10], f32[2, 80, 10], f32[2, 80, 20], f32[2, 160], i32[N], f32[2, N, 20], f32[2, N, 20], f32[2, 60]",
        {s("direction", "bidirectional"), i("hidden_size", 20)}, 3),
      "f32[L, 2, N, 20], f32[2, N, 20], f32[2, N, 20]");
  EXPECT_EQ(t("LSTM", "f32[N, L, 10], f32[1, 80, 10], f32[1, 80, 20]", {i("layout", 1)}, 3),
            "f32[N, L, 1, 20], f32[N, 1, 20], f32[N, 1, 20]");
  EXPECT_EQ(t("GRU", "f32[0, N, 10], f32[1, 60, 10], f32[1, 60, 20]", {}, 2), "f32[0, 1, N, 20], f32[1, N, 20]");
  EXPECT_EQ(t("RNN", "f32[L, N, 10], f32[1, 20, 10], f32[1, 20, 20]"), "f32[L, 1, N, 20]");
  EXPECT_EQ(t("LSTM", "f32[L, N, 10], f32[1, 60, 10], f32[1, 80, 20]"),
            "error: LSTM: not true that axis 1 of W is hidden_size for each gate: 60 and 80");
  EXPECT_EQ(t("LSTM", "f32[L, N, 10], f32[1, 80, 10], f32[1, 80, 20]", {i("hidden_size", 10)}),
            "error: LSTM: not true that hidden_size is the last axis of R: 20 and 10");
  EXPECT_EQ(t("GRU", "f32[L, N, 10], f32[1, 60, 10], f32[1, 60, 20]", {{"activations", Strings{"Tanh"}}}),
            "error: GRU: activations must have 2 elements, but has 1");
  EXPECT_EQ(t("RNN", "f32[L, N, 10], f32[1, 20, 10], f32[1, 20, 20]", {{"activations", Strings{"tanh"}}}),
            "error: RNN: each element of activations must be one of "
            "Relu|Tanh|Sigmoid|Affine|LeakyRelu|ThresholdedRelu|ScaledTanh|HardSigmoid|Elu|Softsign|Softplus, "
            "but one is \"tanh\"");
}

TEST(Quantize, Shapes) {
  InferTester t;
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[]"), "u8[N, 3]");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[3], i8[3]"), "i8[N, 3]");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[3]", {{"output_dtype", DType::kI16}}), "i16[N, 3]");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[3], i8[3]", {{"output_dtype", DType::kU8}}),
            "error: QuantizeLinear: output_dtype is u8, but y_zero_point is i8");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[4]"),
            "error: QuantizeLinear: not true that there is one scale, or one for each position along axis: 4 and 3");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[3], i8[]"),
            "error: QuantizeLinear: y_zero_point and y_scale must have the same rank, but have ranks 0 and 1");
  EXPECT_EQ(t("QuantizeLinear", "f32[N, 3], f32[1], i8[]"), "i8[N, 3]");
  EXPECT_EQ(t("DequantizeLinear", "i8[N, 10], f16[N, 3]", {i("block_size", 4)}), "f16[N, 10]");
  EXPECT_EQ(t("DequantizeLinear", "i8[N, 10], f16[N, 2]", {i("block_size", 4)}),
            "error: DequantizeLinear: not true that there is one scale for each block of x: 2 and 3");
  EXPECT_EQ(t("DequantizeLinear", "i32[], f32[]"), "f32[]");
  EXPECT_EQ(t("DynamicQuantizeLinear", "f32[N, 3]", {}, 3), "u8[N, 3], f32[], u8[]");
  EXPECT_EQ(t("QLinearConv", "u8[N, 3, H], f32[], u8[], i8[4, 3, 3], f32[4], i8[], f32[], u8[], i32[4]", {l("pads", {1, 1})}),
            "u8[N, 4, H]");
}

TEST(Image, Shapes) {
  InferTester t;
  EXPECT_EQ(t("Resize", "f32[N, 3, H, W]; 2*H, 2*W", {l("axes", {2, 3})}), "f32[N, 3, 2*H, 2*W]");
  EXPECT_EQ(t("Resize", "f32[N, 3, H, W]; N, 3, 640, 640"), "f32[N, 3, 640, 640]");
  EXPECT_EQ(t.conditions(), (Conditions{"1 <= H", "1 <= W"}));
  EXPECT_EQ(t("Resize", "f32[1, 3, 0]; 1, 3, 5"), "error: Resize: not true that an axis without elements isn't enlarged: 1 and 0");
  EXPECT_EQ(t("Resize", "f32[1, 3, 5]; 1, 3, 0"), "f32[1, 3, 0]");
  EXPECT_EQ(t("Resize", "f32[1, 3, 5]; 1, 3"), "error: Resize: takes one size for each of 3 axes, but has 2");
  EXPECT_EQ(t("Resize", "f32[1, 3, 5]; 10", {l("axes", {2}), {"scales", Floats{0.0}}}),
            "error: Resize: scales: each must be greater than 0, but one is 0");
  EXPECT_EQ(t("Resize", "f32[1, 3, 5], f32[1]; 10", {l("axes", {2})}), "f32[1, 3, 10]");
  EXPECT_EQ(t("Resize", "f32[1, 3, 5]; 10", {l("axes", {2}), s("coordinate_transformation_mode", "tf_crop_and_resize")}),
            "error: Resize: roi is needed for tf_crop_and_resize");
  EXPECT_EQ(t("GridSample", "f32[N, 3, H, W], f32[N, 5, 6, 2]"), "f32[N, 3, 5, 6]");
  EXPECT_EQ(t("GridSample", "f32[N, 3, H, W], f32[N, 5, 6, 3]"),
            "error: GridSample: not true that the last axis of grid holds one coordinate for each spatial axis of X: 3 and 2");
  EXPECT_EQ(t("AffineGrid", "f32[N, 2, 3]; N, 3, H, W"), "f32[N, H, W, 2]");
  EXPECT_EQ(t("AffineGrid", "f32[N, 3, 4]; N, 3, 5, H, W"), "f32[N, 5, H, W, 3]");
  EXPECT_EQ(t("AffineGrid", "f32[N, 2, 3]; N, 3, 5, H, W"),
            "error: AffineGrid: not true that theta has one row for each spatial axis: 2 and 3");
}

TEST(Detection, Shapes) {
  InferTester t;
  EXPECT_EQ(t("NonMaxSuppression", "f32[N, K, 4], f32[N, 80, K], i64[1], f32[], f32[1]"), "i64[?, 3]");
  EXPECT_EQ(t("NonMaxSuppression", "f32[1, 10, 4], f32[1, 80, 11]"),
            "error: NonMaxSuppression: not true that there is one score for each box: 10 and 11");
  EXPECT_EQ(t("RoiAlign", "f32[N, 256, H, W], f32[K, 4], i64[K]", {i("output_height", 7), i("output_width", 7)}),
            "f32[K, 256, 7, 7]");
  EXPECT_EQ(t("RoiAlign", "f32[N, 256, H, W], f32[0, 4], i64[0]"), "f32[0, 256, 1, 1]");
}

TEST(Signal, Shapes) {
  InferTester t;
  EXPECT_EQ(t("DFT", "f32[N, L, 1]"), "f32[N, L, 2]");
  EXPECT_EQ(t("DFT", "f32[N, L, 1]; 16", {i("onesided", 1)}), "f32[N, 9, 2]");
  EXPECT_EQ(t("DFT", "f32[N, 9, 2]", {i("onesided", 1), i("inverse", 1)}), "f32[N, 16, 1]");
  EXPECT_EQ(t("DFT", "f32[N, 9, 2]", {i("onesided", 1)}),
            "error: DFT: not true that a onesided transform goes from real to complex, its inverse from complex to real: 2 and 1");
  EXPECT_EQ(t("DFT", "f32[N, 9, 2]", {axis(-1)}), "error: DFT: axis can't be the last one, which holds real and imaginary part");
  EXPECT_EQ(t("STFT", "f32[N, L, 1], f32[400]; 160, 400"), "f32[N, floordiv(L + 80, 160) - 2, 201, 2]");
  EXPECT_EQ(t("STFT", "f32[N, 100, 1]; 160, 400"), "error: STFT: not true that a frame is no longer than the signal: 400 and 100");
  EXPECT_EQ(t("HannWindow", "; 400"), "f32[400]");
  EXPECT_EQ(t("BlackmanWindow", "; 0", {{"output_datatype", DType::kF64}}), "f64[0]");
  EXPECT_EQ(t("MelWeightMatrix", "f32[], f32[]; 80, 400, 16000"), "f32[201, 80]");
}

}  // namespace
}  // namespace msvm
