#include "msvm/shape/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "msvm/shape/dim_parse.h"
#include "msvm/shape/random_dims.h"

namespace msvm {
namespace {

using testing_support::RandomDims;

class ConstraintsTest : public testing::Test {
 protected:
  ConstraintsTest() : store(c) {
    for (const char* name : {"N", "H", "W", "h", "w", "i", "n", "from", "to", "size"}) c.add_symbol({.name = name});
    c.add_symbol({.name = "H32", .max = 4096, .divisor = 32});
    c.add_symbol({.name = "S", .min = 2, .max = 100});
    c.add_symbol({.name = "any", .min = INT64_MIN});
  }
  Dim d(std::string_view text) {
    auto r = parse_dim(text, c);
    EXPECT_TRUE(r.ok()) << text << ": " << r.status().message();
    return r.ok() ? *r : Dim();
  }
  void fact(CondOp op, std::string_view a, std::string_view b) { store.add({op, d(a), d(b)}); }
  Answer ask(CondOp op, std::string_view a, std::string_view b) { return store.ask({op, d(a), d(b)}); }
  DimContext c;
  ConstraintStore store;
};

constexpr auto kProved = Answer::kProved, kRefuted = Answer::kRefuted, kUnknown = Answer::kUnknown;

TEST_F(ConstraintsTest, DeclarationsAreFacts) {
  EXPECT_EQ(ask(CondOp::kLe, "0", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "1", "H"), kUnknown);
  EXPECT_EQ(ask(CondOp::kLe, "1", "S"), kProved);
  EXPECT_EQ(ask(CondOp::kLt, "S", "2"), kRefuted);
  EXPECT_EQ(ask(CondOp::kEq, "S", "101"), kRefuted);
  EXPECT_EQ(ask(CondOp::kDivides, "32", "H32"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "8", "H32*W"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "8", "H32 + 4"), kRefuted);
  EXPECT_EQ(ask(CondOp::kEq, "H32", "33"), kRefuted);
  EXPECT_EQ(ask(CondOp::kEq, "H32//16 - H32//32", "H32//32"), kProved);
  EXPECT_EQ(ask(CondOp::kBroadcastable, "H", "1"), kProved);
  EXPECT_EQ(ask(CondOp::kBroadcastable, "S", "S + 1"), kRefuted);
  EXPECT_EQ(ask(CondOp::kBroadcastable, "H", "W"), kUnknown);
}

TEST_F(ConstraintsTest, OperatorsAreBounded) {
  EXPECT_EQ(ask(CondOp::kLe, "H//2", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "2*(H//2)", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "H", "2*ceildiv(H, 2)"), kProved);
  EXPECT_EQ(ask(CondOp::kLt, "2*(H//2) + 1", "H"), kRefuted);
  EXPECT_EQ(ask(CondOp::kLe, "H % S", "H"), kUnknown);
  EXPECT_EQ(ask(CondOp::kLe, "H % 7", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "min(H, W)", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "min(max(any, 0), H)", "H"), kProved) << "how a slice clamps its end";
  EXPECT_EQ(ask(CondOp::kLe, "H", "max(H, W) + 1"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "max(H, W)", "H"), kUnknown);
  fact(CondOp::kLe, "W", "H");
  EXPECT_EQ(ask(CondOp::kLe, "max(H, W)", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "bcast(H, W)", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "(W - 3)//2 + 1", "H"), kProved) << "a pooling window slides inside";
}

TEST_F(ConstraintsTest, EqualitiesAreSubstituted) {
  fact(CondOp::kEq, "H", "2*h");
  EXPECT_EQ(ask(CondOp::kEq, "H*W", "2*h*W"), kProved);
  EXPECT_EQ(ask(CondOp::kEq, "H//2", "h"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "2", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kEq, "H", "3"), kRefuted);
  EXPECT_EQ(c.to_string(store.simplify(d("H + 1"))), "2*h + 1");
  fact(CondOp::kEq, "W", "w");
  EXPECT_EQ(c.to_string(store.simplify(d("w*N"))), "N*W");
  EXPECT_THAT(store.describe(), testing::ElementsAre("H == 2*h", "W == w"));
}

TEST_F(ConstraintsTest, EqualitiesWithoutSolvableSymbol) {
  fact(CondOp::kEq, "2*H", "3*W");
  EXPECT_EQ(ask(CondOp::kEq, "4*H", "6*W"), kProved);
  EXPECT_EQ(ask(CondOp::kEq, "2*H + 1", "3*W"), kRefuted);
  EXPECT_EQ(ask(CondOp::kLe, "2*H", "3*W + 1"), kProved);
  fact(CondOp::kEq, "N*h", "n*w");
  EXPECT_EQ(ask(CondOp::kEq, "2*N*h", "2*n*w"), kProved);
}

TEST_F(ConstraintsTest, BoundsBecomeEqualities) {
  fact(CondOp::kLe, "H", "5");
  fact(CondOp::kLe, "5", "H");
  EXPECT_EQ(ask(CondOp::kEq, "H*W", "5*W"), kProved);
  fact(CondOp::kLe, "h", "w");
  fact(CondOp::kLe, "w", "h");
  EXPECT_EQ(ask(CondOp::kEq, "h*N", "w*N"), kProved);
}

TEST_F(ConstraintsTest, BoundsOnTheSameLinearPart) {
  fact(CondOp::kLt, "i", "n");
  EXPECT_EQ(ask(CondOp::kLe, "i + 1", "n"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "2*i", "2*n - 1"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "n", "i"), kRefuted);
  EXPECT_EQ(ask(CondOp::kEq, "n", "i"), kRefuted);
  EXPECT_EQ(ask(CondOp::kLe, "1", "n"), kProved) << "0 <= i";
  EXPECT_EQ(ask(CondOp::kLe, "i", "n - 2"), kUnknown);
}

TEST_F(ConstraintsTest, FactsAddUp) {
  fact(CondOp::kLe, "from", "to");
  fact(CondOp::kLe, "to", "size");
  fact(CondOp::kLe, "size", "N");
  EXPECT_EQ(ask(CondOp::kLe, "from", "size"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "from", "N"), kProved);
  EXPECT_EQ(ask(CondOp::kLt, "size", "from"), kRefuted);
  EXPECT_EQ(ask(CondOp::kLe, "3*from", "2*to + size"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "size", "to"), kUnknown);
}

TEST_F(ConstraintsTest, Divisibility) {
  fact(CondOp::kDivides, "4", "H");
  EXPECT_EQ(ask(CondOp::kDivides, "2", "H"), kProved);
  EXPECT_EQ(ask(CondOp::kEq, "2*(H//2)", "H"), kProved);
  fact(CondOp::kEq, "H % 3", "1");
  EXPECT_EQ(ask(CondOp::kEq, "H % 12", "4"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "8", "H"), kUnknown);
  EXPECT_EQ(ask(CondOp::kEq, "H", "6"), kRefuted);
  fact(CondOp::kDivides, "6", "N*W");
  EXPECT_EQ(ask(CondOp::kDivides, "6", "N*W"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "6", "N*W + 1"), kUnknown);
  fact(CondOp::kDivides, "S", "n");
  EXPECT_EQ(ask(CondOp::kDivides, "S", "n"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "S", "n*H"), kUnknown);
}

TEST_F(ConstraintsTest, Inequations) {
  fact(CondOp::kNe, "H", "0");
  EXPECT_EQ(ask(CondOp::kLe, "1", "H"), kProved);
  fact(CondOp::kNe, "W", "1");
  EXPECT_EQ(ask(CondOp::kEq, "W", "1"), kRefuted);
  EXPECT_EQ(ask(CondOp::kNe, "2*W", "2"), kProved);
  fact(CondOp::kNe, "W", "0");
  EXPECT_EQ(ask(CondOp::kLe, "2", "W"), kProved);
  fact(CondOp::kNe, "any", "5");
  EXPECT_EQ(ask(CondOp::kEq, "any", "5"), kRefuted);
}

TEST_F(ConstraintsTest, Broadcastable) {
  fact(CondOp::kBroadcastable, "H", "W");
  EXPECT_EQ(ask(CondOp::kBroadcastable, "W", "H"), kProved);
  fact(CondOp::kBroadcastable, "S", "S + h");
  EXPECT_EQ(ask(CondOp::kEq, "h", "0"), kProved) << "neither is 1, so they are equal";
}

TEST_F(ConstraintsTest, RollbackForgets) {
  fact(CondOp::kLe, "H", "W");
  size_t mark = store.mark();
  fact(CondOp::kEq, "H", "2*h");
  fact(CondOp::kLe, "W", "10");
  fact(CondOp::kDivides, "5", "w");
  fact(CondOp::kNe, "any", "5");
  EXPECT_EQ(ask(CondOp::kLe, "h", "5"), kProved);
  EXPECT_EQ(ask(CondOp::kDivides, "5", "w"), kProved);
  store.rollback(mark);
  EXPECT_EQ(ask(CondOp::kLe, "H", "W"), kProved);
  EXPECT_EQ(ask(CondOp::kLe, "h", "5"), kUnknown);
  EXPECT_EQ(ask(CondOp::kEq, "H", "2*h"), kUnknown);
  EXPECT_EQ(ask(CondOp::kDivides, "5", "w"), kUnknown);
  EXPECT_EQ(ask(CondOp::kNe, "any", "5"), kUnknown);
  EXPECT_EQ(store.describe().size(), 1u);
}

TEST_F(ConstraintsTest, Contradictions) {
  size_t mark = store.mark();
  fact(CondOp::kLt, "H", "0");
  EXPECT_TRUE(store.contradiction());
  store.rollback(mark);
  EXPECT_FALSE(store.contradiction());
  fact(CondOp::kEq, "S", "W");
  fact(CondOp::kLe, "W", "1");
  EXPECT_TRUE(store.contradiction());
  store.rollback(mark);
  fact(CondOp::kEq, "H", "2*h");
  fact(CondOp::kEq, "H", "2*w + 1");
  EXPECT_TRUE(store.contradiction());
}

TEST_F(ConstraintsTest, HiddenSymbolsStayInside) {
  size_t before = c.num_symbols();
  fact(CondOp::kDivides, "4", "H");
  fact(CondOp::kEq, "W", "H32");
  EXPECT_EQ(c.num_symbols(), before);
  EXPECT_EQ(c.to_string(store.simplify(d("H + H32 + W"))), "H + 2*W");
  for (const std::string& text : store.describe()) EXPECT_TRUE(text == "4 divides H" || text == "W == H32") << text;
}

TEST_F(ConstraintsTest, LongChainsStayCheap) {
  std::vector<Dim> x;
  for (int i = 0; i < 2000; ++i) x.push_back(c.symbol(c.add_symbol({.name = "x" + std::to_string(i)})));
  for (size_t i = 1; i < x.size(); ++i) store.add({CondOp::kLe, x[i], x[i - 1]});
  for (size_t i = 1; i < x.size(); ++i) store.add({CondOp::kLe, c.constant(5), x[i]});
  store.add({CondOp::kEq, x[0], c.constant(5)});
  EXPECT_EQ(store.ask({CondOp::kEq, x[10], c.constant(5)}), kProved);
  EXPECT_EQ(store.ask({CondOp::kEq, x.back(), c.constant(5)}), kProved);
  DimContext other;
  ConstraintStore reverse(other);
  std::vector<Dim> y;
  for (int i = 0; i < 3000; ++i) y.push_back(other.symbol(other.add_symbol({.name = "y" + std::to_string(i)})));
  for (size_t i = y.size() - 1; i > 0; --i) reverse.add({CondOp::kEq, y[i], other.add(y[i - 1], other.constant(1))});
  EXPECT_EQ(reverse.ask({CondOp::kEq, y[3], other.add(y[0], other.constant(3))}), kProved);
  EXPECT_NE(reverse.ask({CondOp::kEq, y.back(), y[0]}), kProved);
}

TEST(ConstraintsProperty, NeverContradictsBruteForce) {
  int proved = 0, refuted = 0, contradictions = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    DimContext c;
    RandomDims random(c, seed);
    ConstraintStore store(c);
    auto condition = [&] {
      auto op = static_cast<CondOp>(random.below(6));
      Dim a = random.build(*random.expression(random.below(3), false)), b = random.build(*random.expression(random.below(3), false));
      return DimCondition{op, a, b};
    };
    std::vector<DimCondition> facts;
    size_t mark = 0, facts_at_mark = 0;
    for (int i = 1 + random.below(4); i > 0; --i) {
      DimCondition f = condition();
      if (!f.a.valid() || !f.b.valid()) continue;
      facts.push_back(f);
      store.add(f);
      if (random.below(4) == 0) mark = store.mark(), facts_at_mark = facts.size();
    }
    if (random.below(3) == 0) {
      store.rollback(mark);
      facts.resize(facts_at_mark);
    }
    // worlds: values as declared under which every fact is defined and true
    std::vector<std::vector<int64_t>> worlds;
    auto value = [](const DimCondition& q, const std::vector<int64_t>& v) -> std::optional<bool> {
      auto a = RandomDims::evaluate(q.a, v), b = RandomDims::evaluate(q.b, v);
      if (!a || !b) return std::nullopt;
      return holds(q.op, *a, *b);
    };
    for (int i = 0; i < 3000 && worlds.size() < 60; ++i) {
      auto v = random.values(false);
      bool all = true;
      for (const DimCondition& f : facts) all = all && value(f, v) == true;
      if (all) worlds.push_back(v);
    }
    auto explain = [&](const DimCondition& q) {
      std::string out = to_string(q, c) + "  given";
      for (const DimCondition& f : facts) out += "  " + to_string(f, c) + ";";
      return out;
    };
    if (store.contradiction()) {
      ++contradictions;
      ASSERT_TRUE(worlds.empty()) << explain({CondOp::kEq, c.constant(0), c.constant(1)});
      continue;
    }
    for (int i = 0; i < 40; ++i) {
      DimCondition q = condition();
      if (!q.a.valid() || !q.b.valid()) continue;
      if (i % 4 == 0 && !facts.empty()) {  // near a fact, where answers are to be had
        q = facts[static_cast<size_t>(random.below(static_cast<int>(facts.size())))];
        q.op = static_cast<CondOp>(random.below(6));
        q.b = c.add(q.b, c.constant(random.below(3) - 1));
        if (!q.b.valid()) continue;
      }
      Answer answer = store.ask(q);
      proved += answer == Answer::kProved;
      refuted += answer == Answer::kRefuted;
      Dim simple = store.simplify(q.a);
      DimRange range = store.range(q.a);
      for (const auto& v : worlds) {
        auto a = RandomDims::evaluate(q.a, v), s = RandomDims::evaluate(simple, v);
        if (a && s) {
          ASSERT_EQ(*a, *s) << c.to_string(q.a) << " simplified to " << c.to_string(simple) << explain(q);
        }
        if (a) {
          ASSERT_TRUE(range.min <= *a && *a <= range.max) << c.to_string(q.a) << " " << explain(q);
        }
        auto truth = value(q, v);
        if (!truth || answer == Answer::kUnknown) continue;
        ASSERT_EQ(*truth, answer == Answer::kProved) << explain(q) << "  values " << testing::PrintToString(v);
      }
    }
  }
  EXPECT_GT(proved, 3000);
  EXPECT_GT(refuted, 3000);
  EXPECT_GT(contradictions, 20);
}

}  // namespace
}  // namespace msvm
