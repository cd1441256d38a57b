// Native code for people: machine code beside the loop program, the bytecode and the source it comes from, after what stands out in it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::jit {

struct EntryCode;

enum class FindingKind : uint8_t {
#define MSVM_FINDING(name, text, doc) k##name,
#include "msvm/jit/asm/finding_kinds.def"
#undef MSVM_FINDING
};
inline constexpr std::array kFindingNames = {
#define MSVM_FINDING(name, text, doc) std::string_view(text),
#include "msvm/jit/asm/finding_kinds.def"
#undef MSVM_FINDING
};

struct Finding {
  FindingKind kind{};
  int32_t kernel = -1, line = -1;  // into Disassembly::kernels and its lines, the first of those concerned; -1: of no code
  std::string text, mend;
};

/// A line of the loop program.
struct IrLine {
  std::string text;
  std::vector<int32_t> instructions;  // of the function: the calls it comes from, ascending
  std::vector<std::string> places;    // of those, each once
};

struct CodeLine {
  uint32_t address = 0;   // from the beginning of the image
  std::string text;       // "vaddps zmm0, zmm1, zmm2"
  int32_t ir = -1;        // into KernelCode::ir; -1: of no line
  int32_t finding = -1;   // into Disassembly::findings
};

struct KernelCode {
  std::string name;
  uint32_t size = 0;      // bytes of instructions
  std::vector<IrLine> ir;
  std::vector<CodeLine> lines;
};

/// A call of the region that no kernel of the entry does.
struct RegionCall {
  int32_t instruction = -1;
  std::string op, place;
  std::string kernel;     // chosen for the sizes seen, several with ", " between; empty: it hasn't run yet
  std::string why;        // why no better one; empty: nothing is known
};

struct Disassembly {
  std::string entry, alias, box, region;
  int tier = 1;
  bool shared = false;    // the code is another entry's, too
  std::string isa;        // empty: no kernels
  std::vector<Finding> findings;
  std::vector<KernelCode> kernels;
  std::vector<RegionCall> calls;
};

/// `calls` are those of the region beside its groups. kInternal if the image and the program that it was made from don't fit. From any
/// thread.
Result<Disassembly> disassemble(const EntryCode& code, std::vector<RegionCall> calls);

/// For people; `colour` for terminals. Control characters of names are left out.
std::string to_text(const Disassembly& d, bool colour = false);
/// {"entry", "kernels", "findings", "calls", ...}: docs/disassembly.md.
std::string to_json(const Disassembly& d);

}  // namespace msvm::jit
