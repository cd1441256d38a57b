// Where the size arguments of a kernel are in its code. Private to the room.
#pragma once
#include <bitset>
#include <span>
#include <vector>

#include "msvm/jit/asm/code_flow.h"
#include "msvm/loops/loop_program.h"

namespace msvm::jit {

using SizeSet = std::bitset<loops::kMaxSizes>;  // bit k: n<k>

/// By instruction. Sizes are followed through registers, arithmetic and the stack, and lose themselves in addresses: a pointer made with a
/// stride is no size.
struct SizeFlow {
  std::vector<SizeSet> moved;   // whose values, or what was computed from them, it takes from memory or puts there
  std::vector<SizeSet> tested;  // of conditional branches: what decides
};

/// Of a function with the signature of loops::KernelFn.
SizeFlow size_flow_of(std::span<const MachineInstruction> code, const CodeFlow& flow);

}  // namespace msvm::jit
