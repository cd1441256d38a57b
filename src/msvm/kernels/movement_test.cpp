#include "msvm/kernels/op_testing.h"

namespace msvm {
namespace {
using namespace testing;
using Ints = std::vector<int64_t>;

const DType kOfEachSize[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kI64};

Tensor counting(DType t, const Shape& shape) {
  Tensor x(t, shape);
  std::vector<double> v(static_cast<size_t>(size_of(shape)));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i % 101);
  x.set(v);
  return x;
}

/// Output element by index, from a function of the index.
template <class F>
std::vector<double> made(const Shape& shape, F&& f) {
  std::vector<double> out;
  each_index(shape, [&](const Shape& i) { out.push_back(f(i)); });
  return out;
}

/// Runs dense and strided inputs, into dense and strided outputs.
void expect_values(OpCall call, const std::vector<double>& want, const std::string& what) {
  EXPECT_EQ(values_of(call), want) << what;
  std::vector<Tensor> keep;
  keep.reserve(call.inputs.size());
  for (auto& in : call.inputs)
    if (in) {
      keep.push_back(strided(*in));
      in = &keep.back();
    }
  if (!find_op(call.op)->data_dependent) call.strided_outputs = true;
  EXPECT_EQ(values_of(call), want) << what << " with gaps";
}

TEST(Copy, AnyStridesBothWays) {
  for (DType t : kOfEachSize)
    for (const Shape& shape : std::vector<Shape>{{}, {0}, {1}, {7}, {3, 0}, {5, 4}, {33, 65}, {64, 3}, {3, 64}, {2, 3, 4, 5}, {4, 37, 5, 2}, {2, 1, 2, 3, 1, 2, 2, 2}}) {
      Tensor x = counting(t, shape);
      for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
          Tensor source = from ? strided(x) : x, target(t, shape);
          if (to) target = strided(target);
          ASSERT_TRUE(copy(source.meta, target.meta, workers(2)).ok());
          EXPECT_EQ(target.values(), x.values()) << dtype_name(t);
        }
    }
}

TEST(Copy, BigOnesGiveTheSameBytesWithAnyThreads) {
  Tensor x = random_tensor({61, 97, 53}, 1);
  for (const Ints& perm : std::vector<Ints>{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}}) {
    OpCall call{.op = "Transpose", .inputs = {&x}, .attrs = {{"perm", perm}}, .threads = 1};
    auto one = run_op(call);
    const auto v = x.values();
    EXPECT_EQ((*one)[0].values(), made((*one)[0].shape(), [&](const Shape& i) {
      Shape s(3);
      for (size_t a = 0; a < 3; ++a) s[static_cast<size_t>(perm[a])] = i[a];
      return v[flat_of(x.shape(), s)];
    }));
    for (call.threads = 2; call.threads <= 3; ++call.threads) EXPECT_TRUE(same_bits((*one)[0], (*run_op(call))[0]));
  }
}

TEST(Movement, ConcatAndStack) {
  for (DType t : kOfEachSize)
    for (int64_t axis : {0, 1, -1}) {
      Shape sa = {2, 3, 4}, sb = {2, 3, 4}, sc = {2, 3, 4};
      const auto k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      sb[k] = 0, sc[k] = 5;
      Tensor a = counting(t, sa), b = counting(t, sb), c = counting(t, sc);
      Shape out = sa;
      out[k] = sa[k] + 5;
      auto av = a.values(), cv = c.values();
      expect_values({.op = "Concat", .inputs = {&a, &b, &c}, .attrs = {{"axis", axis}}}, made(out, [&](Shape i) {
                      if (i[k] < sa[k]) return av[flat_of(sa, i)];
                      i[k] -= sa[k];
                      return cv[flat_of(sc, i)];
                    }),
                    "Concat");
    }
  Tensor a = counting(DType::kF32, {2, 2}), b = counting(DType::kF32, {2, 2});
  b.set({9, 8, 7, 6});
  expect_values({.op = "msvm.Stack", .inputs = {&a, &b}, .attrs = {{"axis", int64_t{0}}}}, {0, 1, 2, 3, 9, 8, 7, 6}, "Stack");
  expect_values({.op = "msvm.Stack", .inputs = {&a, &b}, .attrs = {{"axis", int64_t{-1}}}}, {0, 9, 1, 8, 2, 7, 3, 6}, "Stack");
  Tensor row = counting(DType::kF32, {1, 2});
  row.set({5, 4});
  expect_values({.op = "msvm.Assign", .inputs = {&b, &row}, .args = {1}, .attrs = {{"axes", std::vector<int64_t>{0}}}}, {9, 8, 5, 4}, "Assign");
  Tensor one = counting(DType::kF32, {1, 1});
  expect_values({.op = "msvm.Assign", .inputs = {&b, &one}, .args = {0, 1}, .attrs = {{"axes", std::vector<int64_t>{-2, 1}}}}, {9, 0, 7, 6}, "Assign");
  Tensor s = counting(DType::kF32, {});
  expect_values({.op = "msvm.Stack", .inputs = {&s, &s, &s}, .attrs = {{"axis", int64_t{0}}}}, {0, 0, 0}, "Stack");
}

TEST(Movement, SliceWithStepsOfBothSigns) {
  Tensor x = counting(DType::kF32, {10});
  auto slice = [&](int64_t start, int64_t end, int64_t step) { return OpCall{.op = "Slice", .inputs = {&x}, .args = {start, end}, .attrs = {{"axes", Ints{0}}, {"steps", Ints{step}}}}; };
  expect_values(slice(2, 7, 2), {2, 4, 6}, "2:7:2");
  expect_values(slice(-3, INT64_MAX, 1), {7, 8, 9}, "-3:");
  expect_values(slice(8, -20, -3), {8, 5, 2}, "8::-3");
  expect_values(slice(INT64_MAX, INT64_MIN, -1), {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, "::-1");
  expect_values(slice(5, 5, 1), {}, "empty");
  expect_values(slice(20, 30, 1), {}, "beyond");
  expect_values(slice(3, 9, INT64_MAX), {3}, "a huge step");
  expect_values(slice(9, 0, INT64_MIN + 1), {9}, "a huge negative step");
  Tensor y = counting(DType::kI64, {4, 5, 3});
  auto v = y.values();
  expect_values({.op = "Slice", .inputs = {&y}, .args = {3, -4, -5, 5}, .attrs = {{"axes", Ints{0, 1}}, {"steps", Ints{-2, 2}}}},
                made({2, 2, 3}, [&](const Shape& i) { return v[static_cast<size_t>((3 - 2 * i[0]) * 15 + (1 + 2 * i[1]) * 3 + i[2])]; }), "two axes");
  Tensor none(DType::kF32, {0, 3});
  expect_values({.op = "Slice", .inputs = {&none}, .args = {-1, -9}, .attrs = {{"axes", Ints{0}}, {"steps", Ints{-1}}}}, {}, "of nothing");
}

TEST(Movement, PadInEveryMode) {
  for (DType t : kOfEachSize) {
    Tensor x = counting(t, {3, 4}), value = tensor(t, {}, {77});
    auto v = x.values();
    auto source = [](int64_t i, int64_t n, const std::string& mode) -> int64_t {
      if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
      if (mode == "wrap") return ((i % n) + n) % n;
      while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
      return i;
    };
    for (std::string mode : {"reflect", "edge", "wrap"})
      expect_values({.op = "Pad", .inputs = {&x}, .args = {2, 1, 1, 3}, .attrs = {{"mode", mode}}},
                    made({6, 8}, [&](const Shape& i) { return v[static_cast<size_t>(source(i[0] - 2, 3, mode) * 4 + source(i[1] - 1, 4, mode))]; }), mode);
    for (bool given : {false, true})
      expect_values({.op = "Pad", .inputs = {&x, given ? &value : nullptr}, .args = {1, 0, 2, 1}},
                    made({6, 5}, [&](const Shape& i) { return i[0] < 1 || i[0] > 3 || i[1] > 3 ? (given ? 77.0 : 0.0) : v[static_cast<size_t>((i[0] - 1) * 4 + i[1])]; }), "constant");
    expect_values({.op = "Pad", .inputs = {&x}, .args = {-1, -2, 2, -1}}, {6, 10, 0, 0}, "crop");
    expect_values({.op = "Pad", .inputs = {&x}, .args = {0, -1, 0, 2}, .attrs = {{"mode", std::string("reflect")}}}, {1, 2, 3, 2, 1, 5, 6, 7, 6, 5, 9, 10, 11, 10, 9}, "crop and reflect");
  }
  Tensor e(DType::kF32, {0, 2});
  EXPECT_EQ(values_of({.op = "Pad", .inputs = {&e}, .args = {1, 0, 1, 0}}), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_NE(code_of({.op = "Pad", .inputs = {&e}, .args = {1, 0, 1, 0}, .attrs = {{"mode", std::string("edge")}}}), StatusCode::kOk);
  Tensor s = tensor(DType::kF32, {}, {4});
  EXPECT_EQ(values_of({.op = "Pad", .inputs = {&s}}), (std::vector<double>{4}));
  Tensor x = tensor(DType::kF32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values_of({.op = "CenterCropPad", .inputs = {&x}, .args = {5, 1}}), (std::vector<double>{0, 1, 3, 0, 0}));
}

TEST(Movement, TileExpandReshape) {
  for (DType t : kOfEachSize) {
    Tensor x = counting(t, {2, 3});
    auto v = x.values();
    expect_values({.op = "Tile", .inputs = {&x}, .args = {2, 3}}, made({4, 9}, [&](const Shape& i) { return v[static_cast<size_t>(i[0] % 2 * 3 + i[1] % 3)]; }), "Tile");
    expect_values({.op = "Tile", .inputs = {&x}, .args = {0, 3}}, {}, "Tile");
    Tensor shape = tensor(DType::kI64, {3}, {2, 1, 3});
    Tensor y = counting(t, {2, 1});
    expect_values({.op = "Expand", .inputs = {&y, &shape}}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}, "Expand");
    Tensor to = tensor(DType::kI64, {3}, {0, -1, 1});
    expect_values({.op = "Reshape", .inputs = {&x, &to}}, v, "Reshape");
    EXPECT_EQ(shape_of({.op = "Reshape", .inputs = {&x, &to}}), (Shape{2, 3, 1}));
  }
  Tensor x = counting(DType::kF32, {2, 3});
  for (const std::vector<double>& bad : std::vector<std::vector<double>>{{-1, -1}, {4, -1}, {7}, {-2, 3}, {0, 0, 0}, {0, -1, 0}}) {
    Tensor s = tensor(DType::kI64, {static_cast<int64_t>(bad.size())}, bad);
    EXPECT_EQ(code_of({.op = "Reshape", .inputs = {&x, &s}}), StatusCode::kShapeMismatch);
  }
  Tensor zero = tensor(DType::kI64, {2}, {0, 5}), empty(DType::kF32, {3, 0});
  EXPECT_EQ(shape_of({.op = "Reshape", .inputs = {&empty, &zero}, .attrs = {{"allowzero", int64_t{1}}}}), (Shape{0, 5}));
  Tensor huge(DType::kI64, {2});
  huge.meta.as<int64_t>()[0] = huge.meta.as<int64_t>()[1] = int64_t{1} << 40;
  EXPECT_NE(code_of({.op = "Expand", .inputs = {&x, &huge}}), StatusCode::kOk);
}

TEST(Movement, RanksKnownAtRunTimeOnly) {
  Tensor x = counting(DType::kF32, {1, 3, 1, 2});
  EXPECT_EQ(shape_of({.op = "Squeeze", .inputs = {&x}}), (Shape{3, 2}));
  EXPECT_EQ(shape_of({.op = "Squeeze", .inputs = {&x}, .attrs = {{"axes", Ints{-2}}}}), (Shape{1, 3, 2}));
  EXPECT_EQ(shape_of({.op = "Unsqueeze", .inputs = {&x}, .attrs = {{"axes", Ints{0, -1}}}}), (Shape{1, 1, 3, 1, 2, 1}));
  EXPECT_EQ(shape_of({.op = "Flatten", .inputs = {&x}, .attrs = {{"axis", int64_t{2}}}}), (Shape{3, 2}));
  EXPECT_EQ(shape_of({.op = "Flatten", .inputs = {&x}, .attrs = {{"axis", int64_t{0}}}}), (Shape{1, 6}));
  EXPECT_EQ(values_of({.op = "Shape", .inputs = {&x}}), (std::vector<double>{1, 3, 1, 2}));
  EXPECT_EQ(values_of({.op = "Shape", .inputs = {&x}, .attrs = {{"start", int64_t{-3}}, {"end", int64_t{-1}}}}), (std::vector<double>{3, 1}));
  EXPECT_EQ(values_of({.op = "Size", .inputs = {&x}}), (std::vector<double>{6}));
}

TEST(Movement, BlocksMoveBetweenDepthAndSpace) {
  Tensor x = counting(DType::kF32, {2, 12, 2, 3});
  auto v = x.values();
  for (std::string mode : {"DCR", "CRD"}) {
    auto want = made({2, 3, 4, 6}, [&](const Shape& i) {
      const int64_t a = i[2] % 2, b = i[3] % 2, c = mode == "DCR" ? (a * 2 + b) * 3 + i[1] : i[1] * 4 + a * 2 + b;
      return v[flat_of(x.shape(), {i[0], c, i[2] / 2, i[3] / 2})];
    });
    OpCall call{.op = "DepthToSpace", .inputs = {&x}, .attrs = {{"blocksize", int64_t{2}}, {"mode", mode}}};
    expect_values(call, want, mode);
    auto wide = run_op(call);
    expect_values({.op = "SpaceToDepth", .inputs = {&(*wide)[0]}, .attrs = {{"blocksize", int64_t{2}}, {"mode", mode}}}, v, "and back");
  }
}

TEST(Movement, ReverseSequenceAndTriangles) {
  Tensor x = counting(DType::kF32, {4, 3}), n = tensor(DType::kI64, {3}, {4, 1, 3});
  expect_values({.op = "ReverseSequence", .inputs = {&x, &n}}, {9, 1, 8, 6, 4, 5, 3, 7, 2, 0, 10, 11}, "time first");
  Tensor m = tensor(DType::kI64, {4}, {0, 1, 2, 3});
  expect_values({.op = "ReverseSequence", .inputs = {&x, &m}, .attrs = {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}}, {0, 1, 2, 3, 4, 5, 7, 6, 8, 11, 10, 9}, "batch first");
  Tensor bad = tensor(DType::kI64, {3}, {5, 1, 1});
  EXPECT_EQ(code_of({.op = "ReverseSequence", .inputs = {&x, &bad}}), StatusCode::kOutOfRange);
  Tensor t = counting(DType::kF32, {2, 3, 4});
  auto v = t.values();
  for (int64_t upper : {0, 1})
    for (int64_t k : {-9, -2, 0, 1, 3, 100})
      expect_values({.op = "Trilu", .inputs = {&t}, .args = {k}, .attrs = {{"upper", upper}}},
                    made({2, 3, 4}, [&](const Shape& i) { return (upper ? i[2] - i[1] >= k : i[2] - i[1] <= k) ? v[flat_of(t.shape(), i)] : 0.0; }), "Trilu");
  EXPECT_EQ(code_of({.op = "Trilu", .inputs = {&t}, .args = {INT64_MIN}}), StatusCode::kOk);
}

TEST(Creation, RangeIotaFillEye) {
  Tensor a = tensor(DType::kF32, {}, {1}), b = tensor(DType::kF32, {}, {2}), d = tensor(DType::kF32, {1}, {0.25});
  EXPECT_EQ(values_of({.op = "Range", .inputs = {&a, &b, &d}}), (std::vector<double>{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(values_of({.op = "Range", .inputs = {&b, &a, &d}}), (std::vector<double>{}));
  Tensor i = tensor(DType::kI64, {}, {10}), j = tensor(DType::kI64, {}, {-1}), s = tensor(DType::kI64, {}, {-4}), z = tensor(DType::kI64, {}, {0});
  EXPECT_EQ(values_of({.op = "Range", .inputs = {&i, &j, &s}}), (std::vector<double>{10, 6, 2}));
  EXPECT_EQ(code_of({.op = "Range", .inputs = {&i, &j, &z}}), StatusCode::kOutOfRange);
  Tensor nan = tensor(DType::kF32, {}, {NAN});
  EXPECT_EQ(code_of({.op = "Range", .inputs = {&a, &b, &nan}}), StatusCode::kOutOfRange);
  EXPECT_EQ(values_of({.op = "msvm.Iota", .args = {5, 4, -2}}), (std::vector<double>{5, 3, 1, -1}));
  EXPECT_EQ(values_of({.op = "msvm.Iota", .args = {0, 3, 1}, .attrs = {{"dtype", DType::kF16}}, .strided_outputs = true}), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(code_of({.op = "msvm.Iota", .args = {0, 300, 1}, .attrs = {{"dtype", DType::kU8}}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "msvm.Iota", .args = {INT64_MAX, 2, 1}}), StatusCode::kOutOfRange);
  for (DType t : {DType::kF32, DType::kF16, DType::kI8, DType::kU64})
    EXPECT_EQ(values_of({.op = "msvm.Fill", .args = {2, 3}, .attrs = {{"dtype", t}, {"value", int64_t{7}}}, .strided_outputs = true}), (std::vector<double>(6, 7)));
  EXPECT_EQ(values_of({.op = "msvm.Fill", .attrs = {{"value", 2.5}}}), (std::vector<double>{2.5}));
  EXPECT_EQ(values_of({.op = "msvm.Fill", .args = {2}, .attrs = {{"dtype", DType::kBool}, {"value", int64_t{256}}}}), (std::vector<double>{1, 1}));
  EXPECT_EQ(values_of({.op = "msvm.ShapeTensor", .args = {4, 5, 6}}), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(values_of({.op = "msvm.ShapeTensor", .args = {4}, .attrs = {{"scalar", int64_t{1}}}}), (std::vector<double>{4}));
  Tensor m(DType::kF32, {2, 3});
  EXPECT_EQ(values_of({.op = "EyeLike", .inputs = {&m}, .attrs = {{"k", int64_t{1}}}, .strided_outputs = true}), (std::vector<double>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values_of({.op = "EyeLike", .inputs = {&m}, .attrs = {{"k", INT64_MIN}, {"dtype", DType::kI8}}}), (std::vector<double>(6, 0)));
}

TEST(Creation, RandomNumbersAreFunctionsOfTheKey) {
  Tensor key = tensor(DType::kU64, {2}, {42, 7});
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    OpCall call{.op = "RandomUniform", .inputs = {&key}, .args = {200, 50}, .attrs = {{"dtype", t}, {"low", -2.0}, {"high", 3.0}}, .outputs = 2, .threads = 1};
    auto one = run_op(call);
    ASSERT_TRUE(one.ok()) << one.status().message();
    call.threads = 3;
    EXPECT_TRUE(same_bits((*one)[0], (*run_op(call))[0]));
    double sum = 0;
    for (double v : (*one)[0].values()) {
      EXPECT_TRUE(v >= -2 && v < 3) << v;
      sum += v;
    }
    EXPECT_NEAR(sum / 10000, 0.5, 0.06);
    EXPECT_FALSE(same_bits((*one)[1], key));
  }
  auto normal = values_of({.op = "RandomNormal", .inputs = {&key}, .args = {20000}, .attrs = {{"mean", 1.0}, {"scale", 2.0}}, .outputs = 2});
  double sum = 0, squares = 0;
  for (double v : normal) sum += v, squares += (v - 1) * (v - 1);
  EXPECT_NEAR(sum / 20000, 1, 0.06);
  EXPECT_NEAR(squares / 20000, 4, 0.2);
  Tensor p = tensor(DType::kF32, {4}, {0, 1, 0, 1});
  EXPECT_EQ(values_of({.op = "Bernoulli", .inputs = {&key, &p}, .outputs = 2}), (std::vector<double>{0, 1, 0, 1}));
  Tensor logits = tensor(DType::kF32, {1, 3}, {-INFINITY, 0, -INFINITY});
  EXPECT_EQ(values_of({.op = "Multinomial", .inputs = {&key, &logits}, .args = {3}, .outputs = 2}), (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace msvm
