// Loop and Scan as blocks. The types of what is carried are found by importing the body until they hold: an axis that the
// body changes becomes a symbol of the PHI, a rank that it changes makes the rank unknown.
#include <algorithm>

#include "importers/onnx/control_flow.h"
#include "importers/onnx/handlers.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

constexpr size_t kMaxCarriedScalars = 16;
constexpr int kMaxAttempts = 12;

/// How one value is carried.
struct Carried {
  enum class Kind { kTensor, kScalars, kList } kind = Kind::kTensor;
  RegType type;                     // kTensor, kList
  std::vector<bool> open;           // axes of `type` with a symbol of the PHI's own
  Scalars elements;                 // kScalars: dtype and shape
  Reg initial = kNoReg;             // kTensor, kList: before the loop
  std::vector<Reg> initial_bools;   // kScalars: those that are bools
  // of the current attempt
  std::vector<Reg> phis;
  Value value;
  std::vector<Scalar> next;         // kScalars: of the next round
};

/// A list that collects one output of the body.
struct Collected {
  DType dtype = DType::kF32;
  Reg phi = kNoReg;
  std::optional<TensorType> element;  // as the body gave it
};

class LoopEmitter {
 public:
  LoopEmitter(NodeImport& n, const LoopSpec& spec) : n_(n), im_(n.im), fb_(n.fb()), spec_(spec), collected_(spec.outputs.size()) {}

  Status run() {
    use_cond_ = !(spec_.cond.is_const() && spec_.cond.truth);
    if (use_cond_) { MSVM_ASSIGN_OR_RETURN(initial_cond_, im_.bool_reg(spec_.cond)); }
    for (const Value& v : spec_.initial) {
      carried_.emplace_back();
      MSVM_RETURN_IF_ERROR(start(carried_.back(), v, true));
    }
    first_symbol_ = n_.dims().num_symbols();
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      if (!im_.take_trial()) return resource_limit("loops are nested too deeply for their types to be found");
      // Whatever is computed before the loop must outlive the attempt.
      for (size_t k = 0; k < carried_.size(); ++k)
        if (carried_[k].kind == Carried::Kind::kTensor && carried_[k].initial == kNoReg) MSVM_RETURN_IF_ERROR(start(carried_[k], spec_.initial[k], false));
      if (use_cond_ && initial_cond_ == kNoReg) { MSVM_ASSIGN_OR_RETURN(initial_cond_, im_.bool_reg(spec_.cond)); }
      first_reg_ = static_cast<Reg>(fb_.function().regs.size());
      auto before = im_.snapshot();
      size_t errors = im_.errors.size();
      MSVM_ASSIGN_OR_RETURN(bool settled, emit());
      if (im_.errors.size() > errors) {
        // Sizes that hold in the first round only may have been refuted: once more with all of them open.
        if (!open_everything()) return poison();
      } else if (settled) {
        return finish();
      }
      im_.restore(*before);
    }
    return unsupported("the types that it carries from round to round don't settle");
  }

 private:
  Status poison() {
    for (Value& v : n_.outputs) v = poison_value();
    return {};
  }

  /// How a value is carried at first, and its initial registers in the current block.
  Status start(Carried& c, const Value& v, bool follow) {
    auto known = follow ? known_scalars(v, n_.dims()) : std::nullopt;
    bool followed = known && known->items.size() <= kMaxCarriedScalars && (known->dtype == DType::kI64 || known->dtype == DType::kI32 || known->dtype == DType::kBool);
    if (followed) {
      c.kind = Carried::Kind::kScalars;
      c.elements = *known;
      for (const Scalar& s : c.elements.items) {
        Reg r = kNoReg;
        if (s.kind == ScalarKind::kBool) { MSVM_ASSIGN_OR_RETURN(r, im_.bool_reg(s)); }
        c.initial_bools.push_back(r);
      }
      return {};
    }
    if (v->kind == ValueKind::kList || v->kind == ValueKind::kSequence) {
      c.kind = Carried::Kind::kList;
      c.type = {RegKind::kList, TensorType{.dtype = v->dtype}};
      MSVM_ASSIGN_OR_RETURN(c.initial, im_.list(v));
      return {};
    }
    c.kind = Carried::Kind::kTensor;
    MSVM_ASSIGN_OR_RETURN(c.initial, im_.tensor(v));
    c.type = fb_.type(c.initial);
    c.type.tensor.filled.reset();
    c.open.assign(c.type.tensor.shape.size(), false);
    return {};
  }

  /// One attempt; true if the types held.
  Result<bool> emit() {
    Dim zero = n_.constant(0);
    changed_ = false;
    std::vector<Reg> empty_lists;
    for (Collected& c : collected_) empty_lists.push_back(fb_.list_make(c.dtype, {}));
    BlockId entry = fb_.current(), header = fb_.new_block(), body = fb_.new_block(), exit = fb_.new_block();
    fb_.jump(header);

    fb_.set_block(header);
    Reg count = fb_.phi({RegKind::kI64, {}});
    fb_.add_phi_input(count, {entry, kNoReg, zero});
    Dim i = fb_.dim(count);
    Reg cond_phi = kNoReg;
    if (use_cond_) {
      cond_phi = fb_.phi({RegKind::kBool, {}});
      fb_.add_phi_input(cond_phi, {entry, initial_cond_, {}});
    }
    for (Carried& c : carried_) make_phis(c, entry);
    for (size_t k = 0; k < collected_.size(); ++k) {
      collected_[k].phi = fb_.phi({RegKind::kList, TensorType{.dtype = collected_[k].dtype}});
      fb_.add_phi_input(collected_[k].phi, {entry, empty_lists[k], {}});
    }
    Reg go = spec_.trips.valid() ? fb_.compare(CalcOp::kLt, i, spec_.trips) : kNoReg;
    if (use_cond_) go = go == kNoReg ? cond_phi : fb_.logic(CalcOp::kAnd, go, cond_phi);
    if (go == kNoReg) go = fb_.scalar_const_bool(true);
    fb_.branch_if(go, body, exit);

    fb_.set_block(body);
    im_.push_region();
    Status status = emit_body(i, cond_phi);
    BlockId latch = fb_.current();
    if (status.ok() && !changed_) {
      fb_.add_phi_input(count, {latch, kNoReg, n_.dims().add(i, n_.constant(1))});
      if (use_cond_) fb_.add_phi_input(cond_phi, {latch, next_cond_, {}});
      fb_.jump(header);
    }
    im_.pop_region();
    if (!status.ok()) return status;
    fb_.set_block(exit);
    return !changed_;
  }

  void make_phis(Carried& c, BlockId entry) {
    c.phis.clear();
    if (c.kind != Carried::Kind::kScalars) {
      c.phis = {fb_.phi(c.type)};
      fb_.add_phi_input(c.phis[0], {entry, c.initial, {}});
      c.value = c.kind == Carried::Kind::kList ? list_value(c.phis[0], c.type.tensor.dtype) : tensor_value(c.phis[0]);
      return;
    }
    Scalars now = c.elements;
    for (size_t k = 0; k < now.items.size(); ++k) {
      Scalar& s = now.items[k];
      if (s.kind == ScalarKind::kInt) {
        c.phis.push_back(fb_.phi({RegKind::kI64, {}}));
        fb_.add_phi_input(c.phis[k], {entry, kNoReg, s.dim});
        s.dim = fb_.dim(c.phis[k]);
      } else {
        c.phis.push_back(fb_.phi({RegKind::kBool, {}}));
        fb_.add_phi_input(c.phis[k], {entry, c.initial_bools[k], {}});
        Expr leaf;
        leaf.reg = c.phis[k];
        s = expr_scalar(ScalarKind::kBool, leaf);
      }
    }
    c.value = scalars_value(std::move(now));
  }

  /// A scalar input of the body, of rank 0 or 1 as the body declares it.
  Value as_declared(size_t input, Scalar s, DType dtype) {
    Scalars v{dtype, {}, {std::move(s)}};
    const auto& shape = spec_.body->inputs[input].type.shape;
    if (shape && shape->size() == 1) v.shape = {1};
    return scalars_value(std::move(v));
  }

  Status emit_body(Dim i, Reg cond_phi) {
    const Graph& g = *spec_.body;
    Scope scope;
    size_t input = 0;
    auto bind = [&](Value v) { scope.values[g.inputs[input++].name] = std::move(v); };
    if (spec_.is_loop) {
      bind(as_declared(0, int_scalar(i), DType::kI64));
      Expr leaf;
      leaf.reg = cond_phi;
      bind(as_declared(1, use_cond_ ? expr_scalar(ScalarKind::kBool, leaf) : bool_scalar(true), DType::kBool));
    }
    for (Carried& c : carried_) bind(c.value);
    for (const ScanInput& s : spec_.scans) {
      Dim from = i, one = n_.constant(1);
      if (s.backwards) from = n_.dims().sub(n_.dims().sub(spec_.trips, one), i);
      Dim to = n_.dims().add(from, one);
      if (!from.valid() || !to.valid()) return overflow_error("the arithmetic of its sizes overflows");
      bind(tensor_value(fb_.squeeze(fb_.slice(s.tensor, {s.axis}, {from}, {to}, {1}), {s.axis})));
    }
    MSVM_ASSIGN_OR_RETURN(std::vector<Value> results, import_body(n_, g, scope));
    for (const Value& v : results)
      if (v->kind == ValueKind::kPoison) {  // reported; the attempt is given up
        changed_ = true;
        return {};
      }
    size_t output = 0;
    if (spec_.is_loop) {
      MSVM_ASSIGN_OR_RETURN(Scalar next, condition(n_, results[output++]));
      if (use_cond_) {
        MSVM_ASSIGN_OR_RETURN(next_cond_, im_.bool_reg(next));
      } else if (!(next.is_const() && next.truth)) {
        use_cond_ = changed_ = true;
      }
    }
    std::vector<std::vector<Reg>> regs;
    for (Carried& c : carried_) {
      regs.emplace_back();
      MSVM_RETURN_IF_ERROR(carry(c, results[output++], regs.back()));
    }
    std::vector<Reg> lists;
    for (Collected& c : collected_) {
      MSVM_ASSIGN_OR_RETURN(Reg r, im_.tensor(results[output++]));
      c.element = fb_.tensor_type(r);
      if (c.element->dtype != c.dtype) {
        c.dtype = c.element->dtype;
        changed_ = true;
        lists.push_back(kNoReg);
        continue;
      }
      lists.push_back(fb_.list_append(c.phi, r));
    }
    if (changed_) return {};
    BlockId latch = fb_.current();
    for (size_t k = 0; k < carried_.size(); ++k) {
      Carried& c = carried_[k];
      for (size_t e = 0; e < c.phis.size(); ++e) {
        bool is_size = fb_.type(c.phis[e]).kind == RegKind::kI64;
        fb_.add_phi_input(c.phis[e], {latch, is_size ? kNoReg : regs[k][e], is_size ? c.next[e].dim : Dim()});
      }
    }
    for (size_t k = 0; k < collected_.size(); ++k) fb_.add_phi_input(collected_[k].phi, {latch, lists[k], {}});
    return {};
  }

  /// What the next round gets; widens the type where it doesn't hold.
  Status carry(Carried& c, const Value& next, std::vector<Reg>& regs) {
    switch (c.kind) {
      case Carried::Kind::kScalars: return carry_scalars(c, next, regs);
      case Carried::Kind::kList: {
        if (next->dtype != c.type.tensor.dtype) return invalid_argument("its body changes the type of a sequence");
        MSVM_ASSIGN_OR_RETURN(Reg r, im_.list(next));
        regs.push_back(r);
        return {};
      }
      case Carried::Kind::kTensor: break;
    }
    MSVM_ASSIGN_OR_RETURN(Reg r, im_.tensor(next));
    regs.push_back(r);
    const TensorType& now = fb_.tensor_type(r);
    TensorType& t = c.type.tensor;
    if (now.dtype != t.dtype) return invalid_argument("its body changes the type of a carried value from " + std::string(dtype_name(t.dtype)) + " to " + std::string(dtype_name(now.dtype)));
    if (t.unknown_rank) return {};
    if (now.unknown_rank || now.rank() != t.rank()) {
      t.unknown_rank = t.strided = changed_ = true;
      t.shape.clear();
      c.open.clear();
      return {};
    }
    for (size_t a = 0; a < t.shape.size(); ++a)
      if (!c.open[a] && t.shape[a] != now.shape[a]) open(c, a);
    if (now.strided && !t.strided) t.strided = changed_ = true;
    return {};
  }

  Status carry_scalars(Carried& c, const Value& next, std::vector<Reg>& regs) {
    auto known = known_scalars(next, n_.dims());
    if (!known || known->dtype != c.elements.dtype || known->shape != c.elements.shape) {
      MSVM_ASSIGN_OR_RETURN(DType dtype, im_.dtype(next));
      if (dtype != c.elements.dtype) return invalid_argument("its body changes the type of a carried value");
      c.kind = Carried::Kind::kTensor;
      c.initial = kNoReg;
      changed_ = true;
      regs.assign(c.phis.size(), kNoReg);
      return {};
    }
    c.next = known->items;
    for (const Scalar& s : c.next) {
      Reg r = kNoReg;
      if (s.kind == ScalarKind::kBool) { MSVM_ASSIGN_OR_RETURN(r, im_.bool_reg(s)); }
      regs.push_back(r);
    }
    return {};
  }

  void open(Carried& c, size_t axis) {
    c.type.tensor.shape[axis] = im_.mb().fresh_symbol("d");
    c.open[axis] = changed_ = true;
  }

  /// False if all sizes were open before.
  bool open_everything() {
    bool any = false;
    for (Carried& c : carried_) {
      if (c.kind != Carried::Kind::kTensor || c.initial == kNoReg) continue;
      for (size_t a = 0; a < c.open.size(); ++a) {
        if (c.open[a]) continue;
        open(c, a);
        any = true;
      }
    }
    return any;
  }

  // --- after the loop ----------------------------------------------------------------------------------------------

  Status finish() {
    size_t output = 0;
    for (Carried& c : carried_) n_.set(output++, c.value);
    for (size_t k = 0; k < collected_.size(); ++k, ++output) {
      if (!n_.wants(output)) {
        n_.set(output, absent_value());
        continue;
      }
      MSVM_ASSIGN_OR_RETURN(Reg r, stack(collected_[k], spec_.outputs[k]));
      n_.set(output, r);
    }
    return {};
  }

  /// Whether the expression means something after the loop.
  bool visible(Dim d) const {
    bool ok = d.valid();
    DimContext::for_each_symbol(d, [&](SymbolId id) {
      const SymbolInfo& info = im_.dims().symbol_info(id);
      ok &= info.is_register() ? info.reg < first_reg_ : id < first_symbol_;
    });
    return ok;
  }

  Result<Reg> stack(const Collected& c, const ScanOutput& out) {
    const TensorType& element = *c.element;
    if (element.unknown_rank) {
      if (out.backwards) return unsupported("outputs in reverse whose rank isn't known");
      return n_.call("msvm.Stack", {c.phi}, {}, {{"axis", out.axis}});
    }
    size_t rank = element.shape.size() + 1;
    if (rank > static_cast<size_t>(kMaxRank)) return unsupported("more than " + std::to_string(kMaxRank) + " axes");
    auto axis = out.axis < 0 ? out.axis + static_cast<int64_t>(rank) : out.axis;
    if (axis < 0 || axis >= static_cast<int64_t>(rank)) return invalid_argument("scan_output_axes is out of range");
    Dim zero = n_.constant(0);
    Dim count = spec_.trips.valid() && !use_cond_ ? n_.dims().max(spec_.trips, zero) : fb_.list_length(c.phi);
    TensorType type = element, empty;
    type.strided = false;
    for (Dim& d : type.shape)
      if (!visible(d)) d = Dim();
    type.shape.insert(type.shape.begin() + axis, count);
    auto with_symbols = [&](TensorType t) {
      for (Dim& d : t.shape)
        if (!d.valid()) d = im_.mb().fresh_symbol("d");
      return t;
    };
    auto stack_all = [&]() -> Result<Reg> {
      MSVM_ASSIGN_OR_RETURN(Reg r, n_.call("msvm.Stack", {c.phi}, {}, {{"axis", axis}}));
      return fb_.narrow(r, with_symbols(type));
    };
    Reg stacked;
    if (always_le(n_.dims(), n_.constant(1), count)) {
      MSVM_ASSIGN_OR_RETURN(stacked, stack_all());
    } else {  // without a round there is nothing to stack: then it is empty
      BlockId some = fb_.new_block(), none = fb_.new_block(), merge = fb_.new_block();
      fb_.branch_if(fb_.compare(CalcOp::kGt, count, zero), some, none);
      fb_.set_block(some);
      MSVM_ASSIGN_OR_RETURN(Reg all, stack_all());
      fb_.jump(merge);
      fb_.set_block(none);
      empty = type;
      for (Dim& d : empty.shape)
        if (!d.valid()) d = zero;
      empty.shape[static_cast<size_t>(axis)] = zero;
      MSVM_ASSIGN_OR_RETURN(Reg nothing, n_.call("msvm.Fill", {}, empty.shape, {{"dtype", type.dtype}, {"value", is_float(type.dtype) ? AttrValue(0.0) : AttrValue(int64_t{0})}}));
      fb_.jump(merge);
      fb_.set_block(merge);
      stacked = fb_.phi({RegKind::kTensor, with_symbols(type)});
      fb_.add_phi_input(stacked, {some, all, {}});
      fb_.add_phi_input(stacked, {none, nothing, {}});
    }
    if (!out.backwards) return stacked;
    return n_.call("Slice", {stacked}, {n_.constant(-1), n_.constant(INT64_MIN)}, {{"axes", std::vector<int64_t>{axis}}, {"steps", std::vector<int64_t>{-1}}});
  }

  NodeImport& n_;
  GraphImporter& im_;
  FunctionBuilder& fb_;
  const LoopSpec& spec_;
  std::vector<Carried> carried_;
  std::vector<Collected> collected_;
  bool use_cond_ = false, changed_ = false;
  Reg initial_cond_ = kNoReg, next_cond_ = kNoReg, first_reg_ = 0;
  size_t first_symbol_ = 0;
};

}  // namespace

Status emit_loop(NodeImport& n, const LoopSpec& spec) { return LoopEmitter(n, spec).run(); }

}  // namespace msvm::onnx
