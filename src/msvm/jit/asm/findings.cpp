#include "msvm/jit/asm/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "msvm/jit/asm/size_flow.h"

namespace msvm::jit {
namespace {

constexpr uint32_t kVectorBytes = 16;  // shorter accesses cost nothing worth a word

std::string counted(size_t n, const char* one, const char* more) { return fmt::format("{} {}", n, n == 1 ? one : more); }

class Finder {
 public:
  explicit Finder(const KernelFacts& facts) : f_(facts), flow_(flow_of(f_.code)), sizes_(size_flow_of(f_.code, flow_)) {
    for (const MachineInstruction& x : f_.code) stack_alignment_ = std::max(stack_alignment_, x.aligns_stack);
  }

  std::vector<CodeFinding> find() {
    for (size_t l = 0; l < flow_.loops.size(); ++l) size_moves(l);
    for (size_t l = 0; l < flow_.loops.size(); ++l) nops(l);
    unaligned();
    for (size_t l = 0; l < flow_.loops.size(); ++l) size_branches(l);
    return std::move(out_);
  }

 private:
  const CodeLoop& loop(size_t l) const { return flow_.loops[l]; }
  /// Instructions of a loop that lie in no loop inside it.
  template <class Visit> void each_own(size_t l, const Visit& visit) const {
    for (const int32_t b : loop(l).blocks)
      if (flow_.loop_of[static_cast<size_t>(b)] == static_cast<int32_t>(l))
        for (size_t i = flow_.blocks[static_cast<size_t>(b)].begin; i < flow_.blocks[static_cast<size_t>(b)].end; ++i) visit(i, b);
  }
  std::string place(size_t l) const {
    uint32_t first = UINT32_MAX, last = 0;
    for (const int32_t b : loop(l).blocks) {
      first = std::min(first, f_.code[flow_.blocks[static_cast<size_t>(b)].begin].offset);
      last = std::max(last, f_.code[flow_.blocks[static_cast<size_t>(b)].end - 1].offset);
    }
    return fmt::format("{} at {:#x} to {:#x}", loop(l).inner ? "the inner loop" : "the loop over rows", first, last);
  }
  std::string names(const SizeSet& sizes) const {
    std::string text;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (sizes[k]) text += fmt::format("{}n{}{}", text.empty() ? "" : ", ", k, k < f_.sizes.size() && !f_.sizes[k].empty() ? " (" + f_.sizes[k] + ")" : "");
    return text;
  }
  void add(FindingKind kind, std::string text, std::string mend, std::vector<size_t>&& instructions) {
    std::sort(instructions.begin(), instructions.end());
    out_.push_back({kind, std::move(text), std::move(mend), std::move(instructions)});
  }

  void size_moves(size_t l) {
    if (!loop(l).inner) return;
    SizeSet all;
    std::vector<size_t> found;
    each_own(l, [&](size_t i, int32_t) {
      if (sizes_.moved[i].none()) return;
      all |= sizes_.moved[i];
      found.push_back(i);
    });
    if (found.empty()) return;
    add(FindingKind::kSymbolicMoves, fmt::format("{} of {} {} sizes between memory and registers in each round: {}", counted(found.size(), "instruction", "instructions"), place(l), found.size() == 1 ? "moves" : "move", names(all)),
        "code for fixed sizes has numbers there: name them (ms.vm.warmup, msvm compile -s) or let them settle; dense tensors have fewer strides", std::move(found));
  }

  void nops(size_t l) {
    if (!loop(l).inner) return;
    uint32_t bytes = 0;
    std::vector<size_t> found;
    each_own(l, [&](size_t i, int32_t) {
      if (!f_.code[i].nop) return;
      bytes += f_.code[i].length;
      found.push_back(i);
    });
    if (found.empty()) return;
    add(FindingKind::kNopsUnaligned, fmt::format("{} ({} bytes) run in each round of {}", counted(found.size(), "nop", "nops"), bytes, place(l)),
        "the code generator put them there: report it with this listing and its loop program", std::move(found));
  }

  /// Of all inner loops together, as the mend is one.
  void unaligned() {
    std::vector<size_t> constants, stack;
    struct Rows {
      std::set<int32_t> tensors;
      std::vector<size_t> instructions;
    };
    std::map<int64_t, Rows> rows;  // by their distance
    for (size_t l = 0; l < flow_.loops.size(); ++l) {
      if (!loop(l).inner) continue;
      each_own(l, [&](size_t i, int32_t) {
        const auto& m = f_.code[i].memory;
        if (!m || m->bytes < kVectorBytes || (m->bytes & (m->bytes - 1)) != 0 || f_.code[i].address) return;
        if (m->target) {
          if (*m->target % m->bytes != 0) constants.push_back(i);
        } else if (m->on_stack()) {
          if (stack_alignment_ < m->bytes || m->displacement % m->bytes != 0) stack.push_back(i);
        } else if (const int32_t tensor = tensor_of(i); tensor >= 0 && apart(tensor) % m->bytes != 0) {
          rows[apart(tensor)].tensors.insert(tensor);
          rows[apart(tensor)].instructions.push_back(i);
        }
      });
    }
    const auto accesses = [](size_t n, std::string_view of) { return fmt::format("{} of {} in inner loops", counted(n, "vector access", "vector accesses"), of); };
    if (!constants.empty())
      add(FindingKind::kNopsUnaligned, accesses(constants.size(), "constants beside the code") + ": not aligned to their size", "the compiler laid them out: report it with this listing", std::move(constants));
    if (!stack.empty())
      add(FindingKind::kNopsUnaligned, accesses(stack.size(), "the stack") + ": not aligned to their size", "the code generator laid it out: report it with this listing; a group of fewer calls needs fewer registers", std::move(stack));
    for (auto& [bytes, r] : rows) {
      std::string tensors;
      for (const int32_t t : r.tensors) tensors += fmt::format("{}t{}", tensors.empty() ? "" : ", ", t);
      add(FindingKind::kNopsUnaligned, fmt::format("{}: those of most rows cross cache lines, as rows begin {} bytes apart, no multiple of the access's size", accesses(r.instructions.size(), tensors), bytes),
          "rows whose bytes are a multiple of 64 are aligned: pad that axis, or choose sizes that are", std::move(r.instructions));
    }
  }
  /// The tensor whose elements the instruction touches one after another, if its line says one.
  int32_t tensor_of(size_t i) const {
    const int32_t line = f_.ir[i];
    const loops::Step* s = line < 0 ? nullptr : f_.steps[static_cast<size_t>(line)];
    if (!s || s->tensor < 0) return -1;
    return f_.kernel->tensors[static_cast<size_t>(s->tensor)].strides.back() == loops::Size::number(1) ? s->tensor : -1;
  }
  /// Bytes between two rows of the tensor, where that is a number; 0: not known, or there is one row.
  int64_t apart(int32_t tensor) const {
    const loops::Access& a = f_.kernel->tensors[static_cast<size_t>(tensor)];
    for (size_t axis = f_.kernel->outer.size(); axis-- > 0;) {
      if (f_.kernel->outer[axis] == loops::Size::number(1) || a.strides[axis] == loops::Size::number(0)) continue;
      return a.strides[axis].argument >= 0 ? 0 : a.strides[axis].value * static_cast<int64_t>(dtype_bytes(a.dtype));
    }
    return 0;
  }

  void size_branches(size_t l) {
    SizeSet all;
    std::vector<size_t> found;
    each_own(l, [&](size_t i, int32_t b) {
      if (sizes_.tested[i].none() || flow_.goes_on(b)) return;
      all |= sizes_.tested[i];
      found.push_back(i);
    });
    if (found.empty()) return;
    add(FindingKind::kSizeBranch, fmt::format("{} in {} by {}: asked again in each round", counted(found.size(), "branch", "branches"), place(l), names(all)),
        "code for fixed sizes has none of them: name the sizes (ms.vm.warmup, msvm compile -s) or let them settle", std::move(found));
  }

  const KernelFacts& f_;
  const CodeFlow flow_;
  const SizeFlow sizes_;
  uint32_t stack_alignment_ = 0;
  std::vector<CodeFinding> out_;
};

/// "ref_add", "avx512_matmul_f32_generic", also with " (fallback)" behind it and among others.
bool generic(std::string_view kernels) {
  for (size_t at = 0; at < kernels.size();) {
    const size_t end = std::min(kernels.find(", ", at), kernels.size());
    std::string_view name = kernels.substr(at, end - at);
    name = name.substr(0, name.find(' '));
    if (name.starts_with("ref_") || name.ends_with("_generic")) return true;
    at = end + 2;
  }
  return false;
}

}  // namespace

std::vector<CodeFinding> find_in_code(const KernelFacts& facts) { return Finder(facts).find(); }

std::vector<Finding> find_in_calls(const std::vector<RegionCall>& calls) {
  std::vector<Finding> out;
  for (const RegionCall& c : calls) {
    if (!generic(c.kernel)) continue;
    out.push_back({FindingKind::kGenericKernel, -1, -1, fmt::format("instruction {}, {} ({}), runs as {}", c.instruction, c.op, c.place, c.kernel),
                   c.why.empty() ? "this build has no better kernel for it at these sizes: a tuned one would have to be written" : c.why});
  }
  return out;
}

}  // namespace msvm::jit
