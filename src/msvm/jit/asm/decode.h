// Bytes to instructions: text for people, and what the analyses here ask. Private to the room.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msvm::jit {

/// General-purpose registers by their number in the encoding.
enum Gpr : int8_t { kNoGpr = -1, kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi, kR8, kR9 };
constexpr int kGprs = 16;

struct MemoryOperand {
  int8_t base = kNoGpr, index = kNoGpr;
  int64_t displacement = 0;
  uint32_t bytes = 0;              // of one access
  bool read = false, written = false;
  std::optional<uint64_t> target;  // offset into the code of what lies beside it
  bool on_stack() const { return (base == kRsp || base == kRbp) && index == kNoGpr; }
};

struct MachineInstruction {
  enum class Flow : uint8_t { kNext, kJump, kBranch, kReturn, kUnknown } flow = Flow::kNext;
  uint32_t offset = 0, length = 0;  // in the code
  uint32_t target = 0;              // of jumps and branches
  std::string text;                 // Intel's syntax
  uint16_t reads = 0, writes = 0;   // bit r: general-purpose register r, but for addresses
  bool nop = false;
  bool address = false;             // lea
  bool clears = false;              // its result doesn't depend on what it reads: xor eax, eax
  bool sets_flags = false, takes_flags = false;  // takes: as a value (setcc, adc), not to choose
  uint32_t aligns_stack = 0;        // and rsp, -64: 64
  std::optional<MemoryOperand> memory;
  uint32_t end() const { return offset + length; }
};

/// The function that begins at `offset`: `size` bytes, or, if that is 0, up to the last return that no jump passes. Bytes that are no
/// instruction become lines of one byte with an unknown flow. The caller has checked the range.
std::vector<MachineInstruction> decode(std::span<const std::byte> code, uint32_t offset, uint32_t size);

}  // namespace msvm::jit
