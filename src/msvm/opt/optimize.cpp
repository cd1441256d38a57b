#include "msvm/opt/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "msvm/opt/passes.h"

namespace msvm {
namespace {

using PassFn = void (*)(opt::ValueGraph&, const opt::PassContext&);
struct Pass {
  const char* name;
  PassFn run;
};
constexpr Pass kPasses[] = {
#define X(name, doc) {#name, opt::name##_pass},
    MSVM_OPT_PASSES(X)
#undef X
};

bool wanted(const Pass& p, const OptOptions& o) {
  const std::string_view name = p.name;
  if (!o.fuse && (name == "epilogue" || name == "pointwise" || name == "normalization" || name == "attention" || name == "upsample" || name == "split")) return false;
  return o.layout || name != "layout";
}

/// Constants that no function reads any more go; the others move up.
void drop_unused_constants(Module& m) {
  std::vector<int64_t> place(m.constants.size(), -1);
  std::vector<Constant> kept;
  for (Function& f : m.functions)
    for (Block& b : f.blocks)
      for (Instr& i : b.instrs)
        if (i.op == Opcode::kTensorConst) {
          int64_t& to = place[static_cast<size_t>(i.imms[0])];
          if (to < 0) {
            to = static_cast<int64_t>(kept.size());
            kept.push_back(std::move(m.constants[static_cast<size_t>(i.imms[0])]));
          }
          i.imms[0] = to;
        }
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, int> count;
  for (Constant& c : kept) {
    const std::string stem = c.name;
    while (!c.name.empty() && !names.insert(c.name).second) c.name = fmt::format("{}.{}", stem, ++count[stem]);
  }
  m.constants = std::move(kept);
}

/// Fused operators are of the domain "msvm".
void declare_operators(Module& m) {
  if (m.opsets.empty() || std::any_of(m.opsets.begin(), m.opsets.end(), [](const OpsetVersion& o) { return o.domain == "msvm"; })) return;
  for (const Function& f : m.functions)
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs)
        if (i.op == Opcode::kOpCall && i.text.starts_with("msvm.")) return m.opsets.push_back({"msvm", kMsvmOpset});
}

/// What folding may add: as much as there is, and some more.
int64_t room_for_constants(const Module& m) {
  constexpr int64_t kSome = 32 << 20;
  size_t bytes = 0;
  for (const Constant& c : m.constants) bytes += c.bytes;
  return kSome + 2 * static_cast<int64_t>(std::min<size_t>(bytes, size_t{1} << 60));
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& p : kPasses) names.emplace_back(p.name);
  return names;
}

Result<Module> optimize(const VerifiedModule& verified, const OptOptions& options, Evaluator* evaluator) {
  Module m = verified.module();
  if (options.level == 0) return m;
  std::vector<const Pass*> passes;
  if (options.passes.empty()) {
    for (const Pass& p : kPasses)
      if (wanted(p, options)) passes.push_back(&p);
  }
  for (const std::string& name : options.passes) {
    auto* p = std::find_if(std::begin(kPasses), std::end(kPasses), [&](const Pass& q) { return q.name == name; });
    if (p == std::end(kPasses)) return invalid_argument(fmt::format("there is no pass {}; there are {}", name, fmt::join(pass_names(), ", ")));
    passes.push_back(p);
  }
  int64_t room = room_for_constants(m);
  const opt::PassContext context{options, evaluator, &room};
  for (size_t f = 0; f < m.functions.size(); ++f) {
    opt::ValueGraph graph(m, static_cast<int32_t>(f));
    for (const Pass* p : passes) {
      graph.drop_hints();
      p->run(graph, context);
      graph.remove_dead();
    }
    MSVM_RETURN_IF_ERROR(graph.store());
  }
  drop_unused_constants(m);
  declare_operators(m);
  m.opt_level = options.level;
  return m;
}

}  // namespace msvm
