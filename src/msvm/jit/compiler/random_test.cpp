// Random loop programs: text there and back, and the evaluator's bits compiled.
#include "msvm/jit/compiler/compile_testing.h"

namespace msvm::compiler {
namespace {

using loops::Op;
using loops::Operand;
using loops::Size;
using loops::Step;

/// Programs that check() accepts. Reductions are of whole numbers, so that all results are exact.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  loops::Kernel kernel() {
    k_ = {};
    k_.name = "k";
    k_.sizes = 4;  // n0: the row, n1, n2: outer axes, n3: a stride
    for (uint32_t i = random_() % 4; i > 0; --i) k_.outer.push_back(random_() % 2 ? Size::arg(1 + static_cast<int32_t>(random_() % 2)) : Size::number(1 + static_cast<int64_t>(random_() % 3)));
    k_.inner = random_() % 4 ? Size::arg(0) : Size::number(static_cast<int64_t>(random_() % 40));
    for (uint32_t i = 1 + random_() % 4; i > 0; --i) tensor(false);
    for (uint32_t i = 1 + random_() % 2; i > 0; --i) tensor(true);
    reduces_ = random_() % 3 == 0;
    values_ = 0;
    row_scalars_.clear();
    for (uint32_t i = 1 + random_() % 3; i > 0; --i) pass(random_() % 4 == 0);
    return k_;
  }

 private:
  struct Known {
    Operand operand;
    DType type;
  };

  DType type() { return static_cast<DType>(random_() % (kNumDTypes - 1)); }

  void tensor(bool written) {
    loops::Access a{type(), written, {}};
    // Written ones are dense enough that no element lies at two places; their rows are 700 apart at least.
    int64_t apart = 700;
    for (size_t i = 0; i < k_.outer.size(); ++i) {
      a.strides.insert(a.strides.begin(), written || random_() % 3 ? Size::number(apart) : Size::number(0));
      apart *= 4;
    }
    const uint32_t kind = random_() % 8;
    a.strides.push_back(kind == 0 && !written ? Size::number(0) : kind == 1 ? Size::number(2) : kind == 2 ? Size::number(-1) : kind == 3 ? Size::arg(3) : Size::number(1));
    k_.tensors.push_back(a);
  }

  Operand number(DType type) {
    Operand o{Operand::kNumber};
    const loops::Scalar v = random_value(random_, type, true);
    if (type == DType::kBool) o.number = static_cast<double>(v.integer);
    else if (is_float(type)) o.number = random_() % 9 ? v.number : -0.0;
    else loops::store_scalar(reinterpret_cast<std::byte*>(&o.integer), type, v), o.integer = loops::load_scalar(reinterpret_cast<std::byte*>(&o.integer), type).integer;
    return o;
  }
  /// Something of that type: a value if there is one.
  Operand operand(DType type, const std::vector<Known>& known, bool must_be_value = false) {
    std::vector<Operand> fitting;
    for (const Known& k : known)
      if (k.type == type) fitting.push_back(k.operand);
    if (type == DType::kI64) fitting.push_back({Operand::kSize, static_cast<int32_t>(random_() % 4)});
    if (!fitting.empty() && (must_be_value || random_() % 6)) return fitting[random_() % fitting.size()];
    return number(type);
  }

  void pass(bool row) {
    loops::Pass p{row, {}};
    std::vector<Known> known = row_scalars_;
    std::vector<Known> later;
    auto define = [&](Step s, bool reduction = false) {
      s.result = row || reduction ? rows_++ : values_++;
      const Known k{{row || reduction ? Operand::kRow : Operand::kValue, s.result}, s.type};
      (reduction ? later : known).push_back(k);
      if (row) row_scalars_.push_back(k);
      p.steps.push_back(s);
    };
    for (uint32_t i = 3 + random_() % 12; i > 0; --i) {
      Step s{};
      const uint32_t kind = random_() % 10;
      if (kind < 3) {  // what is written is read by the pass that wrote it, or not at all
        s.op = Op::kLoad;
        s.tensor = static_cast<int32_t>(random_() % k_.tensors.size());
        if (k_.tensors[static_cast<size_t>(s.tensor)].written && row) continue;
        s.type = loops::value_type(k_.tensors[static_cast<size_t>(s.tensor)].dtype);
        define(s);
      } else if (kind == 3 && !row) {
        s.op = Op::kIndex;
        s.type = DType::kI64;
        define(s);
      } else if (kind == 4 && reduces_ && !row && !known.empty()) {
        const Known& k = known[random_() % known.size()];
        if (!is_integer(k.type)) continue;
        s.op = static_cast<Op>(static_cast<int>(Op::kReduceSum) + static_cast<int>(random_() % 4));
        s.type = k.type;
        s.operands[0] = k.operand;
        define(s, true);
      } else if (!known.empty()) {
        s.op = static_cast<Op>(static_cast<int>(Op::kAdd) + static_cast<int>(random_() % (static_cast<uint32_t>(Op::kReduceSum) - static_cast<uint32_t>(Op::kAdd))));
        const DType own = known[random_() % known.size()].type;
        s.type = loops::is_comparison(s.op) ? DType::kBool : s.op == Op::kCast ? loops::value_type(type()) : own;
        if (!loops::op_info(s.op).allows(s.type) || (s.op == Op::kCast && is_float(own) && is_integer(s.type))) continue;
        for (int k = 0; k < loops::op_info(s.op).operands; ++k) s.operands[static_cast<size_t>(k)] = operand(s.op == Op::kSelect && k == 0 ? DType::kBool : own, known, k == 0 && s.op != Op::kSelect);
        define(s);
      }
    }
    if (!row)
      for (size_t t = 0; t < k_.tensors.size(); ++t)
        if (k_.tensors[t].written) {
          Step s{Op::kStore, k_.tensors[t].dtype, static_cast<int32_t>(t)};
          s.operands[0] = operand(loops::value_type(s.type), known);
          p.steps.push_back(s);
        }
    row_scalars_.insert(row_scalars_.end(), later.begin(), later.end());
    k_.passes.push_back(std::move(p));
  }

  std::mt19937 random_;
  loops::Kernel k_;
  bool reduces_ = false;
  int32_t values_ = 0, rows_ = 0;
  std::vector<Known> row_scalars_;
};

void check_seeds(uint32_t first, int programs) {
  for (int i = 0; i < programs; ++i) {
    const uint32_t seed = first + static_cast<uint32_t>(i);
    loops::Program program;
    Generator generator(seed);
    for (int k = 0; k < 4; ++k) program.kernels.push_back(generator.kernel());
    const Status good = loops::check(program);
    ASSERT_TRUE(good.ok()) << seed << ": " << good.message() << "\n" << loops::print(program);
    auto again = loops::parse(loops::print(program));
    ASSERT_TRUE(again.ok()) << seed << ": " << again.status().message();
    ASSERT_EQ(loops::print(*again), loops::print(program));
    for (const jit::ImageIsa isa : isas()) {
      const auto image = native(*again, isa);
      ASSERT_TRUE(image) << seed;
      std::mt19937 random(seed);
      for (size_t k = 0; k < program.kernels.size(); ++k)
        for (const uint64_t size : {uint64_t{0}, 1 + random() % 20, 21 + random() % 200}) {
          const auto n = static_cast<int64_t>(size);
          const loops::Kernel& kernel = program.kernels[k];
          const std::vector<int64_t> sizes = {n, 1 + static_cast<int64_t>(random() % 3), 1 + static_cast<int64_t>(random() % 3), 1 + static_cast<int64_t>(random() % 3)};
          int64_t rows = 1;
          for (const Size& s : kernel.outer) rows *= s.argument >= 0 ? sizes[static_cast<size_t>(s.argument)] : s.value;
          const int64_t columns = kernel.inner.argument >= 0 ? n : kernel.inner.value, begin = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
          expect_same(kernel, image->entry(k), sizes, {begin, rows, 0, columns}, random);
          ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", kernel " << k;
        }
    }
  }
}

TEST(RandomLoops, One) { check_seeds(1000, 40); }
TEST(RandomLoops, Two) { check_seeds(2000, 40); }

}  // namespace
}  // namespace msvm::compiler
