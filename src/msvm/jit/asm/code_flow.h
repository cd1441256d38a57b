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

/// Blocks that reach each other. What lies in it without its entries is looked at again for loops inside: compilers jump into the middle of
/// loops, so that one may have several entries.
struct CodeLoop {
  std::vector<int32_t> entries, blocks;  // ascending
  bool inner = true;                     // no other loop lies in it
};

struct CodeFlow {
  std::vector<CodeBlock> blocks;  // in the order of the code; the first is the entry
  std::vector<CodeLoop> loops;    // outer ones before those in them
  std::vector<int32_t> loop_of;   // by block: the innermost loop that holds it; -1
  /// Whether the end of block `b` decides if its loop goes on: one side leaves it, or is its only entry.
  bool goes_on(int32_t b) const;
};

/// Empty if some flow is unknown.
CodeFlow flow_of(std::span<const MachineInstruction> code);

}  // namespace msvm::jit
