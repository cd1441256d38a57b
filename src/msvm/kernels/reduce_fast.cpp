#include <type_traits>

#include "msvm/kernels/map.h"
#include "msvm/kernels/reduce_rows.h"

namespace msvm {
namespace {

template <class A>
A& member(Accumulator& a) {
  if constexpr (std::is_same_v<A, double>) return a.f;
  else if constexpr (std::is_same_v<A, int64_t>) return a.i;
  else return a.u;
}

/// One step. Integers wrap: the arithmetic is unsigned.
template <Fold kFold, class A>
inline A step(A acc, A x) {
  using U = std::conditional_t<std::is_floating_point_v<A>, A, uint64_t>;
  auto add = [](A a, A b) { return static_cast<A>(static_cast<U>(a) + static_cast<U>(b)); };
  auto mul = [](A a, A b) { return static_cast<A>(static_cast<U>(a) * static_cast<U>(b)); };
  switch (kFold) {
    case Fold::kSum: return add(acc, x);
    case Fold::kSumAbs: return x < 0 ? static_cast<A>(static_cast<U>(acc) - static_cast<U>(x)) : add(acc, x);
    case Fold::kSumSquare: return add(acc, mul(x, x));
    case Fold::kProd: return mul(acc, x);
    case Fold::kMax: return ((x > acc) | (x != x)) ? x : acc;
    case Fold::kMin: return ((x < acc) | (x != x)) ? x : acc;
  }
  return acc;
}

template <Fold kFold, class C, class A>
void row(const void* in, int64_t n, Accumulator& acc) {
  const C* x = static_cast<const C*>(in);
  A a = member<A>(acc);
  int64_t i = 0;
  if constexpr (std::is_floating_point_v<C>) {
    // Sixteen lanes, then a fixed tree. f32 lanes hold one row (a tile of at most kMapTile elements); rows add up in f64.
    constexpr bool kFirst = kFold == Fold::kMax || kFold == Fold::kMin;
    if (n >= 16 && kFold != Fold::kProd) {
      C lanes[16];
      for (int l = 0; l < 16; ++l) lanes[l] = kFirst ? x[l] : step<kFold, C>(C(0), x[l]);
      for (i = 16; i + 16 <= n; i += 16)
        for (int l = 0; l < 16; ++l) lanes[l] = step<kFold, C>(lanes[l], x[i + l]);
      constexpr Fold kJoin = kFirst ? kFold : Fold::kSum;
      for (int width = 8; width > 0; width /= 2)
        for (int l = 0; l < width; ++l) lanes[l] = step<kJoin, C>(lanes[l], lanes[l + width]);
      a = step<kJoin, A>(a, static_cast<A>(lanes[0]));
    }
  }
  for (; i < n; ++i) a = step<kFold, A>(a, static_cast<A>(x[i]));
  member<A>(acc) = a;
}

template <Fold kFold, class C, class A>
void column(const void* in, int64_t n, Accumulator* acc) {
  const C* x = static_cast<const C*>(in);
  A* a = &member<A>(acc[0]);
  static_assert(sizeof(Accumulator) == sizeof(A));
  for (int64_t i = 0; i < n; ++i) a[i] = step<kFold, A>(a[i], static_cast<A>(x[i]));
}

template <Fold kFold, class A>
void combine(Accumulator& acc, Accumulator later) {
  constexpr Fold kJoin = kFold == Fold::kSumAbs || kFold == Fold::kSumSquare ? Fold::kSum : kFold;
  member<A>(acc) = step<kJoin, A>(member<A>(acc), member<A>(later));
}

template <Fold kFold>
FoldRows rows_for(DType compute) {
  switch (compute) {
    case DType::kF32: return {row<kFold, float, double>, column<kFold, float, double>, combine<kFold, double>};
    case DType::kF64: return {row<kFold, double, double>, column<kFold, double, double>, combine<kFold, double>};
    case DType::kI64: return {row<kFold, int64_t, int64_t>, column<kFold, int64_t, int64_t>, combine<kFold, int64_t>};
    default: return {row<kFold, uint64_t, uint64_t>, column<kFold, uint64_t, uint64_t>, combine<kFold, uint64_t>};
  }
}

}  // namespace

FoldRows fold_rows(Fold fold, DType compute) {
  switch (fold) {
    case Fold::kSum: return rows_for<Fold::kSum>(compute);
    case Fold::kSumAbs: return rows_for<Fold::kSumAbs>(compute);
    case Fold::kSumSquare: return rows_for<Fold::kSumSquare>(compute);
    case Fold::kProd: return rows_for<Fold::kProd>(compute);
    case Fold::kMax: return rows_for<Fold::kMax>(compute);
    case Fold::kMin: return rows_for<Fold::kMin>(compute);
  }
  return {};
}

}  // namespace msvm
