#include "msvm/jit/asm/disassembly.h"

#include <fmt/format.h>

#include <algorithm>

#include "msvm/jit/asm/findings.h"
#include "msvm/jit/entry_code.h"

namespace msvm::jit {
namespace {

/// Lines of a loop program's text by kernel.
struct KernelText {
  uint32_t first = 0;  // line of the program, from 1
  std::vector<std::string> lines;
};
std::vector<KernelText> split(std::string_view text) {
  std::vector<KernelText> kernels;
  uint32_t number = 0;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    ++number;
    if (line.starts_with("kernel ")) kernels.push_back({number, {}});
    if (!kernels.empty()) kernels.back().lines.emplace_back(line);
  }
  return kernels;
}

std::string joined(std::string_view a, std::string_view between, const std::string& b) { return a.empty() ? b : fmt::format("{}{}{}", a, between, b); }

/// "H * W", "stride of x along axis 1"
std::string size_text(const FunctionView& v, const RegionSize& s) {
  if (s.stride.tensor != kNoReg) return fmt::format("stride of {} along axis {}", v.name(s.stride.tensor), s.stride.axis);
  std::string text;
  for (const RegionSize::Axis& a : s.extents) {
    std::string one = v.dims().to_string(v.value(v.type(a.tensor).shape[static_cast<size_t>(a.axis)]));
    if (s.extents.size() > 1 && one.find(' ') != std::string::npos) one = "(" + one + ")";
    text = joined(text, " * ", one);
  }
  return text;
}

class Disassembler {
 public:
  Disassembler(const EntryCode& code, Disassembly& out) : c_(code), out_(out) {}

  Status run() {
    MSVM_ASSIGN_OR_RETURN(program_, loops::parse(c_.program));
    texts_ = split(c_.program);
    const size_t kernels = c_.image->kernels();
    if (program_.kernels.size() != kernels || texts_.size() != kernels || c_.lowered->groups.size() != kernels || c_.lowered->origins.size() != kernels)
      return internal_error(fmt::format("the image has {} kernels, its loop program {}, the region {} groups", kernels, program_.kernels.size(), c_.lowered->groups.size()));
    for (size_t k = 0; k < kernels; ++k) MSVM_RETURN_IF_ERROR(kernel(k));
    return {};
  }

 private:
  Status kernel(size_t k) {
    KernelCode& out = out_.kernels.emplace_back();
    KernelFacts facts;
    facts.kernel = &program_.kernels[k];
    out.name = facts.kernel->name;
    MSVM_RETURN_IF_ERROR(ir(k, out, facts));
    for (const RegionSize& s : c_.lowered->groups[k].sizes) facts.sizes.push_back(size_text(*c_.view, s));
    const LineTable& lines = c_.image->lines();
    const uint32_t offset = c_.image->offsets()[k];
    facts.code = decode(c_.image->code(), offset, lines.sizes.empty() ? 0 : lines.sizes[k]);
    for (const MachineInstruction& x : facts.code) {
      facts.ir.push_back(ir_line(k, x.offset));
      out.lines.push_back({x.offset, x.text, facts.ir.back(), -1});
    }
    out.size = facts.code.empty() ? 0 : facts.code.back().end() - offset;
    for (CodeFinding& f : find_in_code(facts)) {
      const auto number = static_cast<int32_t>(out_.findings.size());
      out_.findings.push_back({f.kind, static_cast<int32_t>(k), f.instructions.empty() ? -1 : static_cast<int32_t>(f.instructions[0]), std::move(f.text), std::move(f.mend)});
      for (const size_t i : f.instructions)
        if (out.lines[i].finding < 0) out.lines[i].finding = number;
    }
    return {};
  }

  /// The kernel's text, with the calls that each line comes from: those of its steps; of all steps of a pass; of the group.
  Status ir(size_t k, KernelCode& out, KernelFacts& facts) const {
    const RegionGroup& group = c_.lowered->groups[k];
    const std::vector<uint64_t>& origins = c_.lowered->origins[k];
    const auto all = static_cast<uint64_t>(group.members.size() >= 64 ? ~uint64_t{0} : (uint64_t{1} << group.members.size()) - 1);
    std::vector<const loops::Step*> steps;
    for (const loops::Pass& p : facts.kernel->passes)
      for (const loops::Step& s : p.steps) steps.push_back(&s);
    std::vector<uint64_t> members;
    size_t step = 0, pass = SIZE_MAX;
    for (const std::string& line : texts_[k].lines) {
      const size_t indent = line.find_first_not_of(' ');
      const bool is_step = indent == 4, is_pass = indent == 2 && (line == "  pass" || line == "  row");
      if (is_pass) pass = members.size();
      if (is_step && (step >= origins.size() || step >= steps.size())) return internal_error("a kernel has more steps than its calls gave it");
      members.push_back(is_step ? origins[step] : is_pass ? 0 : all);
      if (is_step && pass != SIZE_MAX) members[pass] |= origins[step];
      facts.steps.push_back(is_step ? steps[step] : nullptr);
      step += is_step;
    }
    for (size_t n = 0; n < members.size(); ++n) out.ir.push_back(line_of(texts_[k].lines[n], group, members[n]));
    return {};
  }
  IrLine line_of(const std::string& text, const RegionGroup& group, uint64_t members) const {
    IrLine line{text, {}, {}};
    for (size_t m = 0; m < group.members.size(); ++m) {
      if (!(members >> (m % 64) & 1)) continue;
      line.instructions.push_back(group.members[m]);
      std::string place = c_.view->place(group.members[m]);
      if (std::find(line.places.begin(), line.places.end(), place) == line.places.end()) line.places.push_back(std::move(place));
    }
    return line;
  }

  /// Of kernels that share code, the table has the lines of the first.
  int32_t ir_line(size_t k, uint32_t offset) const {
    const auto& rows = c_.image->lines().rows;
    const auto next = std::upper_bound(rows.begin(), rows.end(), offset, [](uint32_t at, const LineRow& row) { return at < row.offset; });
    if (next == rows.begin() || std::prev(next)->line == 0) return -1;
    const auto& offsets = c_.image->offsets();
    const auto owner = static_cast<size_t>(std::find(offsets.begin(), offsets.end(), offsets[k]) - offsets.begin());
    const int64_t line = int64_t{std::prev(next)->line} - texts_[owner].first;
    return line >= 0 && line < static_cast<int64_t>(texts_[k].lines.size()) ? static_cast<int32_t>(line) : -1;
  }

  const EntryCode& c_;
  Disassembly& out_;
  loops::Program program_;
  std::vector<KernelText> texts_;
};

}  // namespace

Result<Disassembly> disassemble(const EntryCode& code, std::vector<RegionCall> calls) {
  Disassembly d{code.name, code.alias, code.box, code.region_name, code.tier, code.shared, {}, {}, {}, std::move(calls)};
  if (code.image) {
    d.isa = code.image->isa() == ImageIsa::kAvx512 ? "avx512" : "avx2";
    MSVM_RETURN_IF_ERROR(Disassembler(code, d).run());
  }
  for (Finding& f : find_in_calls(d.calls)) d.findings.push_back(std::move(f));
  return d;
}

}  // namespace msvm::jit
