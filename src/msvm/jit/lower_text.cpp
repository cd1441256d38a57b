#include <fmt/format.h>

#include "msvm/jit/lower.h"

namespace msvm::jit {
namespace {

std::string axis_text(const FunctionView& v, RegionSize::Axis a) { return fmt::format("{}.{}", v.name(a.tensor), a.axis); }

std::string size_text(const FunctionView& v, const RegionSize& s) {
  if (s.stride.tensor != kNoReg) return "stride " + axis_text(v, s.stride);
  std::string text;
  for (const RegionSize::Axis& a : s.extents) text += (text.empty() ? "" : " * ") + axis_text(v, a);
  return text.empty() ? "1" : text;
}

std::string group_text(const FunctionView& v, const RegionGroup& g) {
  std::string text;
  for (size_t k = 0; k < g.pointers.size(); ++k) text += fmt::format("{}t{} = {}", k ? ", " : "  ", k, v.name(g.pointers[k]));
  text += '\n';
  for (size_t k = 0; k < g.sizes.size(); ++k) text += fmt::format("{}n{} = {}{}", k ? ", " : "  ", k, size_text(v, g.sizes[k]), k + 1 == g.sizes.size() ? "\n" : "");
  text += "  rows ";
  if (g.outer.empty()) text += "1";
  for (size_t k = 0; k < g.outer.size(); ++k) text += (k ? ", " : "") + size_text(v, g.outer[k]);
  return text + fmt::format(" of {}{}\n", size_text(v, g.inner), g.splits_columns ? "" : ", whole");
}

}  // namespace

std::string to_string(const LoweredRegion& lowered, const FunctionView& view) {
  std::string text;
  for (size_t k = 0; k < lowered.groups.size(); ++k) text += lowered.notes[k] + "\n" + group_text(view, lowered.groups[k]);
  for (const NotFused& n : lowered.why_not) text += fmt::format("instr {} {}: {}\n", n.instruction, view.at(n.instruction).text, n.reason);
  if (!lowered.program.kernels.empty()) text += loops::print(lowered.program);
  return text;
}

}  // namespace msvm::jit
