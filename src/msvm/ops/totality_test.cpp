// Shape functions are total: any ranks, sizes, arguments and attributes give a result or a Status. Run under sanitizers.
#include <random>

#include "msvm/ops/infer_tester.h"

namespace msvm {
namespace {

class Chaos {
 public:
  explicit Chaos(uint32_t seed) : random_(seed) {
    for (const char* name : {"N", "H", "W"}) symbols_.push_back(dims_.add_symbol({.name = name}));
  }

  void call(const OpSchema& op) {
    sensible_ = below(4) != 0;  // mostly calls that pass the first checks, so that shape functions see them
    std::vector<TensorType> types;
    size_t count = op.inputs.size() + (op.variadic ? below(3) : 0);
    if (!sensible_ && below(4) == 0) count = below(10);
    std::vector<bool> present(count);
    std::vector<Dim> pool;  // sizes that repeat, so that conditions hold at times
    for (int k = 0; k < 3; ++k) pool.push_back(dim());
    int usual_rank = static_cast<int>(below(kMaxRank + 1));
    for (size_t k = 0; k < count; ++k) {
      const InputSpec* spec = op.inputs.empty() ? nullptr : &op.inputs[std::min(k, op.inputs.size() - 1)];
      present[k] = spec && !spec->optional ? below(50) != 0 : below(2) != 0;
      TensorType t;
      t.dtype = dtype(spec ? spec->dtypes : kAny);
      t.unknown_rank = below(30) == 0;
      int rank = t.unknown_rank ? 0 : below(3) ? usual_rank : static_cast<int>(below(kMaxRank + 1));
      if (spec && below(3) == 0) rank = static_cast<int>(below(4));
      for (int a = 0; a < rank; ++a) t.shape.push_back(below(3) ? pool[below(pool.size())] : dim());
      types.push_back(std::move(t));
    }
    std::vector<const TensorType*> inputs;
    for (size_t k = 0; k < count; ++k) inputs.push_back(present[k] ? &types[k] : nullptr);
    size_t num_args = static_cast<size_t>(op.min_args) + below(static_cast<uint64_t>(std::min(op.max_args - op.min_args, 20)) + 1);
    if (below(2) && op.max_args >= usual_rank) num_args = static_cast<size_t>(usual_rank);
    if (below(3) == 0 && op.max_args >= 2 * usual_rank) num_args = 2 * static_cast<size_t>(usual_rank);
    std::vector<Dim> args;
    for (size_t k = 0; k < num_args; ++k) args.push_back(below(2) ? pool[below(pool.size())] : dim());
    Attributes attrs;
    for (const AttrSpec& a : op.attrs)
      if (a.required ? below(40) != 0 : below(3) == 0) attrs.set(std::string(a.name), value(a, static_cast<size_t>(usual_rank)));
    size_t outputs = static_cast<size_t>(op.min_outputs) + below(static_cast<uint64_t>(op.max_outputs - op.min_outputs) + 1);
    ConstantSink sink;
    auto r = infer_call(op, dims_, inputs, args, attrs, outputs, sink);
    if (!r.ok()) {
      EXPECT_FALSE(r.status().message().empty());
      EXPECT_TRUE(r.status().message().starts_with(op.name)) << r.status().message();
      EXPECT_NE(r.status().code(), StatusCode::kInternal);
      return;
    }
    ++passed;
    ASSERT_EQ(r->size(), outputs);
    for (const TensorType& t : *r) {
      ASSERT_LE(t.rank(), kMaxRank);
      for (Dim d : t.shape) {
        if (!op.data_dependent) { ASSERT_TRUE(d.valid()); }
        if (d.valid() && d.is_const()) { ASSERT_GE(d.value(), 0); }
      }
    }
  }

  size_t passed = 0;

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  int64_t integer() {
    static constexpr int64_t kOdd[] = {-1, INT64_MAX, INT64_MIN, int64_t{1} << 62, (int64_t{1} << 31) - 1, -1000000, INT64_MIN + 1};
    return below(12) ? static_cast<int64_t>(below(9)) : kOdd[below(std::size(kOdd))];
  }
  Dim dim() {
    Dim s = dims_.symbol(symbols_[below(symbols_.size())]);
    switch (below(8)) {
      case 0:
        return s;
      case 1:
        return dims_.add(dims_.mul(dims_.constant(static_cast<int64_t>(below(4)) + 1), s),
                         dims_.constant(static_cast<int64_t>(below(5))));
      case 2:
        return dims_.constant(1);
      case 3:
        return dims_.constant(std::max<int64_t>(integer(), 0));
      default:
        return dims_.constant(static_cast<int64_t>(below(7)));
    }
  }
  DType dtype(DTypeSet set) {
    for (int tries = 0; tries < 8; ++tries) {
      auto t = static_cast<DType>(below(kNumDTypes));
      if (below(60) == 0) return t;
      if (set & bit(DType::kF32)) return DType::kF32;  // one dtype for a group
      if (set & bit(t)) return t;
    }
    return static_cast<DType>(__builtin_ctz(set));
  }
  AttrValue value(const AttrSpec& a, size_t rank) {
    if (below(60) == 0) return int64_t{3};
    auto number = [&] {
      int64_t v = integer();
      return sensible_ ? std::clamp(v, a.min, a.max) : v;
    };
    switch (a.type) {
      case AttrType::kInt:
      case AttrType::kNumber:
        return number();
      case AttrType::kFloat:
        return 0.5;
      case AttrType::kDType:
        return static_cast<DType>(below(kNumDTypes));
      case AttrType::kString:
        return a.name == "equation" ? equation() : choice(a.choices);
      case AttrType::kInts: {
        size_t n = below(4) == 0 ? below(10) : below(2) && rank >= 2 ? (below(2) ? rank - 2 : 2 * (rank - 2)) : rank;
        Ints list(n);
        for (int64_t& v : list) v = number();
        return list;
      }
      case AttrType::kFloats:
        return Floats(below(2) ? rank : below(4), 1.5);
      case AttrType::kStrings: {
        Strings list(below(7));
        for (auto& s : list) s = choice(a.choices);
        return list;
      }
    }
    return int64_t{0};
  }
  std::string choice(std::string_view choices) {
    std::vector<std::string> list;
    while (!choices.empty()) {
      size_t bar = choices.find('|');
      list.emplace_back(choices.substr(0, bar));
      choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
    }
    return list.empty() || below(30) == 0 ? "odd" : list[below(list.size())];
  }
  std::string equation() {
    static constexpr std::string_view kParts[] = {"i", "j", "k", ",", "->", "...", " ", ".", "-", "ij", "Z", "1"};
    std::string text;
    for (size_t n = below(9); n > 0; --n) text += kParts[below(std::size(kParts))];
    return text;
  }

  std::mt19937_64 random_;
  DimContext dims_;
  std::vector<SymbolId> symbols_;
  bool sensible_ = true;
};

TEST(Totality, AnyCallGivesAResultOrAStatus) {
  for (const OpSchema* op : all_ops()) {
    SCOPED_TRACE(op->name);
    Chaos chaos(17);
    for (int k = 0; k < 600; ++k) {
      chaos.call(*op);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(chaos.passed, 0u) << "no call got as far as a result";
  }
}

}  // namespace
}  // namespace msvm
