// Members of a group over common loops: which axis walks along which, and what is passed on without memory.
#include "msvm/jit/lower_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "msvm/jit/lower_strides.h"

namespace msvm::jit::lowering {
namespace {

std::vector<Dim> sizes_of(const FunctionView& v, Reg r) {
  std::vector<Dim> sizes;
  for (int a : loop_axes(v, r)) sizes.push_back(v.value(v.type(r).shape[static_cast<size_t>(a)]));
  return sizes;
}

class GraphBuilder {
 public:
  GraphBuilder(const GroupContext& context, std::span<const int32_t> members, std::string& why) : c_(context), v_(context.view), members_(members), why_(why) {}

  std::optional<GroupGraph> build() {
    if (!find_domain()) return std::nullopt;
    for (size_t k = 0; k < members_.size(); ++k)
      if (!add(k)) return std::nullopt;
    bool any = false;
    for (size_t k = 0; k < members_.size(); ++k) {
      Output& o = g_.outputs[k];
      o.stored = c_.uses.read_outside(c_.uses.root(g_.tensors[static_cast<size_t>(o.tensor)].reg), members_);
      any |= o.stored;
    }
    if (!any) return why_ = "nobody reads its results", std::nullopt;
    return std::move(g_);
  }

 private:
  const Instr& call(size_t k) const { return v_.at(members_[k]); }
  const CallLoops& loops(size_t k) const { return c_.loops.at(members_[k]); }

  bool find_domain() {
    g_.domain = domain_of(c_, members_[0]);
    for (int32_t m : members_)
      if (c_.loops.at(m).has_rows()) {
        g_.domain = domain_of(c_, m);
        if (g_.domain.row_axes == 0) return why_ = "the reduced axes aren't the innermost in memory", false;
        break;
      }
    return true;
  }

  /// The loop that each axis of a tensor of such a shape walks along; -1 for axes of size 1. Empty if it doesn't fit the domain or (row)
  /// the domain without the row.
  std::vector<int> loops_of(Reg r, bool row) const {
    const std::vector<int> axes = loop_axes(v_, r);
    const std::vector<Dim> sizes = sizes_of(v_, r);
    const size_t count = g_.domain.sizes.size() - (row ? g_.domain.row_axes : 0);
    std::vector<int> to(v_.type(r).shape.size(), -1);
    if (sizes.size() != count || !std::equal(sizes.begin(), sizes.end(), g_.domain.sizes.begin())) return {-2};
    for (size_t k = 0; k < axes.size(); ++k) to[static_cast<size_t>(axes[k])] = static_cast<int>(k);
    return to;
  }

  int32_t tensor(TensorUse use) {
    for (size_t k = 0; k < g_.tensors.size(); ++k)
      if (g_.tensors[k] == use) return static_cast<int32_t>(k);
    g_.tensors.push_back(std::move(use));
    return static_cast<int32_t>(g_.tensors.size() - 1);
  }
  TensorUse use_of(Reg r) const {
    TensorUse u;
    u.reg = r;
    u.dtype = v_.type(r).dtype;
    u.axis.assign(g_.domain.sizes.size(), -1);
    u.unsure.assign(g_.domain.sizes.size(), 0);
    return u;
  }

  bool add(size_t k) {
    const Instr& x = call(k);
    const CallLoops& walk = loops(k);
    const Reg out = x.outs[0];
    // What the call walks over: its result, or input 0 where rows are reduced.
    const bool row_call = !walk.has_rows() && g_.domain.row_axes > 0 && loops_of(out, false) == std::vector<int>{-2};
    const Reg walked = walk.has_rows() ? x.uses[0] : out;
    const std::vector<int> to = loops_of(walked, row_call);
    if (to == std::vector<int>{-2}) return why_ = fmt::format("instruction {} ({}) runs over other loops", members_[k], x.text), false;
    if (walk.has_rows() && !rows_agree(k, to)) return false;
    const bool row_result = row_call || walk.walk == CallLoops::kReduced;
    const std::vector<int> out_to = walk.has_rows() ? loops_of(out, row_result) : to;
    if (out_to == std::vector<int>{-2}) return why_ = fmt::format("the result of instruction {} ({}) lies otherwise", members_[k], x.text), false;

    TensorUse result = use_of(out);
    for (size_t a = 0; a < out_to.size(); ++a)
      if (out_to[a] >= 0) result.axis[static_cast<size_t>(out_to[a])] = static_cast<int>(a);
    const int32_t home = tensor(std::move(result));

    g_.graph.set_member(k);
    std::vector<Ref> inputs;
    for (size_t i = 0; i < x.uses.size(); ++i) {
      Ref value;
      if (x.uses[i] != kNoReg && !operand(k, i, to, walked, row_call, value)) return false;
      inputs.push_back(value);
    }
    const DType type = v_.type(out).dtype;
    g_.graph.set_home(row_result ? -1 : home, type);
    const Ref value = expand(v_, x, inputs, g_.graph);
    g_.graph.set_home(-1, type);
    if (value.kind == Ref::kNone) return why_ = fmt::format("no steps for instruction {} ({})", members_[k], x.text), false;
    if (row_result && value.kind == Ref::kNode && !g_.graph.is_row(value)) return why_ = "a value per row depends on columns", false;
    g_.outputs.push_back({home, value, row_result});
    at_.emplace(out, k);
    roots_.insert(c_.uses.root(out));
    return true;
  }

  /// The reduced axes of the call are the row.
  bool rows_agree(size_t k, const std::vector<int>& to) {
    const size_t first = g_.domain.sizes.size() - g_.domain.row_axes;
    size_t found = 0;
    for (size_t a = 0; a < to.size(); ++a)
      if (to[a] >= 0 && loops(k).row_axes >> a & 1) {
        if (static_cast<size_t>(to[a]) < first) return why_ = "reductions over different axes", false;
        ++found;
      }
    return found == g_.domain.row_axes || (why_ = "reductions over different axes", false);
  }

  /// The axis of `walked` that axis `a` of the operand is aligned with; -1: none.
  int aligned(size_t k, size_t input, size_t a, Reg walked) const {
    const Reg r = call(k).uses[input];
    if (loops(k).walk == CallLoops::kTransposed) {
      const auto& p = loops(k).permutation;
      return static_cast<int>(std::find(p.begin(), p.end(), static_cast<int64_t>(a)) - p.begin());
    }
    if (call(k).text == "InstanceNormalization" && input > 0) return 1;  // one value per channel
    return static_cast<int>(a) + v_.type(walked).rank() - v_.type(r).rank();
  }

  bool operand(size_t k, size_t input, const std::vector<int>& to, Reg walked, bool row_call, Ref& value) {
    const Reg r = call(k).uses[input];
    if (auto number = constant_number(v_, r)) return value = *number, true;
    TensorUse use = use_of(r);
    bool sure = true;
    const auto& shape = v_.type(r).shape;
    if (loops(k).walk == CallLoops::kSameOrder) {
      const std::vector<int> axes = loop_axes(v_, r);
      if (v_.type(r).layout != Layout::kRowMajor || v_.type(walked).layout != Layout::kRowMajor || sizes_of(v_, r) != sizes_of(v_, walked))
        return why_ = fmt::format("instruction {} ({}) splits or joins axes", members_[k], call(k).text), false;
      const std::vector<int> loop = loop_axes(v_, walked);
      for (size_t n = 0; n < axes.size(); ++n) use.axis[static_cast<size_t>(to[static_cast<size_t>(loop[n])])] = axes[n];
    } else {
      for (size_t a = 0; a < shape.size(); ++a) {
        const Dim size = v_.value(shape[a]);
        const int with = aligned(k, input, a, walked);
        if (size.is_const(1) || with < 0 || to[static_cast<size_t>(with)] < 0) continue;
        const auto loop = static_cast<size_t>(to[static_cast<size_t>(with)]);
        use.axis[loop] = static_cast<int>(a);
        use.unsure[loop] = size != g_.domain.sizes[loop];
        sure &= !use.unsure[loop];
      }
    }
    const Seen seen = c_.uses.seen(r);
    if (const auto from = at_.find(seen.base); from != at_.end()) return passed_on(k, std::move(use), sure, seen, from->second, value);
    if (roots_.contains(c_.uses.root(r)))
      return why_ = fmt::format("instruction {} ({}) reads what the group writes through another view", members_[k], call(k).text), false;
    const bool row = row_call;
    value = g_.graph.load(tensor(std::move(use)), v_.type(r).dtype, row);
    return true;
  }

  /// The operand is the result of an earlier member, element by element.
  bool passed_on(size_t k, TensorUse use, bool sure, const Seen& seen, size_t from, Ref& value) {
    const Output& o = g_.outputs[from];
    for (int& a : use.axis) a = a < 0 ? -1 : seen.axis[static_cast<size_t>(a)];
    if (!sure || !seen.sure || use.axis != g_.tensors[static_cast<size_t>(o.tensor)].axis)
      return why_ = fmt::format("instruction {} ({}) reads instruction {} at other places", members_[k], call(k).text, members_[from]), false;
    const DType type = v_.type(seen.base).dtype;
    if (type != loops::value_type(type)) return why_ = fmt::format("{} is rounded between instructions", dtype_name(type)), false;
    value = o.value;
    return true;
  }

  const GroupContext& c_;
  const FunctionView& v_;
  std::span<const int32_t> members_;
  std::string& why_;
  GroupGraph g_;
  std::unordered_map<Reg, size_t> at_;  // results: the member
  std::unordered_set<Reg> roots_;       // that members write
};

}  // namespace

Domain domain_of(const GroupContext& context, int32_t call) {
  const Instr& x = context.view.at(call);
  const CallLoops& walk = context.loops.at(call);
  Domain d;
  const Reg walked = walk.has_rows() ? x.uses[0] : x.outs[0];
  d.sizes = sizes_of(context.view, walked);
  d.walked = walked;
  if (!walk.has_rows()) return d;
  const std::vector<int> axes = loop_axes(context.view, walked);
  size_t rows = 0;
  while (rows < axes.size() && walk.row_axes >> axes[axes.size() - 1 - rows] & 1) ++rows;
  for (size_t k = 0; k + rows < axes.size(); ++k)
    if (walk.row_axes >> axes[k] & 1) rows = axes.size() + 1;
  d.row_axes = rows > axes.size() ? 0 : rows;
  return d;
}

std::optional<GroupGraph> graph_of(const GroupContext& context, std::span<const int32_t> members, std::string& why) { return GraphBuilder(context, members, why).build(); }

}  // namespace msvm::jit::lowering
