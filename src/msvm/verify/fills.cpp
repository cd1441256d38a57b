#include "msvm/verify/fills.h"

#include <fmt/format.h>

namespace msvm::verification {

AddPart add_part(const Sizes& s, Fill& fill, int axis, Dim from, Dim to) {
  auto equal = [&](Dim a, Dim b) { return s.proved(CondOp::kEq, a, b); };
  if (equal(from, to)) return AddPart::kAdded;
  if (!fill.parts.empty() && fill.axis != axis) return AddPart::kOtherAxis;
  fill.axis = axis;
  for (const Fill::Part& p : fill.parts)
    if (to != p.from && from != p.to && !s.proved(CondOp::kLe, to, p.from) && !s.proved(CondOp::kLe, p.to, from)) return AddPart::kMayOverlap;
  Fill::Part joined{from, to};
  for (size_t k = 0; k < fill.parts.size();) {
    const Fill::Part p = fill.parts[k];
    const bool before = equal(p.to, joined.from), after = !before && equal(joined.to, p.from);
    if (!before && !after) {
      ++k;
      continue;
    }
    if (before) joined.from = p.from;
    else joined.to = p.to;
    fill.parts.erase(fill.parts.begin() + static_cast<ptrdiff_t>(k));
  }
  if (fill.parts.size() >= kMaxFillParts) return AddPart::kTooManyParts;
  fill.parts.push_back(joined);
  return AddPart::kAdded;
}

bool covers(const Sizes& s, const Fill& fill, int axis, Dim from, Dim to) {
  if (fill.axis != axis) return false;
  for (const Fill::Part& p : fill.parts)
    if ((p.from == from || s.proved(CondOp::kLe, p.from, from)) && (p.to == to || s.proved(CondOp::kLe, to, p.to))) return true;
  return false;
}

bool is_complete(const Sizes& s, Context& c, const Fill& fill, Dim size) {
  return fill.parts.size() == 1 && s.proved(CondOp::kEq, fill.parts[0].from, c.dims.constant(0)) && s.proved(CondOp::kEq, fill.parts[0].to, size);
}

std::string to_text(const Context& c, const Fill& fill) {
  if (fill.parts.empty()) return "nothing is written";
  std::string s = fmt::format("along axis {}", fill.axis);
  for (const Fill::Part& p : fill.parts) s += fmt::format(" [{}, {})", c.text(p.from), c.text(p.to));
  return s + " is written";
}

}  // namespace msvm::verification
