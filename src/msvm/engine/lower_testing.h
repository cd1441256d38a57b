// For tests of lowered regions: beside each run of the interpreter the groups' loop programs are evaluated on the same tensors, at the
// place of their last members, for all sizes and specialised to those of the run.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "msvm/base/half.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/program_testing.h"
#include "msvm/jit/lower.h"
#include "msvm/jit/lower_uses.h"

namespace msvm::testing {

/// |found - expected| <= kTolerance * (1 + the greatest |expected|): a few hundred sums in another order.
constexpr double kTolerance = 2e-5;

/// A tensor as it was, in memory of its own, with its strides.
struct Snapshot {
  TensorMeta meta;
  std::vector<std::byte> bytes;

  explicit Snapshot(const TensorMeta& m, bool copy) : meta(m) {
    int64_t last = 0;
    for (int a = 0; a < m.rank; ++a) last += (m.shape[a] - 1) * m.strides[a];
    const size_t n = m.elements() == 0 ? 0 : static_cast<size_t>((last + 1) * dtype_bytes(m.dtype));
    bytes.assign(n, std::byte{0xa5});
    if (copy && n) std::memcpy(bytes.data(), m.data, n);
    meta.data = bytes.data();
  }
};

inline double number_at(const std::byte* p, DType t) {
  auto read = [&](auto v) {
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  switch (t) {
    case DType::kF64: return read(double{});
    case DType::kF32: return static_cast<double>(read(float{}));
    case DType::kF16: return static_cast<double>(f16_to_f32(read(uint16_t{})));
    case DType::kBF16: return static_cast<double>(bf16_to_f32(read(uint16_t{})));
    default: return dtype_bytes(t) == 8 ? static_cast<double>(read(int64_t{})) : dtype_bytes(t) == 4 ? read(int32_t{}) : dtype_bytes(t) == 2 ? read(int16_t{}) : read(int8_t{});
  }
}

inline ::testing::AssertionResult same(const Snapshot& expected, const Snapshot& found, bool bits) {
  const TensorMeta& m = expected.meta;
  const int64_t size = dtype_bytes(m.dtype);
  double greatest = 0;
  for (int round = 0; round < 2; ++round)
    for (int64_t flat = 0, n = m.elements(); flat < n; ++flat) {
      int64_t at = 0, rest = flat;
      for (int a = m.rank; a-- > 0; rest /= m.shape[a]) at += rest % m.shape[a] * m.strides[a];
      const std::byte *x = expected.bytes.data() + at * size, *y = found.bytes.data() + at * size;
      const double a = number_at(x, m.dtype), b = number_at(y, m.dtype);
      if (round == 0) {
        if (std::isfinite(a)) greatest = std::max(greatest, std::fabs(a));
        continue;
      }
      if (std::memcmp(x, y, static_cast<size_t>(size)) == 0 || (std::isnan(a) && std::isnan(b))) continue;
      if (!bits && is_float(m.dtype) && (a == b || std::fabs(a - b) <= kTolerance * (1 + greatest))) continue;
      return ::testing::AssertionFailure() << to_string(m) << ", element " << flat << ": expected " << a << ", found " << b;
    }
  return ::testing::AssertionSuccess();
}

/// Every group of a function's regions, beside the interpreter's calls.
class GroupChecker final : public Dispatcher {
 public:
  GroupChecker(Devices& devices, const VerifiedModule& verified, int32_t function) : real_(devices), view_(verified, function), found_(jit::find_regions(view_)) {
    for (size_t i = 0; i < view_.instrs.size(); ++i) number_[view_.instrs[i]] = static_cast<int32_t>(i);
    for (const jit::Region& r : found_.regions) {
      jit::LoweredRegion l = jit::lower_region(view_, r);
      const jit::lowering::Uses uses(view_, r);
      text_ += jit::to_string(l, view_);
      for (size_t g = 0; g < l.groups.size(); ++g) {
        for (int32_t m : l.groups[g].members) of_[m] = groups_.size();
        groups_.push_back({l.groups[g], l.program.kernels[g], {}, {}, {}, {}});
        for (int32_t m : l.groups[g].members) {
          const Reg out = view_.at(m).outs[0];
          if (uses.read_outside(uses.root(out), l.groups[g].members)) groups_.back().wanted.insert(out);
        }
        reduces_ |= reduces(groups_.back().kernel);
        expect_order(l.groups[g]);
      }
      lowered_.push_back(std::move(l));
    }
  }
  /// The next run has these values of the module's symbols: what belongs to the box of just them is evaluated, too.
  void specialise(const std::vector<int64_t>& values) {
    size_t g = 0;
    for (size_t k = 0; k < lowered_.size(); ++k) {
      jit::Box box;
      for (SymbolId s : found_.regions[k].symbols) box.extents.push_back(s < values.size() ? jit::Extent::value(values[s]) : jit::Extent{});
      const loops::Program p = jit::specialise(lowered_[k], view_, found_.regions[k], box);
      const Status checked = loops::check(p);
      EXPECT_TRUE(checked.ok()) << checked.message();
      for (const loops::Kernel& kernel : p.kernels) groups_[g++].special = kernel;
    }
  }
  size_t groups() const { return groups_.size(); }
  int64_t evaluated() const { return evaluated_; }
  int64_t members() const { return static_cast<int64_t>(of_.size()); }
  bool reduces() const { return reduces_; }

  Result<std::unique_ptr<CallState>> prepare(const Module& module, const Function& function, const Instr& call) override { return real_.prepare(module, function, call); }
  CallReport last_report(const CallState& state) const override { return real_.last_report(state); }
  Status copy(const TensorMeta& source, const TensorMeta& destination) override { return real_.copy(source, destination); }
  Status fetch(const TensorMeta& element, std::byte* to) override { return real_.fetch(element, to); }
  void split(int64_t count, double nanoseconds_per_item, FunctionRef<void(int64_t, int64_t)> body) override { real_.split(count, nanoseconds_per_item, body); }
  Status finish() override { return real_.finish(); }

  Status dispatch(CallState& state, CallFrame& frame) override {
    const auto at = number_.find(frame.instr);
    const auto group = at == number_.end() ? of_.end() : of_.find(at->second);
    if (group == of_.end()) return real_.dispatch(state, frame);
    Group& g = groups_[group->second];
    if (at->second == g.group.members.front()) g.before.clear(), g.after.clear();
    for (size_t k = 0; k < frame.inputs.size(); ++k)
      if (frame.inputs[k]) g.before.try_emplace(frame.instr->uses[k], *frame.inputs[k], true);
    MSVM_RETURN_IF_ERROR(real_.dispatch(state, frame));
    g.after.try_emplace(frame.instr->outs[0], *frame.outputs[0], true);
    if (at->second == g.group.members.back()) evaluate(g);
    return {};
  }

 private:
  struct Group {
    RegionGroup group;
    loops::Kernel kernel, special;          // for all sizes; for those of the run
    std::set<Reg> wanted;                   // results that are read outside
    std::map<Reg, Snapshot> before, after;  // what members read, as it was then; what they wrote
  };

  /// The register down to which views go.
  Reg storage(Reg r) const {
    for (int32_t d = view_.definition(r); d >= 0; d = view_.definition(r)) {
      const Instr& x = view_.at(d);
      if (x.op != Opcode::kTensorView && !(x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow)) break;
      r = x.uses[0];
    }
    return r;
  }
  /// Nothing between a member and the last one reads what the member writes, but members; and they don't read it from memory through
  /// another view.
  void expect_order(const RegionGroup& g) const {
    for (Reg p : g.pointers)
      for (int32_t m : g.members) {
        const Reg out = view_.at(m).outs[0];
        const bool result = std::any_of(g.members.begin(), g.members.end(), [&](int32_t k) { return view_.at(k).outs[0] == p; });
        EXPECT_FALSE(!result && storage(p) == storage(out)) << "the group reads what instruction " << m << " writes";
      }
    for (int32_t m : g.members) {
      EXPECT_EQ(view_.block_of[static_cast<size_t>(m)], view_.block_of[static_cast<size_t>(g.members.back())]);
      for (int32_t i = m + 1; i < g.members.back(); ++i) {
        const Instr& x = view_.at(i);
        if (std::count(g.members.begin(), g.members.end(), i) || x.op == Opcode::kTensorView || x.op == Opcode::kTensorFree || x.op == Opcode::kTensorAlloc || x.op == Opcode::kTensorCreate) continue;
        for (Reg r : x.uses) EXPECT_FALSE(view_.is_tensor(r) && storage(r) == storage(view_.at(m).outs[0])) << "instruction " << i << " reads instruction " << m;
      }
    }
  }
  static bool reduces(const loops::Kernel& k) {
    return std::any_of(k.passes.begin(), k.passes.end(), [](const loops::Pass& p) {
      return std::any_of(p.steps.begin(), p.steps.end(), [](const loops::Step& s) { return loops::is_reduction(s.op); });
    });
  }
  static const TensorMeta& meta(const Group& g, Reg r) { return g.after.contains(r) ? g.after.at(r).meta : g.before.at(r).meta; }
  static int64_t size(const Group& g, const RegionSize& s) {
    if (s.stride.tensor != kNoReg) {
      const TensorMeta& m = meta(g, s.stride.tensor);
      return m.shape[s.stride.axis] == 1 ? 0 : m.strides[s.stride.axis];
    }
    int64_t n = 1;
    for (const RegionSize::Axis& a : s.extents) n *= meta(g, a.tensor).shape[a.axis];
    return n;
  }

  void evaluate(Group& g) {
    ++evaluated_;
    std::vector<int64_t> sizes;
    for (const RegionSize& s : g.group.sizes) sizes.push_back(size(g, s));
    int64_t rows = 1;
    for (const RegionSize& s : g.group.outer) rows *= size(g, s);
    const int64_t columns = size(g, g.group.inner);
    for (const loops::Kernel* kernel : {&g.kernel, &g.special}) {
      std::map<Reg, Snapshot> made;
      std::vector<void*> pointers;
      for (size_t k = 0; k < g.group.pointers.size(); ++k) {
        const Reg r = g.group.pointers[k];
        if (kernel->tensors[k].written) pointers.push_back(made.try_emplace(r, meta(g, r), false).first->second.bytes.data());
        else pointers.push_back(g.before.at(r).bytes.data());
      }
      const int64_t row = rows / 2, column = g.group.splits_columns ? columns / 3 : 0;
      for (auto [r0, r1] : {std::pair(int64_t{0}, row), std::pair(row, rows)})
        for (auto [c0, c1] : {std::pair(int64_t{0}, column), std::pair(column, columns)})
          if (r0 < r1 && (c0 < c1 || (c1 == columns && !g.group.splits_columns))) loops::evaluate(*kernel, pointers.data(), sizes.data(), r0, r1, c0, c1);
      for (const auto& [r, expected] : g.after) {
        if (!g.wanted.contains(r)) continue;
        ASSERT_TRUE(made.contains(r)) << view_.name(r) << " is read outside, but not stored\n" << text_;
        ASSERT_TRUE(same(expected, made.at(r), !reduces(*kernel))) << view_.name(r) << "\n" << text_;
      }
    }
  }

  SessionDispatcher real_;
  const jit::FunctionView view_;
  const jit::FunctionRegions found_;
  std::vector<jit::LoweredRegion> lowered_;
  std::map<const Instr*, int32_t> number_;
  std::map<int32_t, size_t> of_;
  std::vector<Group> groups_;
  std::string text_;
  bool reduces_ = false;
  int64_t evaluated_ = 0;
};

inline Value random_input(Engine& engine, const TensorType& type, std::span<const int64_t> shape, bool specials, std::mt19937& random) {
  auto t = engine.allocate(type.dtype, shape);
  EXPECT_TRUE(t.ok());
  t->meta.layout = type.layout;
  EXPECT_TRUE(set_dense_strides(t->meta));
  for (int64_t k = 0; k < t->meta.elements(); ++k) {
    std::byte* p = t->meta.data + k * dtype_bytes(type.dtype);
    double v = std::uniform_real_distribution<double>(-2, 2)(random);
    if (specials && random() % 50 == 0) v = std::initializer_list<double>{0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e-30}.begin()[random() % 7];
    auto put = [&](auto x) { std::memcpy(p, &x, sizeof x); };
    switch (type.dtype) {
      case DType::kF64: put(v); break;
      case DType::kF32: put(static_cast<float>(v)); break;
      case DType::kF16: put(f32_to_f16(static_cast<float>(v))); break;
      case DType::kBF16: put(f32_to_bf16(static_cast<float>(v))); break;
      case DType::kBool: put(static_cast<uint8_t>(random() % 2)); break;
      case DType::kI8: case DType::kU8: put(static_cast<uint8_t>(random())); break;
      case DType::kI16: case DType::kU16: put(static_cast<uint16_t>(random())); break;
      case DType::kI32: case DType::kU32: put(static_cast<uint32_t>(random())); break;
      case DType::kI64: case DType::kU64: put(static_cast<uint64_t>(random()) << 20 ^ random()); break;
      case DType::kString: break;
    }
  }
  return std::move(*t);
}

struct Totals {
  int64_t groups = 0, evaluated = 0, members = 0, runs = 0;
};

/// Runs function `f` with these values of the module's symbols; false if it can't run with them.
inline bool run(Engine& engine, Devices& devices, const std::shared_ptr<const VerifiedModule>& v, int32_t f, const std::vector<std::vector<int64_t>>& sizes, std::mt19937& random, Totals& totals) {
  auto program = Program::create(v);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return false;
  GroupChecker checker(devices, (*program)->verified(), f);
  PoolAllocator allocator(devices);
  Session session(*program, checker, allocator);
  bool any = false;
  for (const auto& values : sizes) {
    std::vector<Value> in;
    for (const Param& p : v->module().functions[static_cast<size_t>(f)].inputs) {
      if (p.type.kind != RegKind::kTensor) return false;
      std::vector<int64_t> shape;
      for (Dim d : p.type.tensor.shape) shape.push_back(*DimContext::evaluate(d, [&](SymbolId s) { return s < values.size() ? std::optional<int64_t>(values[s]) : std::nullopt; }));
      in.push_back(random_input(engine, p.type.tensor, shape, !checker.reduces(), random));
    }
    checker.specialise(values);
    auto r = session.run(f, in);
    any |= r.ok();
    totals.runs += r.ok();
    if (::testing::Test::HasFatalFailure()) return false;
  }
  totals.groups += static_cast<int64_t>(checker.groups());
  totals.evaluated += checker.evaluated();
  totals.members += checker.members();
  return any;
}

}  // namespace msvm::testing
