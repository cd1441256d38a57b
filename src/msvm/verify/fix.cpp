// What would mend a size: an instruction that makes the required one from what a register already holds.
#include <fmt/format.h>

#include "msvm/verify/sizes.h"

namespace msvm::verification {
namespace {

struct Step {
  const char* op = nullptr;  // of SHAPE_CALC
  Dim base;
  int64_t constant = 0;
};

/// required == op(base, constant) for a small constant.
std::optional<Step> step_from(DimContext& dims, Dim base, Dim required) {
  if (!base.valid() || base.is_const()) return std::nullopt;
  if (base == required) return Step{"", base, 0};
  const Dim difference = dims.sub(required, base);
  if (difference.is_const()) return Step{difference.value() >= 0 ? "add" : "sub", base, difference.value() >= 0 ? difference.value() : -difference.value()};
  for (int64_t k = 2; k <= 64; ++k) {
    const Dim c = dims.constant(k);
    if (dims.mul(base, c) == required) return Step{"mul", base, k};
    if (dims.floordiv(base, c) == required) return Step{"floordiv", base, k};
    if (dims.ceildiv(base, c) == required) return Step{"ceildiv", base, k};
  }
  return std::nullopt;
}

/// An i64 register with this value at `at`.
Reg register_with(const Context& c, const Sizes& s, int32_t at, Dim value) {
  for (size_t r = 0; r < c.f.regs.size(); ++r)
    if (c.kind(static_cast<Reg>(r)) == RegKind::kI64 && c.def[r] >= 0 && c.def[r] != at && s.value(static_cast<Reg>(r)) == value && c.reaches(c.def[r], at))
      return static_cast<Reg>(r);
  return kNoReg;
}

std::optional<std::pair<Reg, int>> axis_with(const Context& c, const Sizes& s, int32_t at, Dim value) {
  for (size_t r = 0; r < c.f.regs.size(); ++r) {
    if (c.kind(static_cast<Reg>(r)) != RegKind::kTensor || c.def[r] < 0 || c.def[r] >= at || c.bad_reg[r] || !c.reaches(c.def[r], at)) continue;
    const TensorType& t = s.type(static_cast<Reg>(r));
    for (int a = 0; a < t.rank(); ++a)
      if (t.shape[a] == value) return std::pair(static_cast<Reg>(r), a);
  }
  return std::nullopt;
}

}  // namespace

SizeFix fix_size(Context& c, const Sizes& s, int32_t at, Dim declared, Dim required) {
  if (!required.valid() || required.is_const()) return {};
  std::optional<Step> step = step_from(c.dims, declared, required);
  if (!step)
    DimContext::for_each_symbol(required, [&](SymbolId symbol) {
      if (!step) step = step_from(c.dims, c.dims.symbol(symbol), required);
    });
  if (!step) return {};
  const std::string from = c.text(step->base), to = c.text(required);
  Reg fresh = static_cast<Reg>(c.f.regs.size()), held = register_with(c, s, at, step->base);
  SizeFix out;
  if (*step->op == 0) {
    if (held != kNoReg) return {fmt::format("R{} holds {}, but isn't used here", held, to), fmt::format("use R{} for this size     (R{} holds {})", held, held, to), {}, reg_text(held)};
    if (auto axis = axis_with(c, s, at, required))
      return {"Missing SHAPE_PROPAGATE of " + to, fmt::format("insert before instruction {}:  R{} = SHAPE_PROPAGATE R{}, {}     (R{} then holds {})", at, fresh, axis->first, axis->second, fresh, to),
              {insert(at, fmt::format("R{} = SHAPE_PROPAGATE R{}, {}", fresh, axis->first, axis->second))}, reg_text(fresh)};
    return {};
  }
  out.message = fmt::format("Missing SHAPE_CALC from {} to {}", from, to);
  std::string lines;
  if (held == kNoReg) {
    auto axis = axis_with(c, s, at, step->base);
    if (!axis) return {out.message, fmt::format("use the size {}", to)};
    held = fresh++;
    const std::string propagate = fmt::format("R{} = SHAPE_PROPAGATE R{}, {}", held, axis->first, axis->second);
    out.inserted.push_back(insert(at, propagate));
    lines = propagate + "\n";
  }
  const std::string calc = fmt::format("R{} = SHAPE_CALC {} R{}, {}", fresh, step->op, held, step->constant);
  out.inserted.push_back(insert(at, calc));
  out.size = reg_text(fresh);
  lines += fmt::format("{}     (R{} holds {})", calc, held, from);
  out.fix = fmt::format("insert before instruction {}:  {}", at, lines);
  return out;
}

Edits dense_copy(const Context& c, int32_t at, Reg from, size_t fresh, const TensorType& t) {
  return {insert(at, fmt::format("R{} = TENSOR_ALLOC {}, {}{}, {}", fresh, c.text(t.shape), dtype_name(t.dtype), t.layout == Layout::kNhwc ? "@nhwc" : "", to_string(t.device))),
          insert(at, fmt::format("TENSOR_COPY R{} -> R{}", from, fresh)), operand(at, reg_text(from), reg_text(static_cast<Reg>(fresh)))};
}

}  // namespace msvm::verification
