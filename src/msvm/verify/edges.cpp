// Group 4 where control flow moves values: PHIs edge by edge, and RETURN.
#include <fmt/format.h>

#include "msvm/verify/sizes.h"

namespace msvm::verification {
namespace {

class EdgeCheck {
 public:
  EdgeCheck(Context& c, Sizes& s, BlockId from, BlockId to, std::vector<uint8_t>& reported) : c_(c), s_(s), from_(from), to_(to), reported_(reported) {}

  void run() {
    const int32_t begin = c_.begin(to_);
    int32_t end = begin;
    while (end < c_.end(to_) && c_.is_phi(end)) ++end;
    if (begin == end) return;
    s_.begin_substitution();
    for (int32_t i = begin; i < end; ++i)
      if (usable(i)) put_scalar(i);
    for (int32_t i = begin; i < end; ++i)
      if (usable(i) && c_.at(i).op == Opcode::kTensorPhi && c_.kind(c_.at(i).defs[0]) == RegKind::kTensor) put_sizes(i);
    for (int32_t i = begin; i < end; ++i)
      if (usable(i) && c_.at(i).op == Opcode::kTensorPhi && !reported_[i]) tensor(i);
  }

 private:
  bool usable(int32_t i) const { return !c_.bad_instr[i]; }
  Reg incoming(int32_t i) const { return c_.at(i).uses[c_.operand_from(i, from_)]; }

  void put_scalar(int32_t i) {
    const Instr& x = c_.at(i);
    if (x.op != Opcode::kScalarPhi || x.dims.empty()) return;
    const SymbolId s = s_.symbol_of(x.defs[0]);
    if (s != Sizes::kNoSymbol) s_.put(s, s_.canonical(x.dims[c_.operand_from(i, from_)]));
  }

  // A bare symbol that this PHI binds takes the incoming size.
  void put_sizes(int32_t i) {
    const TensorType& t = c_.declared(c_.at(i).defs[0]);
    const Reg r = incoming(i);
    if (c_.bad_reg[r] || c_.kind(r) != RegKind::kTensor || s_.type(r).rank() != t.rank()) return;
    for (int a = 0; a < t.rank(); ++a) {
      const Dim d = t.shape[a];
      if (!d.is_symbol() || c_.dims.symbol_info(d.symbol()).is_register() || c_.tables.symbol_def[d.symbol()] != i || s_.has(d.symbol())) continue;
      const Dim v = s_.type(r).shape[a];
      s_.put(d.symbol(), v);
      range(i, d.symbol(), v, a);
    }
  }

  // Declared ranges of what is bound here.
  void range(int32_t i, SymbolId s, Dim v, int axis) {
    const SymbolInfo& info = c_.dims.symbol_info(s);
    bool ok = s_.settle_on_edge({CondOp::kLe, c_.dims.constant(info.min), v}) != Answer::kRefuted;
    if (info.max != INT64_MAX) ok &= s_.settle_on_edge({CondOp::kLe, v, c_.dims.constant(info.max)}) != Answer::kRefuted;
    if (info.divisor > 1)
      ok &= s_.settle_on_edge({CondOp::kDivides, c_.dims.constant(info.divisor), c_.dims.sub(v, c_.dims.constant(info.remainder))}) != Answer::kRefuted;
    if (!ok) mismatch(i, fmt::format("axis {}: {} is outside the declared range of {}", axis, c_.text(v), info.name), {});
  }

  void tensor(int32_t i) {
    const Reg d = c_.at(i).defs[0], r = incoming(i);
    if (c_.bad_reg[r] || c_.bad_reg[d]) return;
    const TensorType& t = c_.declared(d);
    if (c_.kind(d) == RegKind::kList) {
      if (t.dtype != c_.declared(r).dtype) type_error(i, "the lists hold different dtypes", "make both lists of one dtype");
      return;
    }
    const TensorType& in = s_.type(r);
    if (in.dtype != t.dtype) return type_error(i, "the dtypes differ", fmt::format("insert a Cast at the end of b{}", from_));
    if (!(in.device == t.device) || in.layout != t.layout)
      return type_error(i, "the devices or layouts differ", fmt::format("insert a TENSOR_COPY into a tensor like R{} at the end of b{}", d, from_));
    if (in.strided && !t.strided)
      return type_error(i, "a strided tensor comes in where the PHI is dense", fmt::format("mark the type of R{} strided, or insert a TENSOR_COPY at the end of b{}", d, from_));
    if (t.unknown_rank) return;
    if (in.unknown_rank || in.rank() != t.rank())
      return mismatch(i, "the ranks differ", fmt::format("let R{} have unknown rank ({}[*]), or narrow R{} in b{}", d, dtype_name(t.dtype), r, from_));
    for (int a = 0; a < t.rank(); ++a) {
      const Dim want = s_.substituted(t.shape[a]), have = in.shape[a];
      if (want == have) {
        ++c_.facts.proved;
        continue;
      }
      if (s_.settle_on_edge({CondOp::kEq, want, have}) != Answer::kRefuted) continue;
      return mismatch(i, fmt::format("axis {} of R{} is {}, but b{} gives {}", a, d, c_.text(t.shape[a]), from_, c_.text(have)),
                      fmt::format("let axis {} be dynamic: a fresh symbol in the type of R{}", a, d));
    }
  }

  std::string all_inputs(int32_t i) const {
    const Instr& x = c_.at(i);
    std::string s;
    constexpr size_t kShown = 8;
    for (size_t k = 0; k < x.uses.size() && k < kShown; ++k) s += fmt::format("{}from b{} {}", k ? "; " : "", x.targets[k], c_.origin(x.uses[k]));
    if (x.uses.size() > kShown) s += "; ...";
    return s;
  }

  void mismatch(int32_t i, std::string message, std::string fix) {
    if (reported_[i]) return;
    reported_[i] = 1;
    c_.error(Rule::kPhiShape, i, {std::move(message), c_.type_text(c_.at(i).defs[0]), all_inputs(i), std::move(fix)});
  }
  void type_error(int32_t i, const char* message, std::string fix) {
    reported_[i] = 1;
    c_.error(Rule::kPhiType, i, {message, c_.type_text(c_.at(i).defs[0]), all_inputs(i), std::move(fix)});
  }

  Context& c_;
  Sizes& s_;
  const BlockId from_, to_;
  std::vector<uint8_t>& reported_;
};

void return_error(Context& c, int32_t at, const Param& p, Reg r, std::string message, std::string fix = {}) {
  c.error(Rule::kReturnShape, at, {fmt::format("output \"{}\": {}", p.name, message), to_string(p.type, c.dims), c.origin(r), std::move(fix)});
}

}  // namespace

void check_phi_edge(Context& c, Sizes& sizes, BlockId from, BlockId to, std::vector<uint8_t>& reported) { EdgeCheck(c, sizes, from, to, reported).run(); }

void check_return_shapes(Context& c, Sizes& s, int32_t at) {
  const Instr& x = c.at(at);
  s.begin_substitution();
  size_t next = 0;
  for (const Param& p : c.f.outputs) {
    if (p.type.kind == RegKind::kI64) continue;
    const Reg r = x.uses[next++];
    if (p.type.kind != RegKind::kTensor || c.bad_reg[r]) continue;
    const TensorType &want = p.type.tensor, &have = s.type(r);
    if (want.dtype != have.dtype || !(want.device == have.device) || want.layout != have.layout) {
      return_error(c, at, p, r, "dtype, device or layout differ", "insert a Cast or a TENSOR_COPY before RETURN");
      continue;
    }
    if (want.unknown_rank) continue;
    if (have.unknown_rank || have.rank() != want.rank()) {
      return_error(c, at, p, r, "the ranks differ", have.unknown_rank ? fmt::format("narrow R{} with TENSOR_CREATE before RETURN", r) : std::string());
      continue;
    }
    for (int a = 0; a < want.rank(); ++a) {
      const Dim d = want.shape[a];
      const bool anonymous = d.is_symbol() && !c.dims.symbol_info(d.symbol()).is_register() && c.tables.symbol_def[d.symbol()] == kUnbound;
      if (anonymous && !s.has(d.symbol())) {
        s.put(d.symbol(), have.shape[a]);
        continue;
      }
      const Dim size = s.substituted(d);
      if (s.settle(at, {CondOp::kEq, size, have.shape[a]}, DiagCode::kShapeConstraint, [&] { return fmt::format("axis {} of output {}", a, p.name); }, Check::kBefore) != Answer::kRefuted) continue;
      SizeFix fix = fix_size(c, s, at, have.shape[a], size);
      return_error(c, at, p, r, fmt::format("axis {} is {} where {} is declared", a, c.text(have.shape[a]), c.text(d)), fix.fix);
      break;
    }
  }
}

}  // namespace msvm::verification
