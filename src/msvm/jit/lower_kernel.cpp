// A group's kernel: its loops merged as far as every tensor allows, its strides, its size arguments.
#include <fmt/format.h>

#include <algorithm>

#include "msvm/jit/lower_group.h"
#include "msvm/jit/lower_sizes.h"
#include "msvm/jit/lower_strides.h"

namespace msvm::jit::lowering {
namespace {

using loops::Size;

constexpr int64_t kShortRow = 4;                  // shorter rows cost more than they save
constexpr int64_t kLongestSingleRow = int64_t{1} << 16;  // of a kernel whose only row one thread must walk

/// Loops [first, end) as one.
struct Run {
  size_t first, end;
};

class KernelBuilder {
 public:
  KernelBuilder(const GroupContext& context, std::span<const int32_t> members, GroupGraph g, std::string& why) : c_(context), v_(context.view), members_(members), g_(std::move(g)), why_(why), sizes_(context.view) {}

  std::optional<LoweredGroup> build() {
    made_ = emit_passes(g_, constant_row());
    for (size_t k = 0; k < g_.tensors.size(); ++k)
      if (made_.loaded[k] || made_.stored[k]) used_.push_back(k);
    for (const loops::Pass& p : made_.passes) steps_ += static_cast<int>(p.steps.size());
    if (static_cast<int>(used_.size()) > c_.options.max_tensors) return why_ = "too many tensors for one kernel", std::nullopt;
    if (steps_ > c_.options.max_steps) return why_ = "too many steps for one kernel", std::nullopt;
    find_strides();
    if (!find_runs() || !rows_fit()) return std::nullopt;
    LoweredGroup out;
    out.domain = g_.domain;
    fill(out);
    if (Status s = loops::check(out.kernel); !s.ok()) return why_ = s.message(), std::nullopt;
    return out;
  }

 private:
  const TensorUse& tensor(size_t u) const { return g_.tensors[used_[u]]; }
  size_t loop_count() const { return g_.domain.sizes.size(); }

  /// The extent of the row of reductions, if it is a constant.
  std::optional<int64_t> constant_row() const {
    int64_t n = 1;
    for (size_t l = loop_count() - g_.domain.row_axes; l < loop_count(); ++l) {
      const Dim d = g_.domain.sizes[l];
      if (!d.is_const() || __builtin_mul_overflow(n, d.value(), &n)) return std::nullopt;
    }
    return n;
  }

  void find_strides() {
    for (size_t u = 0; u < used_.size(); ++u) {
      const TensorUse& t = tensor(u);
      const std::vector<Stride> all = strides_of(v_, t.reg);
      std::vector<Stride> by_loop;
      for (size_t l = 0; l < loop_count(); ++l) by_loop.push_back(t.axis[l] < 0 ? Stride::number(0) : t.unsure[l] ? Stride{} : all[static_cast<size_t>(t.axis[l])]);
      strides_.push_back(std::move(by_loop));
    }
  }

  /// Whether loops l-1 and l can be one for every tensor.
  bool merges(size_t l) const {
    for (size_t u = 0; u < used_.size(); ++u) {
      const Stride &outer = strides_[u][l - 1], &inner = strides_[u][l];
      if (!outer.known || !inner.known) return false;
      if (!outer.is_number(0) || !inner.is_number(0))
        if (inner.is_number(0) || !(outer == inner.times(g_.domain.sizes[l]))) return false;
    }
    return true;
  }
  /// Whether a stride of loop l, as the innermost of several, is known whatever the sizes: that of an axis of size 1 isn't.
  bool expressible(size_t l) const {
    for (size_t u = 0; u < used_.size(); ++u)
      if (!strides_[u][l].is_number() && !is_dense(v_, tensor(u).reg)) return false;
    return true;
  }

  bool find_runs() {
    const size_t n = loop_count(), rows = g_.domain.row_axes;
    for (size_t l = n - rows + 1; rows > 0 && l < n; ++l)
      if (!merges(l)) return why_ = "the reduced axes aren't contiguous in every tensor", false;
    size_t inner = rows > 0 ? n - rows : n;
    if (rows == 0 && n > 0)
      for (inner = n - 1; inner > 0 && merges(inner);) --inner;
    if (inner < n) runs_.push_back({inner, n});
    for (size_t end = inner; end > 0;) {
      size_t first = end - 1;
      while (first > 0 && merges(first) && expressible(end - 1)) --first;
      runs_.insert(runs_.begin(), {first, end});
      end = first;
    }
    return true;
  }

  bool rows_fit() {
    if (runs_.empty()) return true;
    const size_t last = loop_count() - 1;
    for (size_t u = 0; u < used_.size(); ++u) {
      const TensorUse& t = tensor(u);
      if (t.unsure[last]) return why_ = fmt::format("whether {} is broadcast along the row isn't known", v_.name(t.reg)), false;
      const Stride& s = strides_[u][last];
      if (!s.is_number(0) && !s.is_number(1)) return why_ = fmt::format("rows of {} aren't contiguous in this order", v_.name(t.reg)), false;
    }
    const Size row = inner_size();
    if (row.argument < 0 && row.value < kShortRow && runs_.size() > 1) return why_ = fmt::format("rows of {} elements are too short", row.value), false;
    if (g_.domain.row_axes > 0 && runs_.size() == 1 && (row.argument >= 0 || row.value > kLongestSingleRow)) return why_ = "one long row is no work for several threads", false;
    return true;
  }

  /// An axis of a tensor of the group that has the extent of the loop.
  RegionSize::Axis extent(size_t loop) const {
    auto has = [&](const TensorUse& t) { return t.axis[loop] >= 0 && !t.unsure[loop]; };
    for (size_t u = 0; u < used_.size(); ++u)
      if (has(tensor(u))) return {tensor(u).reg, tensor(u).axis[loop]};
    return {g_.domain.walked, loop_axes(v_, g_.domain.walked)[loop]};
  }
  std::vector<RegionSize::Axis> extents(const Run& run) const {
    std::vector<RegionSize::Axis> axes;
    for (size_t l = run.first; l < run.end; ++l) axes.push_back(extent(l));
    return axes;
  }
  Size inner_size() { return runs_.empty() ? Size::number(1) : sizes_.product(extents(runs_.back())); }

  Size stride(size_t u, const Run& run) {
    const size_t loop = run.end - 1;
    const TensorUse& t = tensor(u);
    const RegionSize::Axis axis{t.reg, t.axis[loop]};
    if (strides_[u][loop].is_number()) return Size::number(strides_[u][loop].factor);
    std::vector<RegionSize::Axis> inside;
    if (!t.unsure[loop] && stride_extents(v_, axis, inside)) return sizes_.product(inside);
    return sizes_.stride(axis);
  }

  void fill(LoweredGroup& out) {
    loops::Kernel& k = out.kernel;
    RegionGroup& g = out.group;
    k.inner = inner_size();
    g.inner = runs_.empty() ? RegionSize{} : sizes_.product_size(extents(runs_.back()));
    for (size_t r = 0; r + 1 < runs_.size(); ++r) {
      k.outer.push_back(sizes_.product(extents(runs_[r])));
      g.outer.push_back(sizes_.product_size(extents(runs_[r])));
    }
    std::vector<int32_t> number(g_.tensors.size(), -1);
    for (size_t u = 0; u < used_.size(); ++u) {
      number[used_[u]] = static_cast<int32_t>(u);
      loops::Access a{tensor(u).dtype, made_.stored[used_[u]] != 0, {}};
      for (const Run& run : runs_) a.strides.push_back(stride(u, run));
      if (runs_.empty()) a.strides.push_back(Size::number(a.written ? 1 : 0));
      k.tensors.push_back(std::move(a));
      g.pointers.push_back(tensor(u).reg);
    }
    k.passes = std::move(made_.passes);
    for (loops::Pass& p : k.passes)
      for (loops::Step& s : p.steps) {
        if (s.tensor >= 0) s.tensor = number[static_cast<size_t>(s.tensor)];
        for (loops::Operand& o : s.operands)
          if (o.kind == loops::Operand::kSize) o.index = k.inner.argument;
      }
    k.sizes = sizes_.count();
    g.sizes = sizes_.take();
    g.members.assign(members_.begin(), members_.end());
    g.splits_columns = k.splits_columns();
    g.ns_per_element = guess(k);
    k.name = name();
    out.steps = steps_;
    out.origins = std::move(made_.members);
  }

  static double guess(const loops::Kernel& k) {
    double ns = 0;
    for (const loops::Pass& p : k.passes)
      if (!p.row)
        for (const loops::Step& s : p.steps) ns += s.op == loops::Op::kLoad || s.op == loops::Op::kStore ? 0.06 : 0.02 * step_cost(s.op);
    return ns;
  }

  /// "mul_add_relu"
  std::string name() const {
    std::string text;
    for (int32_t m : members_) {
      std::string_view op = v_.at(m).text;
      if (op.starts_with("msvm.")) op.remove_prefix(5);
      if (text.size() + op.size() > 60) {
        text += "_etc";
        break;
      }
      if (!text.empty()) text += '_';
      for (char ch : op) text += ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
    }
    return text;
  }

  const GroupContext& c_;
  const FunctionView& v_;
  std::span<const int32_t> members_;
  GroupGraph g_;
  std::string& why_;
  SizeTable sizes_;
  Passes made_;
  std::vector<size_t> used_;                  // tensors of the graph that the kernel touches
  std::vector<std::vector<Stride>> strides_;  // by used tensor and loop
  std::vector<Run> runs_;                     // outermost first; the last one is the row
  int steps_ = 0;
};

}  // namespace

std::optional<LoweredGroup> lower_group(const GroupContext& context, std::span<const int32_t> members, std::string& why) {
  auto g = graph_of(context, members, why);
  if (!g) return std::nullopt;
  return KernelBuilder(context, members, std::move(*g), why).build();
}

}  // namespace msvm::jit::lowering
