#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "msvm/kernels/op_testing.h"
#include "msvm/kernels/polled.h"

namespace msvm {
namespace {
using namespace testing;
using Ints = std::vector<int64_t>;

const DType kOfEachSize[] = {DType::kU8, DType::kF16, DType::kF32, DType::kI64};

Tensor counting(DType t, const Shape& shape) {
  Tensor x(t, shape);
  std::vector<double> v(static_cast<size_t>(size_of(shape)));
  std::iota(v.begin(), v.end(), 0.0);
  x.set(v);
  return x;
}
Tensor indices(const Shape& shape, int64_t size, unsigned seed, DType t = DType::kI64) { return random_tensor(shape, seed, t, static_cast<double>(-size), static_cast<double>(size)); }

/// Dense and with gaps.
template <class F>
void both(std::vector<const Tensor*> in, F&& f) {
  f(in, false);
  std::vector<Tensor> keep;
  keep.reserve(in.size());
  for (auto& t : in)
    if (t) {
      keep.push_back(strided(*t));
      t = &keep.back();
    }
  f(in, true);
}

TEST(Gather, AlongEveryAxis) {
  for (DType t : kOfEachSize)
    for (const Shape& shape : std::vector<Shape>{{7}, {3, 5}, {4, 2, 6}, {2, 3, 2, 3}})
      for (const Shape& is : std::vector<Shape>{{}, {1}, {4}, {2, 3}, {0}})
        for (size_t axis = 0; axis < shape.size(); ++axis) {
          Tensor x = counting(t, shape), i = indices(is, shape[axis], 5, axis % 2 ? DType::kI32 : DType::kI64);
          auto xv = x.values(), iv = i.values();
          Shape out(shape.begin(), shape.begin() + static_cast<int64_t>(axis));
          out.insert(out.end(), is.begin(), is.end());
          out.insert(out.end(), shape.begin() + static_cast<int64_t>(axis) + 1, shape.end());
          std::vector<double> want;
          each_index(out, [&](const Shape& o) {
            Shape at(o.begin() + static_cast<int64_t>(axis), o.begin() + static_cast<int64_t>(axis + is.size()));
            Shape from(o.begin(), o.begin() + static_cast<int64_t>(axis));
            auto k = static_cast<int64_t>(iv[flat_of(is, at)]);
            from.push_back(k < 0 ? k + shape[axis] : k);
            from.insert(from.end(), o.begin() + static_cast<int64_t>(axis + is.size()), o.end());
            want.push_back(xv[flat_of(shape, from)]);
          });
          both({&x, &i}, [&](auto in, bool gaps) {
            EXPECT_EQ(values_of({.op = "Gather", .inputs = in, .attrs = {{"axis", static_cast<int64_t>(axis) - (gaps ? static_cast<int64_t>(shape.size()) : 0)}}, .strided_outputs = gaps}), want);
          });
        }
  Tensor x = counting(DType::kF32, {3}), bad = tensor(DType::kI64, {2}, {0, 3}), low = tensor(DType::kI32, {1}, {-4});
  EXPECT_EQ(code_of({.op = "Gather", .inputs = {&x, &bad}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "Gather", .inputs = {&x, &low}}), StatusCode::kOutOfRange);
  Tensor empty(DType::kF32, {0, 4}), one = tensor(DType::kI64, {1}, {0});
  EXPECT_EQ(code_of({.op = "Gather", .inputs = {&empty, &one}}), StatusCode::kOutOfRange);
  Tensor huge(DType::kI64, {1});
  huge.meta.as<int64_t>()[0] = INT64_MIN;
  EXPECT_EQ(code_of({.op = "Gather", .inputs = {&x, &huge}}), StatusCode::kOutOfRange);
}

TEST(Gather, BigTablesGiveTheSameBytesWithAnyThreads) {
  Tensor x = random_tensor({5000, 48}, 1), i = indices({2000}, 5000, 2);
  OpCall call{.op = "Gather", .inputs = {&x, &i}, .threads = 1};
  auto one = run_op(call);
  for (call.threads = 2; call.threads <= 3; ++call.threads) EXPECT_TRUE(same_bits((*one)[0], (*run_op(call))[0]));
}

TEST(Gather, ElementsAndTuples) {
  for (DType t : kOfEachSize) {
    const Shape shape = {4, 5, 3}, is = {2, 7, 3};
    Tensor x = counting(t, shape), i = indices(is, 5, 3);
    auto iv = i.values();
    std::vector<double> want;
    each_index(is, [&](const Shape& o) {
      auto k = static_cast<int64_t>(iv[flat_of(is, o)]);
      want.push_back(x.values()[flat_of(shape, {o[0], k < 0 ? k + 5 : k, o[2]})]);
    });
    both({&x, &i}, [&](auto in, bool gaps) { EXPECT_EQ(values_of({.op = "GatherElements", .inputs = in, .attrs = {{"axis", int64_t{1}}}, .strided_outputs = gaps}), want); });

    Tensor tuples = tensor(DType::kI64, {2, 2}, {0, -1, 3, 2});
    both({&x, &tuples}, [&](auto in, bool gaps) {
      EXPECT_EQ(values_of({.op = "GatherND", .inputs = in, .strided_outputs = gaps}), (std::vector<double>{12, 13, 14, 51, 52, 53}));
    });
    Tensor batched = tensor(DType::kI64, {4, 1, 1}, {0, 1, 2, -1});
    both({&x, &batched}, [&](auto in, bool gaps) {
      EXPECT_EQ(values_of({.op = "GatherND", .inputs = in, .attrs = {{"batch_dims", int64_t{1}}}, .strided_outputs = gaps}), (std::vector<double>{0, 1, 2, 18, 19, 20, 36, 37, 38, 57, 58, 59}));
    });
  }
  Tensor x = counting(DType::kF32, {2, 2}), bad = tensor(DType::kI64, {1, 2}, {1, 2}), e = tensor(DType::kI64, {1, 1}, {-3});
  EXPECT_EQ(code_of({.op = "GatherND", .inputs = {&x, &bad}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "GatherElements", .inputs = {&x, &e}}), StatusCode::kOutOfRange);
}

TEST(Scatter, ElementsWithEveryReduction) {
  struct Row { const char* how; double (*f)(double, double); };
  const Row kRows[] = {{"none", [](double, double b) { return b; }}, {"add", [](double a, double b) { return a + b; }}, {"mul", [](double a, double b) { return a * b; }},
                       {"max", [](double a, double b) { return std::max(a, b); }}, {"min", [](double a, double b) { return std::min(a, b); }}};
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32, DType::kI64, DType::kU8, DType::kU64})
    for (const Row& row : kRows) {
      Tensor x = random_tensor({3, 4}, 1, t, 0, 3), u = random_tensor({2, 4}, 2, t, 0, 3), i = indices({2, 4}, 3, 3);
      std::vector<double> v = x.values(), uv = u.values(), iv = i.values();
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t c = 0; c < 4; ++c) {
          auto k = static_cast<int64_t>(iv[static_cast<size_t>(r * 4 + c)]);
          double& to = v[static_cast<size_t>((k < 0 ? k + 3 : k) * 4 + c)];
          to = row.f(to, uv[static_cast<size_t>(r * 4 + c)]);
        }
      both({&x, &i, &u}, [&](auto in, bool gaps) {
        EXPECT_LE(difference(values_of({.op = "ScatterElements", .inputs = in, .attrs = {{"axis", int64_t{0}}, {"reduction", std::string(row.how)}}, .strided_outputs = gaps}), v), step_of(t) * 2) << row.how;
      });
    }
  Tensor x = counting(DType::kF32, {3}), i = tensor(DType::kI32, {2}, {0, 3}), u = tensor(DType::kF32, {2}, {7, 8});
  EXPECT_EQ(code_of({.op = "ScatterElements", .inputs = {&x, &i, &u}}), StatusCode::kOutOfRange);
}

TEST(Scatter, TuplesAndCaches) {
  for (DType t : kOfEachSize) {
    Tensor x = counting(t, {3, 2}), i = tensor(DType::kI64, {2, 1}, {2, -3}), u = tensor(t, {2, 2}, {50, 51, 52, 53});
    both({&x, &i, &u}, [&](auto in, bool gaps) {
      EXPECT_EQ(values_of({.op = "ScatterND", .inputs = in, .strided_outputs = gaps}), (std::vector<double>{52, 53, 2, 3, 50, 51}));
      EXPECT_EQ(values_of({.op = "ScatterND", .inputs = in, .attrs = {{"reduction", std::string("add")}}, .strided_outputs = gaps}), (std::vector<double>{52, 54, 2, 3, 54, 56}));
    });
    Tensor past = counting(t, {2, 4, 2}), update = tensor(t, {2, 2, 2}, {90, 91, 92, 93, 94, 95, 96, 97}), at = tensor(DType::kI64, {2}, {1, 2}), wrap = tensor(DType::kI64, {2}, {3, 0});
    both({&past, &update, &at}, [&](auto in, bool gaps) {
      EXPECT_EQ(values_of({.op = "TensorScatter", .inputs = in, .strided_outputs = gaps}), (std::vector<double>{0, 1, 90, 91, 92, 93, 6, 7, 8, 9, 10, 11, 94, 95, 96, 97}));
    });
    EXPECT_EQ(values_of({.op = "TensorScatter", .inputs = {&past, &update, &wrap}, .attrs = {{"mode", std::string("circular")}}}),
              (std::vector<double>{92, 93, 2, 3, 4, 5, 90, 91, 94, 95, 96, 97, 12, 13, 14, 15}));
    EXPECT_EQ(code_of({.op = "TensorScatter", .inputs = {&past, &update, &wrap}}), StatusCode::kOutOfRange);
  }
}

TEST(OneHot, PlacesTheOnValue) {
  for (DType t : kOfEachSize) {
    Tensor i = tensor(DType::kI64, {3}, {1, -1, 5}), v = tensor(t, {2}, {3, 9});
    both({&i, &v}, [&](auto in, bool gaps) {
      EXPECT_EQ(values_of({.op = "OneHot", .inputs = in, .args = {4}, .strided_outputs = gaps}), (std::vector<double>{3, 9, 3, 3, 3, 3, 3, 9, 3, 3, 3, 3}));
      EXPECT_EQ(values_of({.op = "OneHot", .inputs = in, .args = {2}, .attrs = {{"axis", int64_t{0}}}, .strided_outputs = gaps}), (std::vector<double>{3, 3, 3, 9, 9, 3}));
    });
    Tensor f = tensor(DType::kF32, {}, {2});
    EXPECT_EQ(values_of({.op = "OneHot", .inputs = {&f, &v}, .args = {3}}), (std::vector<double>{3, 3, 9}));
    EXPECT_EQ(values_of({.op = "OneHot", .inputs = {&f, &v}, .args = {0}}), (std::vector<double>{}));
  }
}

TEST(Select, CompressAndNonZero) {
  Tensor x = counting(DType::kF32, {2, 3}), c = tensor(DType::kBool, {2}, {0, 1}), f = tensor(DType::kBool, {5}, {1, 0, 1, 1, 0});
  c.meta.as<uint8_t>()[1] = 8;
  both({&x, &c}, [&](auto in, bool) {
    EXPECT_EQ(values_of({.op = "Compress", .inputs = in, .attrs = {{"axis", int64_t{0}}}}), (std::vector<double>{3, 4, 5}));
    EXPECT_EQ(values_of({.op = "Compress", .inputs = in, .attrs = {{"axis", int64_t{-1}}}}), (std::vector<double>{1, 4}));
  });
  both({&x, &f}, [&](auto in, bool) { EXPECT_EQ(values_of({.op = "Compress", .inputs = in}), (std::vector<double>{0, 2, 3})); });
  both({&x}, [&](auto in, bool) { EXPECT_EQ(values_of({.op = "NonZero", .inputs = in}), (std::vector<double>{0, 0, 1, 1, 1, 1, 2, 0, 1, 2})); });
  for (DType t : {DType::kBool, DType::kI8, DType::kI16, DType::kF16, DType::kF64, DType::kU64}) {
    Tensor y = tensor(t, {4}, {0, 1, 0, 1});
    EXPECT_EQ(values_of({.op = "NonZero", .inputs = {&y}}), (std::vector<double>{1, 3}));
  }
  Tensor s = tensor(DType::kF32, {}, {-0.0}), n = tensor(DType::kF32, {}, {2});
  EXPECT_EQ(shape_of({.op = "NonZero", .inputs = {&s}}), (Shape{1, 0}));
  EXPECT_EQ(shape_of({.op = "NonZero", .inputs = {&n}}), (Shape{1, 1}));
}

TEST(Select, TopK) {
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kU8, DType::kI64}) {
    Tensor x = tensor(t, {2, 5}, {3, 1, 4, 1, 5, 2, 7, 1, 8, 2});
    both({&x}, [&](auto in, bool gaps) {
      auto r = run_op({.op = "TopK", .inputs = in, .args = {3}, .outputs = 2, .strided_outputs = gaps});
      ASSERT_TRUE(r.ok());
      EXPECT_EQ((*r)[0].values(), (std::vector<double>{5, 4, 3, 8, 7, 2}));
      EXPECT_EQ((*r)[1].values(), (std::vector<double>{4, 2, 0, 3, 1, 0}));
      r = run_op({.op = "TopK", .inputs = in, .args = {2}, .attrs = {{"largest", int64_t{0}}}, .outputs = 2, .strided_outputs = gaps});
      EXPECT_EQ((*r)[0].values(), (std::vector<double>{1, 1, 1, 2}));
      EXPECT_EQ((*r)[1].values(), (std::vector<double>{1, 3, 2, 0}));
      r = run_op({.op = "TopK", .inputs = in, .args = {1}, .attrs = {{"axis", int64_t{0}}}, .outputs = 2, .strided_outputs = gaps});
      EXPECT_EQ((*r)[0].values(), (std::vector<double>{3, 7, 4, 8, 5}));
      EXPECT_EQ((*r)[1].values(), (std::vector<double>{0, 1, 0, 1, 0}));
    });
    EXPECT_EQ(values_of({.op = "TopK", .inputs = {&x}, .args = {0}, .outputs = 2}), (std::vector<double>{}));
  }
  Tensor nan = tensor(DType::kF32, {3}, {1, NAN, 2});
  auto r = run_op({.op = "TopK", .inputs = {&nan}, .args = {2}, .outputs = 2});
  EXPECT_EQ((*r)[1].values(), (std::vector<double>{1, 2}));
  Tensor big = random_tensor({100, 1000}, 4);
  OpCall call{.op = "TopK", .inputs = {&big}, .args = {10}, .outputs = 2, .threads = 1};
  auto one = run_op(call);
  for (call.threads = 2; call.threads <= 3; ++call.threads) {
    auto more = run_op(call);
    EXPECT_TRUE(same_bits((*one)[0], (*more)[0]) && same_bits((*one)[1], (*more)[1]));
  }
}

TEST(Select, ArgMaxAndArgMin) {
  for (DType t : {DType::kF32, DType::kF64, DType::kBF16, DType::kI16, DType::kU32, DType::kI64})
    for (const Shape& shape : std::vector<Shape>{{5}, {3, 4}, {2, 3, 40}, {2, 700, 3}, {1, 1}})
      for (size_t axis = 0; axis < shape.size(); ++axis)
        for (int64_t last : {0, 1})
          for (bool max : {true, false}) {
            Tensor x = random_tensor(shape, 9, t, 0, 4);
            auto v = x.values();
            Shape kept = shape;
            kept[axis] = 1;
            std::vector<double> want(static_cast<size_t>(size_of(kept)), -1), best(want);
            each_index(shape, [&](const Shape& i) {
              const size_t k = flat_of(kept, i);
              const double d = v[flat_of(shape, i)];
              if (want[k] < 0 || (max ? d > best[k] : d < best[k]) || (last && d == best[k])) best[k] = d, want[k] = static_cast<double>(i[axis]);
            });
            both({&x}, [&](auto in, bool gaps) {
              EXPECT_EQ(values_of({.op = max ? "ArgMax" : "ArgMin", .inputs = in, .attrs = {{"axis", static_cast<int64_t>(axis)}, {"keepdims", int64_t{gaps}}, {"select_last_index", last}}, .strided_outputs = gaps}), want);
            });
          }
  Tensor e(DType::kF32, {2, 0});
  EXPECT_EQ(code_of({.op = "ArgMax", .inputs = {&e}, .attrs = {{"axis", int64_t{1}}}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "ArgMax", .inputs = {&e}, .attrs = {{"axis", int64_t{0}}}}), StatusCode::kOk);
  Tensor nan = tensor(DType::kF32, {3}, {5, NAN, 7});
  EXPECT_EQ(values_of({.op = "ArgMax", .inputs = {&nan}}), (std::vector<double>{1}));
  EXPECT_EQ(values_of({.op = "ArgMin", .inputs = {&nan}}), (std::vector<double>{1}));
}

TEST(Select, CumulativeSumsAndProducts) {
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kI32, DType::kU64}) {
    Tensor x = tensor(t, {2, 3}, {1, 2, 3, 4, 5, 6});
    both({&x}, [&](auto in, bool gaps) {
      auto run = [&](const char* op, int64_t axis, int64_t exclusive, int64_t reverse) {
        return values_of({.op = op, .inputs = in, .attrs = {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}, .strided_outputs = gaps});
      };
      EXPECT_EQ(run("CumSum", 1, 0, 0), (std::vector<double>{1, 3, 6, 4, 9, 15}));
      EXPECT_EQ(run("CumSum", 0, 0, 0), (std::vector<double>{1, 2, 3, 5, 7, 9}));
      EXPECT_EQ(run("CumSum", -1, 1, 0), (std::vector<double>{0, 1, 3, 0, 4, 9}));
      EXPECT_EQ(run("CumSum", 1, 1, 1), (std::vector<double>{5, 3, 0, 11, 6, 0}));
      EXPECT_EQ(run("CumProd", 1, 0, 1), (std::vector<double>{6, 6, 3, 120, 30, 6}));
      EXPECT_EQ(run("CumProd", 1, 1, 0), (std::vector<double>{1, 1, 2, 1, 4, 20}));
    });
  }
}

TEST(Select, CumulativeLogarithms) {
  const Tensor x = tensor(DType::kF64, {2, 3}, {0, 0, 1000, -1, 2, 3});
  const std::vector<double> found = values_of({.op = "msvm.CumLogSumExp", .inputs = {&x}, .attrs = {{"axis", int64_t{1}}}});
  const std::vector<double> wanted = {0, std::log(2), 1000, -1, std::log(std::exp(-1) + std::exp(2)), std::log(std::exp(-1) + std::exp(2) + std::exp(3))};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
}

TEST(Select, TheBestSoFar) {
  for (DType t : {DType::kF32, DType::kF16, DType::kI8, DType::kU64}) {
    Tensor x = tensor(t, {2, 4}, {2, 5, 5, 1, 7, 3, 9, 9});
    both({&x}, [&](auto in, bool gaps) {
      auto r = run_op({.op = "msvm.CumMax", .inputs = in, .attrs = {{"axis", int64_t{1}}}, .outputs = 2, .strided_outputs = gaps});
      ASSERT_TRUE(r.ok()) << r.status().message();
      EXPECT_EQ((*r)[0].values(), (std::vector<double>{2, 5, 5, 5, 7, 7, 9, 9}));
      EXPECT_EQ((*r)[1].values(), (std::vector<double>{0, 1, 2, 2, 0, 0, 2, 3}));
      r = run_op({.op = "msvm.CumMin", .inputs = in, .attrs = {{"axis", int64_t{0}}}, .outputs = 2, .strided_outputs = gaps});
      ASSERT_TRUE(r.ok()) << r.status().message();
      EXPECT_EQ((*r)[0].values(), (std::vector<double>{2, 5, 5, 1, 2, 3, 5, 1}));
      EXPECT_EQ((*r)[1].values(), (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 0}));
    });
  }
}

TEST(Select, LongSortsAreThoseOfTheStandardLibrary) {
  constexpr size_t kCount = Poll::kSteps + 70000;  // so that it is cut, and asked
  std::vector<uint32_t> v(kCount), random;
  uint32_t state = 1;
  for (int shape = 0; shape < 4; ++shape) {  // random, sorted, reversed, like an organ pipe
    for (size_t i = 0; i < kCount; ++i)
      v[i] = static_cast<uint32_t>(shape == 1 ? i : shape == 2 ? kCount - i : i < kCount / 2 ? 2 * i : 2 * (kCount - i) - 1);
    if (shape == 0) {
      for (size_t i = kCount; i-- > 1;) std::swap(v[i], v[(state = state * 1664525 + 1013904223) % (i + 1)]);
      random = v;
    }
    std::vector<uint32_t> sorted = v, nth = v;
    std::sort(sorted.begin(), sorted.end());
    Poll poll(nullptr);
    nth_polled(nth.data(), nth.data() + 1000, nth.data() + kCount, std::less<>(), poll);
    EXPECT_EQ(nth[1000], sorted[1000]);
    EXPECT_EQ(*std::max_element(nth.begin(), nth.begin() + 1000), sorted[999]);
    sort_polled(v.data(), v.data() + kCount, std::less<>(), poll);
    EXPECT_TRUE(v == sorted);
  }
  RunControl control;
  control.stop();
  Poll stopped(&control);
  sort_polled(random.data(), random.data() + kCount, std::less<>(), stopped);
  EXPECT_TRUE(stopped.stopped());
  EXPECT_FALSE(std::is_sorted(random.begin(), random.end()));
}

TEST(Select, Unique) {
  Tensor x = tensor(DType::kF32, {6}, {2, 1, 1, 3, 4, 3});
  for (bool gaps : {false, true}) {
    Tensor in = gaps ? strided(x) : x;
    auto r = run_op({.op = "Unique", .inputs = {&in}, .outputs = 4});
    ASSERT_TRUE(r.ok()) << r.status().message();
    EXPECT_EQ((*r)[0].values(), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ((*r)[1].values(), (std::vector<double>{1, 0, 3, 4}));
    EXPECT_EQ((*r)[2].values(), (std::vector<double>{1, 0, 0, 2, 3, 2}));
    EXPECT_EQ((*r)[3].values(), (std::vector<double>{2, 1, 2, 1}));
    r = run_op({.op = "Unique", .inputs = {&in}, .attrs = {{"sorted", int64_t{0}}}, .outputs = 4});
    EXPECT_EQ((*r)[0].values(), (std::vector<double>{2, 1, 3, 4}));
    EXPECT_EQ((*r)[1].values(), (std::vector<double>{0, 1, 3, 4}));
    EXPECT_EQ((*r)[2].values(), (std::vector<double>{0, 1, 1, 2, 3, 2}));
    EXPECT_EQ((*r)[3].values(), (std::vector<double>{1, 2, 2, 1}));
  }
  Tensor rows = tensor(DType::kI64, {3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4});
  for (bool gaps : {false, true}) {
    Tensor in = gaps ? strided(rows) : rows;
    auto r = run_op({.op = "Unique", .inputs = {&in}, .attrs = {{"axis", int64_t{0}}}, .outputs = 4});
    EXPECT_EQ((*r)[0].values(), (std::vector<double>{1, 0, 0, 2, 3, 4}));
    EXPECT_EQ((*r)[2].values(), (std::vector<double>{0, 0, 1}));
    r = run_op({.op = "Unique", .inputs = {&in}, .attrs = {{"axis", int64_t{1}}}, .outputs = 4});
    EXPECT_EQ((*r)[0].shape(), (Shape{3, 3}));
    EXPECT_EQ((*r)[1].values(), (std::vector<double>{1, 2, 0}));
  }
  Tensor empty(DType::kF32, {0});
  EXPECT_EQ(values_of({.op = "Unique", .inputs = {&empty}}), (std::vector<double>{}));
  Tensor nan = tensor(DType::kF32, {4}, {NAN, 1, NAN, 0});
  EXPECT_EQ(shape_of({.op = "Unique", .inputs = {&nan}}), (Shape{3}));
}

}  // namespace
}  // namespace msvm
