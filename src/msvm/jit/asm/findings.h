// What stands out in the code of a kernel. Private to the room.
#pragma once
#include <string>
#include <vector>

#include "msvm/jit/asm/decode.h"
#include "msvm/jit/asm/disassembly.h"
#include "msvm/loops/loop_program.h"

namespace msvm::jit {

/// A kernel's code beside its loop program.
struct KernelFacts {
  std::vector<MachineInstruction> code;
  std::vector<int32_t> ir;                 // by instruction: line of the kernel's text; -1
  std::vector<const loops::Step*> steps;   // by line: the step that stands there, or null
  const loops::Kernel* kernel = nullptr;
  std::vector<std::string> sizes;          // what n0, n1, ... are: "H * W"; may be shorter
};

struct CodeFinding {
  FindingKind kind{};
  std::string text, mend;
  std::vector<size_t> instructions;        // concerned, ascending
};

/// Findings by kind, each kind by the order of the loops. Aliases of the stack pointer but rbp aren't followed.
std::vector<CodeFinding> find_in_code(const KernelFacts& facts);
/// Of a call, if its kernel is a reference kernel or a generic one.
std::vector<Finding> find_in_calls(const std::vector<RegionCall>& calls);

}  // namespace msvm::jit
