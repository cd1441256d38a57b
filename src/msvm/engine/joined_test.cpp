// A debugger's hook that comes in the midst of a run, at each place where it can: what it sees is what one sees that was there from the start, as far as it claims to know.
#include <map>

#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/program_files_testing.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

/// Registers that can be read, by what they hold.
struct Seen {
  int32_t instruction = -1;
  std::map<Reg, std::string> values;
  std::map<SymbolId, int64_t> symbols;
};

std::string bytes_of(const RunView& view, Reg r) {
  if (view.code().regs[static_cast<size_t>(r)].type.kind == RegKind::kList) {
    const auto* items = view.list(r);
    return "list of " + std::to_string(items ? items->size() : 0);
  }
  if (view.code().regs[static_cast<size_t>(r)].type.kind != RegKind::kTensor) return std::to_string(view.scalar(r));
  const TensorMeta& m = view.tensor(r);
  std::string text = to_string(m);
  if (m.dtype == DType::kString || m.device.kind != DeviceKind::kCpu) return text;  // looking at work of a device waits for it, and sees it fail
  auto copy = view.copy(m);
  EXPECT_TRUE(copy.ok()) << "R" << r << ": " << copy.status().message();
  if (copy.ok() && copy->meta.data) text.append(reinterpret_cast<const char*>(copy->meta.data), static_cast<size_t>(m.elements() * dtype_bytes(m.dtype)));
  return text;
}

class Watch final : public RunWatch {
 public:
  /// `partly`: also registers that may not be whole. What is read later on, and never written, was whole from the start: who joins may know that first.
  Watch(RunView& view, std::vector<Seen>& seen, bool partly) : view_(view), seen_(seen), partly_(partly) {}
  Status before(int32_t instruction) override {
    Seen s{instruction, {}, {}};
    for (size_t k = 0; k < view_.code().regs.size(); ++k)
      if (const auto r = static_cast<Reg>(k); view_.look(r).readable() || (partly_ && view_.look(r).state == RegisterState::kPartly)) s.values[r] = bytes_of(view_, r);
    for (SymbolId n = 0; n < view_.program().module().dims->num_symbols(); ++n)
      if (const auto v = view_.symbol(n)) s.symbols[n] = *v;
    seen_.push_back(std::move(s));
    return {};
  }
  Status after(int32_t) override { return {}; }
  Result<bool> interprets(int32_t) override { return false; }
  Status after_region(int32_t, const RegionEntry*) override { return {}; }
  void failing(int32_t, const Status&) override {}
  void ended(const Status&) override { ++ends; }
  static inline int ends = 0;

 private:
  RunView& view_;
  std::vector<Seen>& seen_;
  const bool partly_;
};

/// Lets so many places pass.
class Hook final : public DebugHook {
 public:
  explicit Hook(int passes) : passes_(passes) {}
  std::unique_ptr<RunWatch> begin(RunView& view) override {
    if (passes_-- > 0) {
      session->set_debug_hook(itself.lock());  // asks again
      return nullptr;
    }
    joined = view.clock() > 0;
    return std::make_unique<Watch>(view, seen, !joined);
  }
  Session* session = nullptr;
  std::weak_ptr<Hook> itself;
  std::vector<Seen> seen;
  bool joined = false;

 private:
  int passes_;
};

struct Totals {
  int joins = 0, shared = 0, missed = 0;
};

std::string run(Session& session, int32_t function, std::span<const Value> inputs, const std::shared_ptr<Hook>& hook) {
  hook->session = &session;
  hook->itself = hook;
  session.set_debug_hook(hook);
  auto r = session.run(function, inputs);
  session.set_debug_hook(nullptr);
  return r.ok() ? to_text(*r) : r.status().message();
}

/// Joins the run at each place, one after the other.
void join_everywhere(Session& session, int32_t function, std::span<const Value> inputs, Totals& totals) {
  const auto whole = std::make_shared<Hook>(0);
  const std::string expected = run(session, function, inputs, whole);
  for (int passes = 1;; ++passes) {
    SCOPED_TRACE("place " + std::to_string(passes));
    const int ends = Watch::ends;
    const auto hook = std::make_shared<Hook>(passes);
    ASSERT_EQ(run(session, function, inputs, hook), expected);
    EXPECT_EQ(session.watched(), !hook->seen.empty());
    if (hook->seen.empty()) return;  // there aren't so many
    EXPECT_EQ(Watch::ends, ends + 1);
    EXPECT_TRUE(hook->joined);
    ++totals.joins;
    ASSERT_LT(hook->seen.size(), whole->seen.size());
    const size_t first = whole->seen.size() - hook->seen.size();
    for (size_t k = 0; k < hook->seen.size(); ++k) {
      const Seen &found = hook->seen[k], &all = whole->seen[first + k];
      auto steps = [](const Hook& h) {
        std::string text;
        for (const Seen& s : h.seen) text += " " + std::to_string(s.instruction);
        return text;
      };
      ASSERT_EQ(found.instruction, all.instruction) << steps(*hook) << "\n" << steps(*whole);
      for (const auto& [r, value] : found.values) {
        const auto known = all.values.find(r);
        ASSERT_TRUE(known != all.values.end()) << "R" << r << " at " << found.instruction;
        ASSERT_EQ(value, known->second) << "R" << r << " at " << found.instruction;
        ++totals.shared;
      }
      for (const auto& [s, value] : found.symbols) ASSERT_EQ(value, all.symbols.at(s)) << "symbol " << s;
      totals.missed += static_cast<int>(all.values.size() - found.values.size());
    }
    if (passes > 40) return;
  }
}

class Joined : public ::testing::TestWithParam<std::string> {};

TEST_P(Joined, SeesWhatOneSeesFromTheStart) {
  const std::string text = text_of(GetParam());
  auto engine = make_engine({.num_threads = 1, .simulated_devices = 2, .jit = {.jit_level = 0}});
  auto module = verified(text, GetParam());
  ASSERT_TRUE(module);
  auto program = Program::create(module), served = Program::create(module);
  ASSERT_TRUE(program.ok() && served.ok());
  serve_all_regions(**served);
  Devices devices({.num_threads = 1, .simulated_devices = 2});
  PooledSession plain(*program, devices, {}), native(*served, devices, {});
  Totals totals;
  for (const Case& r : runs_of(text)) {
    SCOPED_TRACE("line " + std::to_string(r.line) + ": @" + r.function + "(" + r.inputs + ")");
    const int32_t f = function_index(module->module().functions, r.function);
    auto inputs = parse_values(*engine, r.inputs);
    ASSERT_TRUE(inputs);
    for (PooledSession* session : {&plain, &native})
      for (const bool planning : {false, true}) {
        SCOPED_TRACE(std::string(session == &plain ? "interpreted" : "regions served") + (planning ? ", planned" : ""));
        session->session.set_planning(planning);
        ASSERT_NO_FATAL_FAILURE(join_everywhere(session->session, f, *inputs, totals));
      }
  }
  const bool joins = text.find("OP_CALL") != std::string::npos || text.find("JUMP") != std::string::npos;
  EXPECT_EQ(totals.joins > 0, joins);
}

TEST(JoinedRandom, SeesWhatOneSeesFromTheStart) {
  auto engine = make_engine();
  Totals totals;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Module m = RandomProgram(seed).build();
    const std::string text = disassemble(m);
    VerifyResult v = verify(std::move(m));
    ASSERT_TRUE(v.module);
    SCOPED_TRACE(text);
    auto program = Program::create(v.module), served = Program::create(v.module);
    ASSERT_TRUE(program.ok() && served.ok());
    serve_all_regions(**served);
    Devices devices({.num_threads = 1});
    PooledSession plain(*program, devices, {.max_instructions = 20000}), native(*served, devices, {.max_instructions = 20000});
    for (const char* x : {"f32[3, 4] iota", "f32[8, 4] iota"}) {
      const std::vector<Value> in{tensor(*engine, x)};
      for (PooledSession* session : {&plain, &native}) ASSERT_NO_FATAL_FAILURE(join_everywhere(session->session, 0, in, totals));
    }
    const auto left = devices.pool.stats();
    EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
  }
  EXPECT_GT(totals.joins, 300);
  EXPECT_GT(totals.shared, 4 * totals.missed);
}

INSTANTIATE_TEST_SUITE_P(Files, Joined, ::testing::ValuesIn(program_files()), [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

}  // namespace
}  // namespace msvm::testing
