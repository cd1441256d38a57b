// Which calls go together: first along values, then side by side.
#include "msvm/jit/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "msvm/jit/lower_group.h"

namespace msvm::jit {
namespace {

using namespace lowering;

constexpr int kSideBySide = 4;  // groups back that a group is tried with although no tensor connects them

constexpr size_t kMostMembers = 64;  // bits of LoweredRegion::origins; more save nothing that counts, and each is looked at again for every further one

struct Candidate {
  std::vector<int32_t> members;  // ascending
  LoweredGroup lowered;
  bool alive = true;
};

class Lowering {
 public:
  Lowering(const FunctionView& view, const Region& region, const LowerOptions& options)
      : v_(view), region_(region), options_(options), uses_(view, region), context_{view, uses_, options_, {}} {
    // Blocks that follow each other need not be numbered so.
    int32_t end = 0;
    first_ = INT32_MAX;
    for (const Segment& s : region.segments) {
      first_ = std::min(first_, s.begin);
      end = std::max(end, s.end);
    }
    why_.resize(static_cast<size_t>(end - first_));
    of_.assign(why_.size(), -1);
  }

  LoweredRegion lower() {
    for (const Segment& s : region_.segments) {
      const size_t first = groups_.size();
      for (int32_t i = s.begin; i < s.end; ++i)
        if (v_.at(i).op == Opcode::kOpCall) add(i, first);
      join_side_by_side(first);
    }
    return result();
  }

 private:
  size_t at(int32_t instruction) const { return static_cast<size_t>(instruction - first_); }

  void add(int32_t i, size_t first) {
    if (!options_.graph_kernel) {
      why_[at(i)] = "graph kernels are off";
      return;
    }
    std::string why;
    auto loops = call_loops(v_, v_.at(i), options_, why);
    if (!loops) {
      why_[at(i)] = std::move(why);
      return;
    }
    context_.loops.emplace(i, std::move(*loops));
    std::vector<size_t> sources = groups_read(i, first);
    if (sources.size() > 1 && join(sources, i, why)) return;
    for (size_t k = sources.size(); k-- > 0;)
      if (join({sources[k]}, i, why)) return;
    why_[at(i)] = why;
    std::string alone;
    if (!join({}, i, alone) && why.empty()) why_[at(i)] = std::move(alone);
  }

  /// Groups from `first` on whose results the call reads, ascending.
  std::vector<size_t> groups_read(int32_t i, size_t first) const {
    std::vector<size_t> found;
    for (Reg r : v_.at(i).uses) {
      if (r == kNoReg) continue;
      for (int32_t writer : uses_.writers(uses_.root(r))) {
        if (writer >= i) break;
        const int32_t g = of_[at(writer)];
        if (g >= static_cast<int32_t>(first)) found.push_back(static_cast<size_t>(g));
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// The groups and the call as one group, if that is legal and can be lowered.
  bool join(const std::vector<size_t>& sources, int32_t call, std::string& why) {
    std::vector<int32_t> members;
    for (size_t g : sources) members.insert(members.end(), groups_[g].members.begin(), groups_[g].members.end());
    if (call >= 0) members.push_back(call);
    std::sort(members.begin(), members.end());
    if (members.size() > kMostMembers) return why = "too many calls for one kernel", false;
    if (const int32_t o = uses_.obstacle(members); o >= 0) {
      why = fmt::format("instruction {} ({}) must come between", o, v_.at(o).op == Opcode::kOpCall ? v_.at(o).text : std::string(instr_info(v_.at(o).op).mnemonic));
      return false;
    }
    auto lowered = lower_group(context_, members, why);
    if (!lowered) return false;
    for (size_t g : sources) groups_[g].alive = false;
    for (int32_t m : members) of_[at(m)] = static_cast<int32_t>(groups_.size());
    groups_.push_back({std::move(members), std::move(*lowered)});
    return true;
  }

  /// Elementwise groups over the same sizes, none of which reads the other.
  void join_side_by_side(size_t first) {
    std::vector<size_t> alive;
    for (size_t g = first; g < groups_.size(); ++g)
      if (groups_[g].alive && groups_[g].lowered.domain.row_axes == 0) alive.push_back(g);
    std::sort(alive.begin(), alive.end(), [&](size_t a, size_t b) { return groups_[a].members.back() < groups_[b].members.back(); });
    for (size_t k = 1; k < alive.size(); ++k) {
      int tried = 0;
      for (size_t j = k; j-- > 0 && tried < kSideBySide;) {
        const size_t a = alive[j], b = alive[k];
        if (!groups_[a].alive || groups_[a].lowered.domain.sizes != groups_[b].lowered.domain.sizes) continue;
        ++tried;
        std::string why;
        if (!join({a, b}, -1, why)) continue;
        alive[k] = groups_.size() - 1;
        break;
      }
    }
  }

  bool pays(const Candidate& c) const {
    const auto saved = static_cast<int>(c.members.size()) - 1;
    if (saved >= std::max(options_.min_profit, 1)) return true;
    const Instr& x = v_.at(c.members[0]);
    return c.members.size() == 1 && x.text == "msvm.Pointwise" && static_cast<int>(x.attrs.get_strings("body").size()) - 1 >= std::max(options_.min_profit, 1);
  }

  LoweredRegion result() {
    std::vector<const Candidate*> kept;
    for (const Candidate& c : groups_) {
      if (!c.alive) continue;
      if (pays(c)) kept.push_back(&c);
      else
        for (int32_t m : c.members) {
          of_[at(m)] = -1;
          if (why_[at(m)].empty()) why_[at(m)] = "nothing to do with it: its own kernel serves as well";
        }
    }
    std::sort(kept.begin(), kept.end(), [](const Candidate* a, const Candidate* b) { return a->members.back() < b->members.back(); });
    LoweredRegion out;
    for (const Candidate* c : kept) {
      out.groups.push_back(c->lowered.group);
      out.program.kernels.push_back(c->lowered.kernel);
      out.origins.push_back(c->lowered.origins);
      out.notes.push_back(note(*c));
      for (int32_t m : c->members) why_[at(m)].clear();
    }
    for (const Segment& s : region_.segments)
      for (int32_t i = s.begin; i < s.end; ++i)
        if (!why_[at(i)].empty()) out.why_not.push_back({i, why_[at(i)]});
    std::sort(out.why_not.begin(), out.why_not.end(), [](const NotFused& a, const NotFused& b) { return a.instruction < b.instruction; });
    return out;
  }

  std::string note(const Candidate& c) const {
    std::string ops, where, sizes;
    for (int32_t m : c.members) {
      ops += (ops.empty() ? "" : ", ") + v_.at(m).text;
      where += (where.empty() ? "" : ", ") + std::to_string(m);
    }
    for (Dim d : c.lowered.domain.sizes) sizes += (sizes.empty() ? "" : ", ") + v_.module.dims->to_string(d);
    return fmt::format("fused {} (instr {}) over [{}]", ops, where, sizes);
  }

  const FunctionView& v_;
  const Region& region_;
  const LowerOptions options_;
  const Uses uses_;
  GroupContext context_;
  int32_t first_ = 0;             // the least instruction of the region
  std::vector<std::string> why_;  // by instruction from there
  std::vector<int32_t> of_;       // likewise: its group
  std::vector<Candidate> groups_;
};

}  // namespace

LoweredRegion lower_region(const FunctionView& view, const Region& region, const LowerOptions& options) { return Lowering(view, region, options).lower(); }

}  // namespace msvm::jit
