// Operators that a host adds: names, rows that own their text, replacement, and what the checks of calls make of them.
#include "msvm/ops/registered.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "msvm/ops/infer_tester.h"

namespace msvm {
namespace {

class NoKernel final : public OperatorKernel {
 public:
  explicit NoKernel(int id = 0) : id_(id) {}
  Status run(KernelCall&) const override { return {}; }
  bool same(const OperatorKernel& other) const override { return static_cast<const NoKernel&>(other).id_ == id_; }

 private:
  int id_;
};

OpSchema row(std::string_view name) {
  return {.name = name, .inputs = {{"x", kFloats, 'T'}, {"more", kAny, 0, true}}, .variadic = true, .outputs = {{"y", 'T'}}, .attrs = {{.name = "k", .type = AttrType::kInt, .min = 0}}};
}
Status infer_first(InferContext& c) {
  c.set_shape(0, c.input(0).shape);
  return {};
}

TEST(Registered, ARowIsFoundAndOwnsItsText) {
  {
    std::string name = "registered_test.first", input = "x", attr = "k";
    OpSchema r = row(name);
    r.inputs[0].name = input;
    r.attrs[0].name = attr;
    ASSERT_TRUE(register_operator(r, {.shape = infer_first}, std::make_shared<NoKernel>()).ok());
    name.assign(name.size(), '?');
    input = attr = "?";
  }
  const OpSchema* op = find_op("registered_test.first");
  ASSERT_TRUE(op);
  EXPECT_EQ(op->name, "registered_test.first");
  EXPECT_EQ(op->inputs[0].name, "x");
  EXPECT_TRUE(as_registered(*op));
  EXPECT_FALSE(has_effect(*op));
  EXPECT_FALSE(declares_outputs(*op));
  EXPECT_FALSE(as_registered(*find_op("Add")));
  InferTester t;
  EXPECT_EQ(t("registered_test.first", "f16[N, 3]"), "f16[N, 3]");
  EXPECT_EQ(t("registered_test.first", "i64[3]"), "error: registered_test.first: input x must be a float, but is i64");
  EXPECT_EQ(t("registered_test.first", "f16[3]", {{"k", int64_t{-1}}}), "error: registered_test.first: attribute k must be 0 or more, but is -1");
  EXPECT_EQ(t("registered_test.first", "f16[3]", {{"q", int64_t{1}}}), "error: registered_test.first: unknown attribute q; it has k");
  for (const OpSchema* all : all_ops()) EXPECT_FALSE(as_registered(*all)) << "the table of this build has this build's operators";
}

TEST(Registered, DeclaredOutputsAndAnyAttributes) {
  ASSERT_TRUE(register_operator(row("registered_test.declared"), {.any_attributes = true, .effect = true}, std::make_shared<NoKernel>()).ok());
  const OpSchema* op = find_op("registered_test.declared");
  EXPECT_TRUE(has_effect(*op));
  EXPECT_TRUE(declares_outputs(*op));
  EXPECT_FALSE(op->deterministic);
  InferTester t;
  EXPECT_EQ(t("registered_test.declared", "f16[*]", {{"whatever", std::string("a")}}), "f16[*]");
}

TEST(Registered, Names) {
  for (const char* bad : {"", "plain", ".x", "x.", "x..y", "x.1", "1.x", "a b.c", "a.b\n", "msvm.New", "ai.onnx.New", "a.\xc3\xa4"})
    EXPECT_EQ(register_operator(row(bad), {}, std::make_shared<NoKernel>()).code(), StatusCode::kInvalidArgument) << bad;
  EXPECT_EQ(register_operator(row("a." + std::string(300, 'b')), {}, std::make_shared<NoKernel>()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(register_operator(row("registered_test.null"), {}, nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(find_op("registered_test.null"), nullptr);
}

TEST(Registered, ReplacingKeepsWhatIsHeld) {
  auto first = std::make_shared<NoKernel>(1);
  std::weak_ptr<const OperatorKernel> gone = first;
  ASSERT_TRUE(register_operator(row("registered_test.again"), {}, std::move(first)).ok());
  EXPECT_TRUE(register_operator(row("registered_test.again"), {}, std::make_shared<NoKernel>(1)).ok()) << "the same";
  Status s = register_operator(row("registered_test.again"), {}, std::make_shared<NoKernel>(2));
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), ::testing::HasSubstr("there is an operator registered_test.again already"));
  const OpSchema* row_before = find_op("registered_test.again");
  RegisteredOperator held = find_registered("registered_test.again");
  ASSERT_TRUE(register_operator(row("registered_test.again"), {}, std::make_shared<NoKernel>(3), true).ok());
  EXPECT_NE(find_op("registered_test.again"), row_before);
  EXPECT_EQ(row_before->name, "registered_test.again") << "rows stay";
  EXPECT_FALSE(gone.expired());
  held = {};
  EXPECT_TRUE(gone.expired());
  EXPECT_FALSE(as_registered(*row_before)->kernel.lock());
}

TEST(Registered, FromManyThreads) {
  std::atomic<int> wrong{0};
  auto work = [&](int id) {
    for (int i = 0; i < 200; ++i) {
      const std::string name = fmt::format("registered_test.threads{}", i % 7);
      if (!register_operator(row(name), {}, std::make_shared<NoKernel>(id), true).ok()) ++wrong;
      RegisteredOperator r = find_registered(name);
      if (!r.op || !r.kernel || r.op->name != name || find_op(name)->name != name) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) threads.emplace_back(work, id);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Effects, OperatorsWithoutOutputs) {
  EXPECT_TRUE(has_effect(*find_op("msvm.Print")));
  EXPECT_FALSE(has_effect(*find_op("Add")));
}

}  // namespace
}  // namespace msvm
