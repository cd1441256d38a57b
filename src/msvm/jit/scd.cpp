#include "msvm/jit/scd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace msvm::jit {
namespace {

/// What text makes of `dynamic` when it is read: any0, any1, …, with underscores if the text holds such names.
bool is_anonymous(const std::string& name) {
  if (name.empty()) return true;
  if (!name.starts_with("any")) return false;
  const size_t digits = name.find_first_not_of('_', 3);
  return digits != std::string::npos && name.find_first_not_of("0123456789", digits) == std::string::npos;
}

class Analysis {
 public:
  Analysis(const FunctionView& v, const FunctionRegions& regions)
      : v_(v), regions_(regions), scalar_kind_(v.f.regs.size(), AxisKind::kConst), row_of_(v.f.regs.size(), -1), under_(v.f.blocks.size(), -1) {}

  DeclaredScd run() {
    find_free();
    for (BlockId b : v_.cfg.reverse_post_order()) {
      find_branch(b);
      for (int32_t k = v_.begin(b); k < v_.end(b); ++k) visit(k);
    }
    // Filled by windows, or never written.
    for (BlockId b : v_.cfg.reverse_post_order())
      for (int32_t k = v_.begin(b); k < v_.end(b); ++k)
        for (Reg r : v_.at(k).defs)
          if (v_.is_tensor(r) && row_of_[static_cast<size_t>(r)] < 0) add(r, k);
    int64_t known = 0, all = 0;
    for (const TensorScd& t : out_.tensors) {
      if (!t.counted) continue;
      all += static_cast<int64_t>(t.kinds.size());
      if (!t.broken) known += count_known(t);
    }
    if (all > 0) out_.scd = static_cast<double>(known) / static_cast<double>(all);
    return std::move(out_);
  }

 private:
  static int64_t count_known(const TensorScd& t) {
    return std::count_if(t.kinds.begin(), t.kinds.end(), [](AxisKind k) { return k == AxisKind::kConst || k == AxisKind::kDynamic; });
  }

  // --- what symbols and scalars are

  AxisKind kind_of_symbol(SymbolId s) const {
    if (const Reg r = v_.register_of(s); r != kNoReg) {
      const Dim value = v_.facts.reg_value[static_cast<size_t>(r)];
      return v_.opaque(r) || !value.valid() ? scalar_kind_[static_cast<size_t>(r)] : kind_of_value(value);
    }
    if (auto at = bound_kind_.find(s); at != bound_kind_.end()) return at->second;
    return is_anonymous(v_.module.dims->symbol_info(s).name) ? AxisKind::kDynamic : AxisKind::kBound;
  }

  /// Of an expression without registers whose values are known.
  AxisKind kind_of_value(Dim d) const {
    AxisKind kind = AxisKind::kConst;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      const Reg r = v_.register_of(s);
      kind = std::max(kind, r != kNoReg ? scalar_kind_[static_cast<size_t>(r)] : kind_of_symbol(s));
    });
    return kind;
  }

  AxisKind kind_of(Dim d) const {
    AxisKind kind = AxisKind::kConst;
    DimContext::for_each_symbol(d, [&](SymbolId s) { kind = std::max(kind, kind_of_symbol(s)); });
    if (kind == AxisKind::kConst && is_captured(d)) return AxisKind::kCaptured;
    return kind;
  }

  /// Whether a captured int is among what `d` is made from.
  bool is_captured(Dim d) const { return captured_in(d) >= 0; }

  /// The SCALAR_CONST of it, or -1.
  int32_t captured_in(Dim d) const {
    int32_t at = -1;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      if (const Reg r = v_.register_of(s); r != kNoReg)
        if (auto c = captured_.find(r); c != captured_.end()) at = c->second;
    });
    return at;
  }

  std::optional<int64_t> constant(Dim d) const {
    return DimContext::evaluate(d, [&](SymbolId s) -> std::optional<int64_t> {
      const Reg r = v_.register_of(s);
      if (r == kNoReg) return {};
      const Dim value = v_.facts.reg_value[static_cast<size_t>(r)];
      if (!value.is_const()) return {};
      return value.value();
    });
  }

  AxisKind kind_of_operands(const Instr& i) const {
    AxisKind kind = AxisKind::kConst;
    for (Dim d : i.dims) kind = std::max(kind, kind_of(d) == AxisKind::kCaptured ? AxisKind::kConst : kind_of(d));
    for (Reg r : i.uses)
      if (r != kNoReg && v_.kind(r) != RegKind::kTensor) kind = std::max(kind, scalar_kind_[static_cast<size_t>(r)]);
    return kind;
  }

  void define_scalar(const Instr& i, int32_t at) {
    const Reg d = i.defs[0];
    AxisKind kind = AxisKind::kFresh;
    switch (i.op) {
      case Opcode::kScalarInput: kind = AxisKind::kBound; break;
      case Opcode::kScalarConst:
        kind = AxisKind::kConst;
        if (!i.text.empty()) captured_[d] = at;
        break;
      case Opcode::kShapePropagate: kind = kind_of(v_.type(i.uses[0]).shape[static_cast<size_t>(i.imms[0])]); break;
      case Opcode::kShapeCalc: case Opcode::kScalarCalc:
        kind = kind_of_operands(i);
        for (Dim x : i.dims)
          if (const int32_t source = captured_in(x); source >= 0 && kind == AxisKind::kConst) captured_[d] = source;
        break;
      case Opcode::kScalarPhi:
        if (v_.cfg.loop_header(v_.block_of[static_cast<size_t>(at)]) != v_.block_of[static_cast<size_t>(at)])
          kind = std::max(kind_of_operands(i), condition(v_.cfg.immediate_dominator(v_.block_of[static_cast<size_t>(at)])));
        break;
      default: break;
    }
    scalar_kind_[static_cast<size_t>(d)] = kind;
  }

  /// Of what the branch at the end of `b` depends on.
  AxisKind condition(BlockId b) const { return b < 0 ? AxisKind::kFresh : kind_of_operands(v_.at(v_.end(b) - 1)); }

  /// under_: the branch on data or sizes in whose arm the block lies, or -1. A branch out of a loop isn't one: what follows runs anyway.
  void find_branch(BlockId b) {
    const BlockId d = v_.cfg.immediate_dominator(b);
    if (d < 0) return;
    under_[static_cast<size_t>(b)] = under_[static_cast<size_t>(d)];
    const int32_t last = v_.end(d) - 1;
    if (v_.at(last).op == Opcode::kJump || v_.cfg.predecessors(b).size() != 1) return;
    for (BlockId s : v_.cfg.successors(d))
      if (v_.cfg.loop_depth(s) < v_.cfg.loop_depth(d)) return;
    const AxisKind kind = condition(d);
    if (kind != AxisKind::kConst && kind != AxisKind::kCaptured) under_[static_cast<size_t>(b)] = last;
  }

  // --- free symbols

  void find_free() {
    for (const Region& r : regions_.regions) {
      std::vector<SymbolId> symbols;
      for (size_t k = 0; k < std::min(r.symbols.size(), kMaxEntrySymbols); ++k)
        if (r.free >> k & 1) symbols.push_back(r.symbols[k]);
      if (symbols.empty()) continue;
      for (const Segment& s : r.segments)
        for (int32_t k = s.begin; k < s.end; ++k)
          for (const auto* list : {&v_.at(k).defs, &v_.at(k).uses, &v_.at(k).outs})
            for (Reg t : *list)
              if (v_.is_tensor(t) && !v_.type(t).shape.empty()) {
                const Dim outer = v_.value(v_.type(t).shape[0]);
                if (outer.is_symbol() && std::find(symbols.begin(), symbols.end(), outer.symbol()) != symbols.end()) free_[t] = true;
              }
    }
  }

  // --- tensors

  void visit(int32_t at) {
    const Instr& i = v_.at(at);
    const bool destination = i.op == Opcode::kTensorAlloc || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kDestination);
    if (!i.defs.empty() && v_.kind(i.defs[0]) != RegKind::kTensor && v_.kind(i.defs[0]) != RegKind::kList) return define_scalar(i, at);
    if (!destination)
      for (Reg r : i.defs)
        if (v_.is_tensor(r)) {
          bind(r, at);
          add(r, at);
        }
    for (Reg r : i.outs)
      if (r != kNoReg && row_of_[static_cast<size_t>(r)] < 0) add(r, at);
  }

  /// Symbols that the result binds.
  void bind(Reg r, int32_t at) {
    const Instr& i = v_.at(at);
    const auto& shape = v_.type(r).shape;
    for (size_t a = 0; a < shape.size(); ++a) {
      if (!shape[a].is_symbol()) continue;
      auto bound = v_.bound_at.find(shape[a].symbol());
      if (bound == v_.bound_at.end() || bound->second != at || bound_kind_.contains(shape[a].symbol())) continue;
      AxisKind kind = AxisKind::kFresh;
      if (i.op == Opcode::kTensorCreate && v_.type(i.uses[0]).shape.size() == shape.size()) kind = kind_of(v_.type(i.uses[0]).shape[a]);
      bound_kind_[shape[a].symbol()] = kind;
    }
  }

  /// The first tensor that `i` reads and that isn't a constant, as a row; null if there is none.
  const TensorScd* source(const Instr& i) const {
    for (Reg r : i.uses)
      if (v_.is_tensor(r) && row_of_[static_cast<size_t>(r)] >= 0) return &out_.tensors[static_cast<size_t>(row_of_[static_cast<size_t>(r)])];
    return nullptr;
  }

  static std::string_view operation(const Instr& i) { return i.op == Opcode::kOpCall ? std::string_view(i.text) : i.op == Opcode::kTensorView ? view_kind_name(view_kind(i)) : instr_info(i.op).mnemonic; }

  /// The captured int that a constant size comes from although its type says the number: an operand of the same value; -1 if none.
  int32_t captured_operand(const Instr& i, int64_t value) const {
    for (Dim d : i.dims)
      if (const int32_t at = captured_in(d); at >= 0 && constant(d) == value) return at;
    return -1;
  }

  void add(Reg r, int32_t at) {
    if (v_.constant[static_cast<size_t>(r)]) return;
    const Instr& i = v_.at(at);
    const TensorType& type = v_.type(r);
    TensorScd t;
    t.reg = r;
    t.instruction = at;
    t.name = v_.name(r);
    const TensorScd* from = source(i);
    int32_t captured_at = -1;
    for (size_t a = 0; a < type.shape.size(); ++a) {
      const Dim d = type.shape[a];
      AxisKind kind = kind_of(d);
      const auto value = constant(d);
      if (kind == AxisKind::kCaptured) captured_at = captured_in(d);
      if (kind == AxisKind::kConst && value) {
        if (const int32_t operand = captured_operand(i, *value); operand >= 0) {
          kind = AxisKind::kCaptured;
          captured_at = operand;
        } else if (from && from->kinds.size() == type.shape.size() && from->kinds[a] == AxisKind::kCaptured && constant(v_.type(from->reg).shape[a]) == value) {
          kind = AxisKind::kCaptured;
        }
      }
      if (a == 0 && kind == AxisKind::kBound && free_.contains(r)) kind = AxisKind::kFree;
      t.kinds.push_back(kind);
      t.dims.push_back(dim_text(d, kind, value));
    }
    explain(t, i, from, captured_at);
    row_of_[static_cast<size_t>(r)] = static_cast<int32_t>(out_.tensors.size());
    out_.tensors.push_back(std::move(t));
  }

  /// Registers by the names of their values, where these have any.
  std::string named(const std::string& text) const {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t end = i + 1;
      auto is_word = [&](size_t k) { return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_'); };
      while (is_word(i) && is_word(end)) ++end;
      Reg r = kNoReg;
      const bool is_register = text[i] == 'R' && std::from_chars(text.data() + i + 1, text.data() + end, r).ptr == text.data() + end && end > i + 1;
      out += is_register && r >= 0 && static_cast<size_t>(r) < v_.f.regs.size() ? v_.name(r) : text.substr(i, end - i);
      i = end;
    }
    return out;
  }

  std::string dim_text(Dim d, AxisKind kind, std::optional<int64_t> value) const {
    if (value) return fmt::format("{}{}", kind == AxisKind::kCaptured ? "captured:" : "", *value);
    const std::string text = named(v_.module.dims->to_string(v_.value(d)));
    if (kind == AxisKind::kDynamic) return d.is_symbol() ? "dynamic" : text;
    if (kind == AxisKind::kFresh) return v_.value(d).is_symbol() && is_anonymous(v_.module.dims->symbol_info(v_.value(d).symbol()).name) ? "fresh" : "fresh:" + text;
    return "symbolic:" + text;
  }

  /// Whether the operator derives axis `a` of `t` from one that callers may vary.
  bool derived_from_bound(const TensorScd& t, size_t a, const TensorScd& from) const {
    auto bound = [](AxisKind k) { return k == AxisKind::kBound || k == AxisKind::kFree || k == AxisKind::kDynamic; };
    if (from.kinds.size() == t.kinds.size()) return bound(from.kinds[a]);
    for (size_t k = 0; k < from.kinds.size(); ++k)
      if (bound(from.kinds[k]) && std::find(t.dims.begin(), t.dims.end(), from.dims[k]) == t.dims.end()) return true;
    return false;
  }

  static std::string lower_case(std::string_view s) {
    std::string out(s);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }
  static std::string list(const std::vector<size_t>& axes) { return fmt::format("{} {}", axes.size() == 1 ? "axis" : "axes", fmt::join(axes, ", ")); }

  void explain(TensorScd& t, const Instr& i, const TensorScd* from, int32_t captured_at) {
    const TensorType& type = v_.type(t.reg);
    if (type.unknown_rank) {
      t.counted = false;
      t.reason = fmt::format("its rank is known only at run time ({} at {})", operation(i), v_.place(t.instruction));
      t.mend = "fix its rank by a narrower TENSOR_CREATE";
      return;
    }
    t.scd = t.kinds.empty() ? 1 : static_cast<double>(count_known(t)) / static_cast<double>(t.kinds.size());
    std::vector<size_t> captured, fresh;
    for (size_t a = 0; a < t.kinds.size(); ++a) {
      if (!from || !derived_from_bound(t, a, *from)) continue;
      if (t.kinds[a] == AxisKind::kCaptured) captured.push_back(a);
      if (t.kinds[a] == AxisKind::kFresh) fresh.push_back(a);
    }
    t.broken = !captured.empty() || !fresh.empty();
    if (t.broken) t.scd = 0;
    if (const int32_t branch = under_[static_cast<size_t>(v_.block_of[static_cast<size_t>(t.instruction)])]; branch >= 0) {
      t.counted = false;
      t.reason = fmt::format("created under the branch at {}", v_.place(branch));
      t.mend = "compute both sizes, or declare an upper bound";
    } else if (!captured.empty()) {
      t.reason = fmt::format("{} op breaks symbolic binding: size comes from {} at {}", lower_case(operation(i)), captured.size() == 1 ? "a Python int" : "Python ints",
                             v_.place(captured_at >= 0 ? captured_at : t.instruction));
      t.mend = captured_mend(*from, captured[0], t);
    } else if (!fresh.empty()) {
      t.reason = fmt::format("{} at {} computes {} at run time", operation(i), v_.place(t.instruction), list(fresh));
      t.mend = "declare an upper bound of the size";
    } else if (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kInput) {
      t.reason = "input";
    } else if (!from) {
      t.reason = fmt::format("made by {}", operation(i));
    } else {
      t.reason = from->dims == t.dims ? fmt::format("propagated from {}, dims unchanged", from->name) : fmt::format("propagated from {} by {}", from->name, operation(i));
    }
  }

  std::string captured_mend(const TensorScd& from, size_t axis, const TensorScd& t) const {
    const std::string wrap = "wrap the value in ms.mutable";
    if (from.kinds.size() != t.kinds.size() || !from.dims[axis].starts_with("symbolic:")) return wrap;
    const Dim d = v_.value(v_.type(from.reg).shape[axis]);
    if (!d.is_symbol()) return "compute it from " + named(v_.module.dims->to_string(d)) + ", or " + wrap;
    return fmt::format("use ms.symbolic_mul({}, 2), or {}", from.dims[axis].substr(sizeof("symbolic:") - 1), wrap);
  }

  const FunctionView& v_;
  const FunctionRegions& regions_;
  DeclaredScd out_;
  std::vector<AxisKind> scalar_kind_;                    // by register
  std::unordered_map<Reg, int32_t> captured_;            // i64 registers: the SCALAR_CONST
  std::unordered_map<SymbolId, AxisKind> bound_kind_;    // symbols that an instruction binds
  std::unordered_map<Reg, bool> free_;
  std::vector<int32_t> row_of_;                          // by register
  std::vector<int32_t> under_;                           // by block
};

}  // namespace

DeclaredScd declared_scd(const FunctionView& view, const FunctionRegions& regions) { return Analysis(view, regions).run(); }

std::string_view axis_kind_name(AxisKind k) {
  switch (k) {
    case AxisKind::kConst: return "const";
    case AxisKind::kDynamic: return "dynamic";
    case AxisKind::kFree: return "free";
    case AxisKind::kBound: return "bound";
    case AxisKind::kCaptured: return "captured";
    case AxisKind::kFresh: return "fresh";
  }
  return "";
}

std::string to_string(const TensorScd& t) {
  if (!t.counted) return fmt::format("Tensor {}: not counted ({}; {})", t.name, t.reason, t.mend);
  std::string number = fmt::format("{:.2f}", t.scd);
  if (number.back() == '0') number.pop_back();
  const std::string head = fmt::format("Tensor {}: SCD={} (", t.name, number);
  if (t.reason == "input") return fmt::format("{}dims: [{}])", head, fmt::join(t.dims, ", "));
  return t.mend.empty() ? fmt::format("{}{})", head, t.reason) : fmt::format("{}{};\n{:{}}{})", head, t.reason, "", head.size(), t.mend);
}

}  // namespace msvm::jit
