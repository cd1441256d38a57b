// Blocks and loops of machine code. Private to the room.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "msvm/jit/asm/decode.h"

namespace msvm::jit {

struct CodeBlock {
  size_t begin = 0, end = 0;            // instructions
  std::array<int32_t, 2> next{-1, -1};  // blocks
};

/// A natural loop: its header dominates all its blocks.
struct CodeLoop {
  int32_t header = -1;
  std::vector<int32_t> blocks;  // ascending
  bool inner = true;            // no other loop lies in it
};

struct CodeFlow {
  std::vector<CodeBlock> blocks;  // in the order of the code; the first is the entry
  std::vector<CodeLoop> loops;
  std::vector<int32_t> loop_of;   // by block: the smallest loop that holds it; -1
  /// Whether the end of block `b` leads back to the header of its loop: a branch there is the loop's own.
  bool goes_on(int32_t b) const;
};

/// Empty if some flow is unknown.
CodeFlow flow_of(std::span<const MachineInstruction> code);

}  // namespace msvm::jit
