// Group 4, views: each lies inside its tensor, axis by axis, and can be expressed by strides.
#include <fmt/format.h>

#include <algorithm>

#include "msvm/verify/sizes.h"

namespace msvm::verification {
namespace {

class ViewCheck {
 public:
  ViewCheck(Context& c, Sizes& s, int32_t at)
      : c_(c), s_(s), at_(at), x_(c.at(at)), source_(x_.uses[0]), t_(s.type(source_)) {}

  ViewResult run() {
    if (view_kind(x_) == ViewKind::kIdentity) return {t_.shape, t_.strided, true};
    if (t_.unknown_rank) {
      c_.error(Rule::kKnownRank, at_, {fmt::format("a {} needs a known rank", view_kind_name(view_kind(x_))), {}, c_.origin(source_),
                                       fmt::format("give R{} a rank with TENSOR_CREATE R{}, spec", source_, source_)});
      return {};
    }
    if (t_.layout != Layout::kRowMajor && !keeps_layout()) {
      c_.error(Rule::kViewLayout, at_, {fmt::format("a {} of an nhwc tensor can't be expressed", view_kind_name(view_kind(x_))), "a row-major tensor", c_.origin(source_), copy_fix(), copy_edits()});
      return {};
    }
    for (Dim d : x_.dims) dims_.push_back(s_.canonical(d));
    switch (view_kind(x_)) {
      case ViewKind::kSlice: return slice();
      case ViewKind::kReshape: return reshape();
      case ViewKind::kTranspose: return transpose();
      case ViewKind::kBroadcast: return broadcast();
      case ViewKind::kSqueeze: return squeeze();
      case ViewKind::kUnsqueeze: return unsqueeze();
      case ViewKind::kWindow: return window();
      case ViewKind::kIdentity: break;
    }
    return {};
  }

 private:
  TensorType dense_type() const {
    TensorType t = c_.declared(source_);
    t.strided = false;
    t.filled.reset();
    t.layout = Layout::kRowMajor;
    return t;
  }
  /// The view holds the copy's storage, so its own reference is dropped behind it.
  Edits copy_edits() const {
    Edits edits = dense_copy(c_, at_, source_, c_.f.regs.size(), dense_type());
    edits.push_back(free_before(at_ + 1, static_cast<Reg>(c_.f.regs.size())));
    return edits;
  }
  std::string copy_fix() const {
    const TensorType t = dense_type();
    return fmt::format("insert before instruction {}:  R{} = TENSOR_ALLOC {}  and  TENSOR_COPY R{} -> R{}, then view R{}", at_, c_.f.regs.size(),
                       to_string(t, c_.dims), source_, c_.f.regs.size(), c_.f.regs.size());
  }

  /// Slices and windows cut along axes, a transpose spells the order of the axes out, a squeeze drops spatial axes.
  bool keeps_layout() const {
    const ViewKind k = view_kind(x_);
    if (k == ViewKind::kSqueeze) return t_.rank() - static_cast<int>(x_.imms.size()) >= 3 && std::all_of(x_.imms.begin(), x_.imms.end(), [](int64_t a) { return a >= 2; });
    return k == ViewKind::kSlice || k == ViewKind::kWindow || k == ViewKind::kTranspose;
  }

  bool axis_ok(int64_t axis, int rank) {
    if (axis < rank) return true;
    c_.error(Rule::kViewInside, at_, {fmt::format("axis {} doesn't exist", axis), fmt::format("below {}", rank), c_.origin(source_)});
    return false;
  }

  /// 0 <= from <= to <= size.
  bool inside(int64_t axis, Dim from, Dim to) {
    const Dim size = t_.shape[axis];
    auto require = [&](Dim a, Dim b, const char* what) {
      if (s_.settle(at_, {CondOp::kLe, a, b}, DiagCode::kViewOutside, [&] { return fmt::format("{} along axis {}", what, axis); }, Check::kBefore) != Answer::kRefuted) return true;
      c_.error(Rule::kViewInside, at_, {fmt::format("the view reaches outside axis {}: {} fails", axis, what), fmt::format("0 <= from <= to <= {}", c_.text(size)),
                                        fmt::format("from {} to {} of {}", c_.text(from), c_.text(to), c_.origin(source_))});
      return false;
    };
    return require(c_.dims.constant(0), from, "0 <= from") && require(from, to, "from <= to") && require(to, size, "to <= size");
  }

  Dim length(Dim from, Dim to, int64_t step) {
    Dim n = c_.dims.sub(to, from);
    return step == 1 ? n : c_.dims.ceildiv(n, c_.dims.constant(step));
  }

  /// Axes from the outermost to the innermost in memory.
  std::vector<int> memory_order() const {
    std::vector<int> order;
    for (int a = 0; a < t_.rank(); ++a) order.push_back(a);
    if (t_.layout == Layout::kNhwc) {  // N, H, W, ..., C
      order.erase(order.begin() + 1);
      order.push_back(1);
    }
    return order;
  }

  /// A box of a dense tensor is dense if only one axis is cut and every axis outside of it has size 1 in the box.
  bool box_is_dense(const std::vector<Dim>& shape, unsigned cut, unsigned stepped) const {
    if (t_.strided) return false;
    bool all_one = true;
    for (int a : memory_order()) {
      if (cut >> a & 1) {
        if (!all_one || (stepped >> a & 1)) return false;
        cut &= ~(1u << a);
      }
      // An axis of size 1 outside of the cut ones may be cut itself.
      all_one = all_one && is_one(shape[a]);
    }
    return true;
  }
  bool is_one(Dim d) const { return d.is_const() ? d.is_const(1) : s_.proved(CondOp::kEq, d, c_.dims.constant(1)); }
  bool same(Dim a, Dim b) const { return a.is_const() && b.is_const() ? a == b : s_.proved(CondOp::kEq, a, b); }

  ViewResult slice() {
    ViewResult v{t_.shape, true, true};
    unsigned cut = 0, stepped = 0;
    for (size_t k = 0; k < x_.imms.size(); k += 2) {
      const int64_t axis = x_.imms[k], step = x_.imms[k + 1];
      const Dim from = dims_[k], to = dims_[k + 1];
      if (!axis_ok(axis, t_.rank())) return {};
      if (!inside(axis, from, to)) return {};
      v.shape[axis] = length(from, to, step);
      if (!v.shape[axis].valid() || !same(v.shape[axis], t_.shape[axis])) cut |= 1u << axis;
      if (step != 1) stepped |= 1u << axis, cut |= 1u << axis;
    }
    v.strided = !box_is_dense(v.shape, cut, stepped);
    return v;
  }

  ViewResult window() {
    const int64_t axis = x_.imms[0];
    if (!axis_ok(axis, t_.rank()) || !inside(axis, dims_[0], dims_[1])) return {};
    ViewResult v{t_.shape, true, true};
    v.shape[axis] = length(dims_[0], dims_[1], 1);
    v.strided = !box_is_dense(v.shape, v.shape[axis].valid() && same(v.shape[axis], t_.shape[axis]) ? 0 : 1u << axis, 0);
    return v;
  }

  ViewResult reshape() {
    if (t_.strided) {
      c_.error(Rule::kReshapeDense, at_, {"a strided tensor can't be reshaped in place", "a dense tensor", c_.origin(source_), copy_fix(), copy_edits()});
      return {};
    }
    if (!not_negative()) return {};
    // Sizes that stand on both sides say nothing; a program that relies on one of them being 0 is not meant.
    std::vector<Dim> from = t_.shape, to = dims_;
    bool maybe_zero = false;
    for (size_t i = 0; i < from.size();) {
      auto it = std::find(to.begin(), to.end(), from[i]);
      if (it == to.end() || from[i].is_const(0)) { ++i; continue; }
      maybe_zero |= !s_.proved(CondOp::kLe, c_.dims.constant(1), from[i]);
      to.erase(it);
      from.erase(from.begin() + static_cast<ptrdiff_t>(i));
    }
    const Dim a = c_.dims.product(from), b = c_.dims.product(to);
    if (a == b && a.valid()) {
      ++c_.facts.proved;
      return {dims_, false, true};
    }
    Answer answer = a.valid() && b.valid() ? s_.store().ask({CondOp::kEq, a, b}) : Answer::kUnknown;
    if (answer == Answer::kUnknown) {
      const bool whole = maybe_zero || !a.valid() || !b.valid();
      answer = s_.settle(at_, {CondOp::kEq, whole ? c_.dims.product(t_.shape) : a, whole ? c_.dims.product(dims_) : b}, DiagCode::kShapeConstraint,
                         "a reshape keeps the number of elements", Check::kBefore);
    }
    if (answer == Answer::kRefuted && !s_.store().contradiction()) {
      c_.error(Rule::kReshapeElements, at_, {"the reshape changes the number of elements", c_.text(t_.shape), c_.text(dims_) + ", reshaped from " + c_.origin(source_)});
      return {};
    }
    return {dims_, false, true};
  }

  bool not_negative() {
    for (Dim d : dims_)
      if (s_.settle(at_, {CondOp::kLe, c_.dims.constant(0), d}, DiagCode::kShapeConstraint, "sizes are not negative", Check::kBefore) == Answer::kRefuted) {
        c_.error(Rule::kNegativeSize, at_, {fmt::format("size {} is negative", c_.text(d))});
        return false;
      }
    return true;
  }

  ViewResult transpose() {
    if (static_cast<int>(x_.imms.size()) != t_.rank()) {
      c_.error(Rule::kViewShape, at_, {"the permutation has another rank than the tensor", std::to_string(t_.rank()) + " axes", fmt::format("{} axes", x_.imms.size())});
      return {};
    }
    ViewResult v{{}, t_.strided, true, true};
    const std::vector<int> order = memory_order();
    int64_t last = -1;  // axes that aren't 1 in their order in memory: nothing moves
    for (int64_t a : x_.imms) {
      v.shape.push_back(t_.shape[a]);
      if (is_one(t_.shape[a])) continue;
      const int64_t place = std::find(order.begin(), order.end(), static_cast<int>(a)) - order.begin();
      v.strided |= place < last;
      last = place;
    }
    return v;
  }

  ViewResult broadcast() {
    const size_t rank = t_.shape.size();
    if (dims_.size() < rank) {
      c_.error(Rule::kBroadcastShape, at_, {"a broadcast can't remove axes", fmt::format("{} axes or more", rank), fmt::format("{}", dims_.size())});
      return {};
    }
    if (!not_negative()) return {};
    const size_t lead = dims_.size() - rank;
    ViewResult v{dims_, t_.strided, true};
    for (size_t k = 0; k < dims_.size(); ++k) {
      if (k < lead) {
        v.strided |= !is_one(dims_[k]);
        continue;
      }
      const Dim have = t_.shape[k - lead], want = dims_[k];
      if (same(have, want)) continue;
      v.strided = true;
      if (is_one(have)) continue;
      // have == want or have == 1
      const char* what = "a broadcast stretches only axes of size 1";
      Answer a = want.is_const(1) || have.is_const() ? s_.settle(at_, {CondOp::kEq, have, want}, DiagCode::kShapeConstraint, what, Check::kBefore)
                                                     : s_.settle(at_, {CondOp::kBroadcastable, have, want}, DiagCode::kShapeConstraint, what, Check::kBefore);
      if (a != Answer::kRefuted && !want.is_const() && !have.is_const())
        a = s_.settle(at_, {CondOp::kEq, c_.dims.broadcast(have, want), want}, DiagCode::kShapeConstraint, what, Check::kBefore);
      if (a == Answer::kRefuted) {
        c_.error(Rule::kBroadcastShape, at_, {fmt::format("axis {} can't be broadcast", k - lead), fmt::format("size 1 or {}", c_.text(want)),
                                              fmt::format("{} of {}", c_.text(have), c_.origin(source_))});
        return {};
      }
    }
    return v;
  }

  ViewResult squeeze() {
    unsigned gone = 0;
    for (int64_t a : x_.imms) {
      if (!axis_ok(a, t_.rank())) return {};
      if (s_.settle(at_, {CondOp::kEq, t_.shape[a], c_.dims.constant(1)}, DiagCode::kShapeConstraint, "a squeezed axis has size 1", Check::kBefore) == Answer::kRefuted) {
        c_.error(Rule::kSqueezeShape, at_, {fmt::format("axis {} can't be squeezed", a), "size 1", fmt::format("{} of {}", c_.text(t_.shape[a]), c_.origin(source_))});
        return {};
      }
      gone |= 1u << a;
    }
    ViewResult v{{}, t_.strided, true};
    for (int a = 0; a < t_.rank(); ++a)
      if (!(gone >> a & 1)) v.shape.push_back(t_.shape[a]);
    return v;
  }

  ViewResult unsqueeze() {
    const int rank = t_.rank() + static_cast<int>(x_.imms.size());
    if (rank > kMaxRank || (!x_.imms.empty() && x_.imms.back() >= rank)) {
      c_.error(Rule::kViewShape, at_, {"the new axes don't fit", fmt::format("axes below {}, at most {} in all", rank, kMaxRank), c_.origin(source_)});
      return {};
    }
    ViewResult v{t_.shape, t_.strided, true};
    for (int64_t a : x_.imms) v.shape.insert(v.shape.begin() + a, c_.dims.constant(1));
    return v;
  }

  Context& c_;
  Sizes& s_;
  const int32_t at_;
  const Instr& x_;
  const Reg source_;
  const TensorType& t_;
  std::vector<Dim> dims_;
};

}  // namespace

ViewResult check_view(Context& c, Sizes& sizes, int32_t at) { return ViewCheck(c, sizes, at).run(); }

}  // namespace msvm::verification
