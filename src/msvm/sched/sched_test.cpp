// Choice by cost class and condition, what a site remembers, and what it does when the database changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "msvm/sched/scheduler.h"

namespace msvm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Tensor {
  TensorMeta meta;
  std::vector<double> storage;  // of doubles for their alignment

  Tensor(DType dtype, std::vector<int64_t> shape) {
    meta.dtype = dtype;
    meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), meta.shape.begin());
    EXPECT_TRUE(set_dense_strides(meta));
    storage.resize(static_cast<size_t>(meta.elements()) + 1);
    meta.data = reinterpret_cast<std::byte*>(storage.data());
  }
  Tensor& iota() {
    std::iota(f(), f() + meta.elements(), 0.0f);
    return *this;
  }
  float* f() { return meta.as<float>(); }
  TensorMeta transposed() const {
    TensorMeta t = meta;
    std::reverse(t.shape.begin(), t.shape.begin() + t.rank);
    std::reverse(t.strides.begin(), t.strides.begin() + t.rank);
    return t;
  }
};

class Memory final : public KernelMemory {
 public:
  explicit Memory(std::vector<TensorMeta*> outputs = {}) : outputs_(std::move(outputs)) {}
  Status allocate_output(size_t i, DType dtype, std::span<const int64_t> shape) override {
    ++allocated;
    made_.push_back(std::make_unique<Tensor>(dtype, std::vector<int64_t>(shape.begin(), shape.end())));
    *outputs_[i] = made_.back()->meta;
    return {};
  }
  Result<std::byte*> scratch(int64_t bytes) override {
    blocks_.emplace_back(static_cast<size_t>(bytes) + 64);
    auto p = reinterpret_cast<uintptr_t>(blocks_.back().data());
    return reinterpret_cast<std::byte*>((p + 63) & ~uintptr_t{63});
  }
  int allocated = 0;

 private:
  std::vector<TensorMeta*> outputs_;
  std::vector<std::unique_ptr<Tensor>> made_;
  std::vector<std::vector<std::byte>> blocks_;
};

class SchedTest : public ::testing::Test {
 protected:
  WorkerPool workers{1};
  Scheduler scheduler{default_capability_db(), workers};
  Memory memory;

  std::unique_ptr<SchedSite> site(Scheduler& s, const char* op, const Attributes& attrs = none(), SiteOptions options = {}) {
    auto made = s.make_site(*find_op(op), attrs, options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(*made) : nullptr;
  }
  static const Attributes& none() {
    static const Attributes empty;
    return empty;
  }
  static Status call(Scheduler& s, SchedSite& site, std::vector<const TensorMeta*> in, std::vector<TensorMeta*> out, KernelMemory& m) {
    return s.call(site, {in, {}, out}, m);
  }
  /// A patch of these sections, for the device.
  static std::string patch(const Scheduler& s, const std::string& sections) {
    return R"json({"format": 1, "device": ")json" + to_string(s.db()->device) + R"json(", "sections": {)json" + sections + "}}";
  }
  /// All sections of an operator, emptied.
  static std::string empty_sections(const Scheduler& s, const std::string& prefix) {
    std::string out;
    const auto db = s.db();
    for (const auto& [key, list] : db->sections())
      if (key.starts_with(prefix)) out += (out.empty() ? "\"" : ", \"") + key + "\": []";
    return out;
  }
};

TEST_F(SchedTest, DefaultsNameEveryKernelOfThisMachine) {
  CapabilityDb db = default_capability_db();
  size_t count = 0;
  for (const KernelInfo& k : all_kernels()) {
    if (k.isa > db.hardware.isa) continue;
    ++count;
    const KernelCapability* c = db.find(k.name);
    ASSERT_NE(c, nullptr) << k.name;
    EXPECT_EQ(c->op, k.op);
    EXPECT_TRUE(c->enabled);
  }
  size_t listed = 0;
  for (const auto& [key, list] : db.sections()) listed += list.size();
  EXPECT_EQ(listed, count) << "two kernels share a name";
}

TEST_F(SchedTest, CostClassesDecideByShape) {
  if (scheduler.db()->hardware.isa == Isa::kScalar) GTEST_SKIP();
  auto s = site(scheduler, "Add");
  Tensor a(DType::kF32, {64, 64}), b(DType::kF32, {64, 64}), y(DType::kF32, {64, 64});
  a.iota();
  b.iota();
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  const std::string fast(scheduler.last_kernel(*s)->name);
  ASSERT_FALSE(fast.starts_with("ref_"));
  const std::string section = scheduler.db()->find(fast)->op == "Add" ? "add_f32" : "";
  ASSERT_TRUE(scheduler.db()->sections().contains(section));

  // It costs too much for large ones only: one site, two kernels.
  Status patched = scheduler.patch_json(patch(scheduler, "\"add_f32\": [{\"name\": \"" + fast + R"json(", "costs": [
      {"max_work": 100, "overhead_ns": 0, "work_per_ns": 1000}, {"min_work": 101, "overhead_ns": 1e12, "work_per_ns": 1}]}])json"), "test");
  ASSERT_TRUE(patched.ok()) << patched.message();
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  EXPECT_THAT(std::string(scheduler.last_kernel(*s)->name), StartsWith("ref_"));
  EXPECT_EQ(y.f()[4095], 2 * 4095.0f);
  Tensor c(DType::kF32, {4, 4}), d(DType::kF32, {4, 4}), z(DType::kF32, {4, 4});
  c.iota();
  d.iota();
  ASSERT_TRUE(call(scheduler, *s, {&c.meta, &d.meta}, {&z.meta}, memory).ok());
  EXPECT_EQ(scheduler.last_kernel(*s)->name, fast);
  EXPECT_EQ(z.f()[15], 30.0f);
  // The first shape is remembered.
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  EXPECT_THAT(std::string(scheduler.last_kernel(*s)->name), StartsWith("ref_"));
}

TEST_F(SchedTest, ExplainsWinnersAndLosers) {
  auto s = site(scheduler, "MatMul");
  EXPECT_TRUE(scheduler.explain(*s).empty());
  Tensor a(DType::kF64, {2, 3}), b(DType::kF64, {3, 2}), y(DType::kF64, {2, 2});
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  const auto& all = scheduler.explain(*s);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].kernel, scheduler.last_kernel(*s));
  EXPECT_EQ(all[0].rejected, nullptr);
  EXPECT_GT(all[0].cost_ns, 0);
  bool by_dtype = all.size() == 1;
  for (size_t k = 1; k < all.size(); ++k) {
    if (all[k].rejected) {
      by_dtype |= std::string_view(all[k].rejected) == "dtype";
    } else {
      EXPECT_GE(all[k].cost_ns, all[k - 1].cost_ns);
    }
  }
  EXPECT_TRUE(by_dtype);
  EXPECT_STREQ(scheduler.last_name(*s), "ref_matmul");
}

TEST_F(SchedTest, StrictAdmitsOnlyTheDeclaredOrder) {
  for (const OpSchema* op : {find_op("MatMul"), find_op("Softmax"), find_op("ReduceSum")}) {
    SCOPED_TRACE(op->name);
    const bool two = op->name == "MatMul";
    Tensor a(DType::kF32, {64, 64}), b(DType::kF32, {64, 64}), y(DType::kF32, op->name == "ReduceSum" ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{64, 64});
    a.iota();
    b.iota();
    Attributes strict{{"precision", std::string("strict")}};
    if (op->name == "ReduceSum") strict.set("axes", std::vector<int64_t>{0, 1});
    auto s = site(scheduler, std::string(op->name).c_str(), strict, {.infer = true});
    std::vector<const TensorMeta*> in{&a.meta};
    if (two) in.push_back(&b.meta);
    ASSERT_TRUE(call(scheduler, *s, in, {&y.meta}, memory).ok());
    EXPECT_TRUE(scheduler.last_kernel(*s)->strict_order);
    for (const Candidate& c : scheduler.explain(*s))
      if (!c.kernel->strict_order && (c.kernel->dtypes & bit(DType::kF32))) {
        EXPECT_STREQ(c.rejected, "order of sums (strict)");
      }
  }
  Scheduler all_strict(default_capability_db(), workers, {.strict = true});
  auto s = site(all_strict, "MatMul");
  Tensor a(DType::kF32, {8, 8}), b(DType::kF32, {8, 8}), y(DType::kF32, {8, 8});
  ASSERT_TRUE(call(all_strict, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  EXPECT_TRUE(all_strict.last_kernel(*s)->strict_order);
}

TEST_F(SchedTest, StridedInputsGoThroughDenseTemporaries) {
  if (scheduler.db()->hardware.isa == Isa::kScalar) GTEST_SKIP();
  // Find a kernel that wants dense inputs and let nothing else serve.
  const Attributes attrs{{"kernel_shape", std::vector<int64_t>{1, 1}}};
  auto s = site(scheduler, "MaxPool", attrs);
  Tensor x(DType::kF32, {64, 64, 1, 1}), y(DType::kF32, {1, 1, 64, 64});
  x.iota();
  TensorMeta t = x.transposed();
  Status done = call(scheduler, *s, {&t}, {&y.meta}, memory);
  ASSERT_TRUE(done.ok()) << done.message();
  const std::vector<float> expected(y.f(), y.f() + 4096);
  std::string fast;
  for (const Candidate& c : scheduler.explain(*s))
    if (c.kernel->dense_inputs && !c.rejected) fast = c.kernel->name;
  if (fast.empty()) GTEST_SKIP();
  ASSERT_TRUE(scheduler.patch_json(patch(scheduler, "\"maxpool_f32\": [{\"name\": \"" + fast + "\"}]"), "test").ok());
  const auto db = scheduler.db();
  for (const auto& [key, list] : db->sections())
    if (key.starts_with("maxpool_") && key != "maxpool_f32") {
      ASSERT_TRUE(scheduler.patch_json(patch(scheduler, "\"" + key + "\": []"), "test").ok());
    }
  std::fill_n(y.f(), 4096, 0.0f);
  const int64_t before = scheduler.layout_bytes(*s);
  ASSERT_TRUE(call(scheduler, *s, {&t}, {&y.meta}, memory).ok());
  EXPECT_EQ(scheduler.last_kernel(*s)->name, fast);
  EXPECT_EQ(scheduler.layout_bytes(*s) - before, 4096 * 4);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), y.f()));
}

TEST_F(SchedTest, EmptiedSections) {
  Tensor a(DType::kF32, {2, 2}), b(DType::kF32, {2, 2}), y(DType::kF32, {2, 2});
  a.iota();
  b.iota();
  for (bool fallback : {true, false}) {
    Scheduler mine(default_capability_db(), workers, {.fallback = fallback});
    auto s = site(mine, "MatMul");
    ASSERT_TRUE(call(mine, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
    ASSERT_TRUE(mine.patch_json(patch(mine, empty_sections(mine, "matmul_")), "test").ok());
    std::fill_n(y.f(), 4, 0.0f);
    Status done = call(mine, *s, {&a.meta, &b.meta}, {&y.meta}, memory);
    if (fallback) {
      ASSERT_TRUE(done.ok()) << done.message();
      EXPECT_STREQ(mine.last_name(*s), "ref_matmul (fallback)");
      EXPECT_EQ(y.f()[3], 11.0f);
      for (const Candidate& c : mine.explain(*s)) EXPECT_EQ(c.fallback, c.kernel == mine.last_kernel(*s));
    } else {
      EXPECT_EQ(done.code(), StatusCode::kUnsupported);
      EXPECT_EQ(done.message(), "Kernel not found for op MatMul (f32) on device CPU(0) [" + std::string(isa_name(mine.db()->hardware.isa)) + "]");
    }
  }
}

TEST_F(SchedTest, RefusedPatchesChangeNothing) {
  auto before = scheduler.db();
  EXPECT_FALSE(scheduler.patch_json("{}", "test").ok());
  EXPECT_FALSE(scheduler.patch_file("/no/such/file").ok());
  EXPECT_EQ(scheduler.db(), before);
}

TEST_F(SchedTest, RemembersEightShapes) {
  auto s = site(scheduler, "Add");
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 1; n <= 12; ++n) {
      Tensor a(DType::kF32, {n}), b(DType::kF32, {n}), y(DType::kF32, {n});
      a.iota();
      b.iota();
      ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
      EXPECT_EQ(y.f()[n - 1], 2.0f * static_cast<float>(n - 1));
      EXPECT_EQ(scheduler.explain(*s)[0].kernel, scheduler.last_kernel(*s));
    }
}

TEST_F(SchedTest, DTypeAndStridesCountAsShape) {
  auto s = site(scheduler, "Add");
  Tensor a(DType::kF32, {3, 3}), b(DType::kF32, {3, 3}), y(DType::kF32, {3, 3});
  a.iota();
  b.iota();
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory).ok());
  TensorMeta t = b.transposed();
  ASSERT_TRUE(call(scheduler, *s, {&a.meta, &t}, {&y.meta}, memory).ok());
  EXPECT_EQ(y.f()[1], 1.0f + 3.0f);
  Tensor i(DType::kI64, {3, 3}), j(DType::kI64, {3, 3}), k(DType::kI64, {3, 3});
  for (int n = 0; n < 9; ++n) i.meta.as<int64_t>()[n] = j.meta.as<int64_t>()[n] = n;
  ASSERT_TRUE(call(scheduler, *s, {&i.meta, &j.meta}, {&k.meta}, memory).ok());
  EXPECT_EQ(k.meta.as<int64_t>()[8], 16);
}

TEST_F(SchedTest, AllocatesNewOutputs) {
  // From the shape function, before the kernel runs.
  auto s = site(scheduler, "Add", none(), {.infer = true});
  Tensor a(DType::kF32, {2, 1}), b(DType::kF32, {3});
  a.iota();
  b.iota();
  TensorMeta y;
  Memory made({&y});
  std::vector<const TensorMeta*> in{&a.meta, &b.meta};
  std::vector<TensorMeta*> out{&y};
  for (int k = 0; k < 2; ++k) {
    ASSERT_TRUE(scheduler.call(*s, {in, {}, out, 1}, made).ok());
    EXPECT_EQ(to_string(y), "f32[2, 3]");
    EXPECT_EQ(y.as<float>()[5], 3.0f);
    EXPECT_EQ(made.allocated, k + 1);
  }
  // Sizes that don't fit are an error, also where the types said nothing.
  Tensor c(DType::kF32, {2});
  std::vector<const TensorMeta*> wrong{&c.meta, &b.meta};
  Status failed = scheduler.call(*s, {wrong, {}, out, 1}, made);
  EXPECT_FALSE(failed.ok());
  ASSERT_TRUE(scheduler.call(*s, {in, {}, out, 1}, made).ok());  // the site is as before

  // By the kernel, where sizes depend on data.
  auto n = site(scheduler, "NonZero", none(), {.infer = true});
  std::vector<const TensorMeta*> one{&b.meta};
  ASSERT_TRUE(scheduler.call(*n, {one, {}, out, 1}, made).ok());
  EXPECT_EQ(to_string(y), "i64[1, 2]");
}

TEST_F(SchedTest, WrongDestinationsAreRefused) {
  auto s = site(scheduler, "Add", none(), {.infer = true});
  Tensor a(DType::kF32, {2}), b(DType::kF32, {2}), y(DType::kF32, {3});
  Status failed = call(scheduler, *s, {&a.meta, &b.meta}, {&y.meta}, memory);
  EXPECT_EQ(failed.code(), StatusCode::kShapeMismatch);
  EXPECT_THAT(failed.message(), HasSubstr("its destination is f32[3]"));
}

}  // namespace
}  // namespace msvm
