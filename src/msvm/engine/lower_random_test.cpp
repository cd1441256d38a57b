// Random calls of every operator that might be lowered, in every dtype it takes, over shapes that broadcast to each other.
#include <fmt/core.h>

#include <cstdlib>
#include <set>

#include "msvm/bytecode/builder.h"
#include "msvm/engine/lower_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/ops/schema.h"

namespace msvm::testing {
namespace {

/// Axes [N, 3, M], each at times of size 1, and some through views.
class RandomCalls {
 public:
  RandomCalls(unsigned seed, bool rows) : random_(seed), rows_(rows) {
    n_ = mb_.symbol("N"), m_ = mb_.symbol("M");
    for (const OpSchema* op : all_ops())
      if (wanted(*op)) ops_.push_back(op);
  }

  Module build() {
    for (int k = 3 + pick(4); k > 0; --k) {
      const DType type = rows_ ? DType::kF32 : pick(3) ? DType::kF32 : random_dtype();
      std::vector<Dim> shape{pick(4) ? n_ : i(1), pick(4) ? i(3) : i(1), pick(5) ? m_ : i(1)};
      if (pool_.empty()) shape = {n_, i(3), m_};
      while (shape.size() > 1 && shape[0].is_const(1) && pick(2)) shape.erase(shape.begin());
      pool_.push_back(fb_.input("x" + std::to_string(k), tensor(type, shape)));
    }
    for (int k = 8 + pick(25); k > 0; --k) step();
    std::vector<Reg> results{pool_.back()};
    for (int k = pick(4); k > 0; --k) results.push_back(any());
    for (size_t k = 0; k < results.size(); ++k) {
      TensorType t = fb_.tensor_type(results[k]);
      t.strided = false;
      fb_.output("y" + std::to_string(k), {RegKind::kTensor, t});
    }
    fb_.ret(results);
    return fb_.finish().ok() ? mb_.take() : Module();
  }
  const std::set<std::string>& used() const { return used_; }

 private:
  bool wanted(const OpSchema& op) const {
    // LayerNormalization of equal values shows the last bit of their mean: random networks have it, over values that differ.
    static const std::set<std::string_view> kTame{"Add", "Sub", "Mul", "Tanh", "Sigmoid", "Relu", "Abs", "Neg", "HardSwish", "Softmax", "LogSoftmax", "RMSNormalization",
                                                  "LpNormalization", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "Clip", "Expand"};
    if (rows_) return kTame.contains(op.name);
    if (op.name == "Cast" || op.name == "Pow" || op.name == "Identity" || op.name == "Transpose") return true;
    return op.op_class == OpClass::kElementwise && op.hazards == kNoHazard && !op.data_dependent && op.max_args == 0 && op.name != "msvm.Pointwise";
  }

  Dim i(int64_t v) { return mb_.dims().constant(v); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Reg any() { return pool_[static_cast<size_t>(pick(2) ? pick(static_cast<int>(pool_.size())) : static_cast<int>(pool_.size()) - 1 - pick(std::min<int>(4, static_cast<int>(pool_.size()))))]; }
  DType random_dtype() {
    for (;;)
      if (const auto t = static_cast<DType>(pick(kNumDTypes)); t != DType::kString) return t;
  }
  static TensorType tensor(DType dtype, std::vector<Dim> shape) {
    TensorType t;
    t.dtype = dtype;
    t.shape = std::move(shape);
    return t;
  }
  Reg number(DType t) {
    std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(t)));
    const float f = static_cast<float>(pick(9) - 4) / 2;
    if (t == DType::kF32) std::memcpy(bytes.data(), &f, 4);
    else if (t == DType::kF64) { const double d = f; std::memcpy(bytes.data(), &d, 8); }
    else if (t == DType::kF16 || t == DType::kBF16) { const uint16_t h = t == DType::kF16 ? f32_to_f16(f) : f32_to_bf16(f); std::memcpy(bytes.data(), &h, 2); }
    else bytes[0] = static_cast<std::byte>(pick(t == DType::kBool ? 2 : 100));
    return fb_.constant(mb_.add_constant("n" + std::to_string(constants_++), t, std::vector<int64_t>(static_cast<size_t>(pick(2)), 1), bytes.data(), bytes.size()));
  }

  /// Of a dtype in the set, or kNoReg.
  Reg of_types(DTypeSet types) {
    for (int tries = 0; tries < 12; ++tries)
      if (const Reg r = any(); types & bit(fb_.tensor_type(r).dtype)) return r;
    return kNoReg;
  }

  void step() {
    if (pick(8) == 0) return view();
    const OpSchema& op = *ops_[static_cast<size_t>(pick(static_cast<int>(ops_.size())))];
    std::vector<Reg> in;
    std::map<char, DType> group;
    const int count = op.variadic ? 1 + pick(3) : static_cast<int>(op.inputs.size());
    for (int k = 0; k < count; ++k) {
      const InputSpec& spec = op.inputs[std::min(static_cast<size_t>(k), op.inputs.size() - 1)];
      if (spec.optional && pick(3) == 0) {
        in.push_back(kNoReg);
        continue;
      }
      const DTypeSet types = spec.group && group.contains(spec.group) ? bit(group.at(spec.group)) : spec.dtypes;
      Reg r = of_types(types);
      if (r == kNoReg) return;
      const DType t = fb_.tensor_type(r).dtype;
      if (op.name == "Clip" && k > 0) r = number(t);
      else if (k > 0 && pick(4) == 0) r = number(t);
      group[spec.group] = t;
      in.push_back(r);
    }
    while (!in.empty() && in.back() == kNoReg) in.pop_back();
    Attributes attrs;
    if (op.name == "Cast") attrs.set("to", random_dtype());
    if (op.name == "Pow" && pick(2) == 0) in[1] = number(fb_.tensor_type(in[0]).dtype);
    if (op.name == "LeakyRelu" || op.name == "Swish" || op.name == "Elu") attrs.set("alpha", 0.25 * pick(5));
    if (op.name == "IsInf") attrs.set("detect_negative", static_cast<int64_t>(pick(2)));
    if (op.name == "Gelu" && pick(2)) attrs.set("approximate", std::string("tanh"));
    if (op.name.starts_with("Reduce")) {
      attrs.set("axes", std::vector<int64_t>{-1});
      if (fb_.tensor_type(in[0]).rank() > 1 && pick(3) == 0) attrs.set("axes", std::vector<int64_t>{-1, -2});
      attrs.set("keepdims", static_cast<int64_t>(pick(3) != 0));
    }
    std::vector<Dim> args;
    if (op.name == "Expand") args = {n_, i(3), m_};
    call(op, in, attrs, args);
  }

  void call(const OpSchema& op, const std::vector<Reg>& in, const Attributes& attrs, const std::vector<Dim>& args) {
    ConstantSink sink;
    std::vector<TensorType> types;
    for (Reg r : in) types.push_back(r == kNoReg ? TensorType{} : fb_.tensor_type(r));
    std::vector<const TensorType*> pointers;
    for (size_t k = 0; k < in.size(); ++k) pointers.push_back(in[k] == kNoReg ? nullptr : &types[k]);
    if (op.name == "Cast" && is_float(types[0].dtype) && is_integer(attrs.get_dtype("to", DType::kF32))) return;
    auto out = infer_call(op, mb_.dims(), pointers, args, attrs, 1, sink);
    if (!out.ok() || (*out)[0].rank() > 3) return;
    used_.insert(std::string(op.name));
    pool_.push_back(fb_.call_alloc(std::string(op.name), in, args, attrs, {(*out)[0]})[0]);
  }

  void view() {
    const Reg r = any();
    const int rank = fb_.tensor_type(r).rank();
    switch (pick(4)) {
      case 0:
        if (rank > 0 && rank < 3) pool_.push_back(fb_.unsqueeze(r, {0}));
        return;
      case 1:
        if (rank == 3) pool_.push_back(fb_.broadcast(r, {n_, i(3), m_}));
        return;
      case 2:
        if (rank > 1 && fb_.tensor_type(r).shape[0].is_const(1)) pool_.push_back(fb_.squeeze(r, {0}));
        return;
      default:
        if (rank == 3 && fb_.tensor_type(r).shape[1].is_const(3)) {
          const int from = pick(3);
          pool_.push_back(fb_.slice(r, {1}, {i(from)}, {i(from + 1)}, {1}));
        }
    }
  }

  ModuleBuilder mb_{"calls"};
  FunctionBuilder fb_ = mb_.function("main");
  std::mt19937 random_;
  const bool rows_;
  Dim n_, m_;
  int constants_ = 0;
  std::vector<Reg> pool_;
  std::vector<const OpSchema*> ops_;
  std::set<std::string> used_;
};

void run_all(bool rows, unsigned usual) {
  auto engine = make_engine();
  Devices devices({.num_threads = 1});
  Totals totals;
  const char* more = std::getenv("MSVM_SEEDS");
  const unsigned seeds = more ? static_cast<unsigned>(std::atoi(more)) : usual;
  std::set<std::string> used;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RandomCalls calls(seed, rows);
    auto v = verify_and_optimize(calls.build(), {.level = 0});
    ASSERT_TRUE(v.ok()) << v.status().message();
    used.insert(calls.used().begin(), calls.used().end());
    run(*engine, devices, *v, 0, {{2, 5}, {1, 1}, {3, 37}, {1, 4}, {2, 1}, {0, 3}}, random, totals);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(totals.groups, seeds);
  EXPECT_GT(totals.evaluated, 3 * seeds);
  fmt::print("{} operators; {} groups of {} calls, evaluated {} times in {} runs\n", used.size(), totals.groups, totals.members, totals.evaluated, totals.runs);
}

TEST(Lowered, RandomElementwiseCallsGiveTheSameBits) { run_all(false, 250); }
TEST(Lowered, RandomRowsGiveTheSame) { run_all(true, 150); }

}  // namespace
}  // namespace msvm::testing
