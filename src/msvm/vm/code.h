// The decoded form of a function: fixed-width instructions over slots. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "msvm/bytecode/cfg.h"
#include "msvm/verify/verify.h"
#include "msvm/vm/region_code.h"

namespace msvm::vm {

/// Scalars (i64, f64 by bits, bool) live in one array of 8-byte slots: registers first, then symbols, constants, temporaries.
using Slot = int32_t;
constexpr Slot kNoSlot = -1;
constexpr int32_t kNeverBound = -2;  // Function::symbol_binder

enum class Op : uint8_t {
  // scalars: a = op(b, c)
  kAdd, kSub, kMul, kFloorDiv, kCeilDiv, kMod, kMin, kMax, kNeg, kTruncDiv, kBroadcastDim,
  kEq, kNe, kLt, kLe, kGt, kGe, kAnd, kOr, kNot, kSelect /* a = b ? c : d */,
  kFAdd, kFSub, kFMul, kFDiv, kFMin, kFMax, kFNeg, kFFloor, kFCeil, kFRound, kFSqrt, kFFromInt, kFFromBool, kFToInt,
  kFEq, kFNe, kFLt, kFLe, kFGt, kFGe,
  kMove,            // a = b
  kCheck,           // condition `flags` on b, c; d = index of the check
  kAssert,          // b must hold
  // tensors: a = destination slot, b = source slot, extra[c...] operands
  kInput,           // a = input b
  kConst,           // a = constant b
  kNarrow,
  kAlloc,           // d = index in `planned`, -1: the allocator; b = tensor whose buffer it takes if that is free for it, -1: none
  kFree, kResize, kSlice, kReshape, kTranspose, kBroadcast, kSqueeze, kUnsqueeze, kWindow, kIdentity,
  kCopy, kRead, kPropagate,
  kMatch,           // sizes of tensor a against match list b: bind or check
  kCall,            // call site a
  kListMake, kListAppend, kListGet, kListLength, kListIdentity, kListFree,
  // control
  kEdge,            // the PHIs of edge a, then on at its target
  kBranch,          // edge b ? a : c
  kSwitch,          // extra[c...] edges, one per case and the default
  kReturn, kTrap,
  // borders of region a
  kRegion, kRegionEnd,
};

struct Code {
  Op op;
  uint8_t flags = 0;      // SCALAR_CALC: round to f32; kCheck: CondOp
  uint16_t n = 0;         // number of operands in extra
  int32_t a = kNoSlot, b = kNoSlot, c = kNoSlot, d = kNoSlot;
  int32_t instr = -1;     // index of the bytecode instruction
};
static_assert(sizeof(Code) == 24);
constexpr size_t kMaxOperands = UINT16_MAX;

/// One step of matching a tensor's sizes: value = a*s + b binds s; else the size must equal a slot.
struct MatchStep {
  int32_t axis = 0;
  Slot bind = kNoSlot;    // symbol slot to bind; kNoSlot = check against `equal`
  Slot equal = kNoSlot;
  int64_t scale = 1, offset = 0;
  SymbolId symbol = 0;    // for its declared range
};

/// The moves of an edge happen one after the other: the decoder has put them in an order, with temporaries, in which that is the
/// same as all at once.
struct PhiMove {
  enum Kind : uint8_t { kScalar, kTensor, kList } kind;
  Slot from, to;
};

struct Edge {
  std::vector<PhiMove> moves;
  int32_t target = -1;          // code index
  BlockId block = -1;           // -1: a stub that prepares the values of another edge
  int32_t instructions = 0;     // of the block
  bool back = false;
};

struct CallSite {
  const Instr* instr = nullptr;
  int32_t index = -1;                  // instruction index
  bool has_lists = false;
  std::vector<Slot> inputs;            // tensor slot; kNoSlot absent; a list slot s is -2 - s
  std::vector<Slot> args;              // scalar slots
  std::vector<Slot> outputs;           // tensor slots; kNoSlot absent
  uint64_t new_outputs = 0, const_inputs = 0;
};

/// An ALLOC whose place in the arena the plan decides.
struct PlannedAlloc {
  std::vector<Slot> dims;              // set by plan_code
  int64_t element_bytes = 0;
  int32_t begin = 0, end = 0;          // life, in positions of reverse post-order
  int32_t over = -1;                   // an earlier one whose place it takes if both have as many bytes
};

struct InputMatch {
  int32_t input;
  MatchStep step;
};

/// Of RegionTable::create: where a region lies in the code.
struct RegionInfo {
  const RegionSpec* spec = nullptr;
  bool usable = false;                 // else it is always interpreted
  int32_t begin = -1, end = -1;        // code: kRegion, kRegionEnd
  std::vector<Slot> symbols;           // values of its entry symbols
  std::vector<Slot> further;           // other scalars that it reads
  bool strided = false;                // it works on tensors from outside whose strides don't follow from sizes
};

struct Function {
  const msvm::Function* source = nullptr;
  const FunctionFacts* facts = nullptr;
  std::vector<Code> code;
  std::vector<int32_t> extra;
  std::vector<std::vector<MatchStep>> match_lists;
  std::vector<Edge> edges;
  std::vector<CallSite> calls;
  std::vector<std::pair<int32_t, int32_t>> calls_by_instr;  // (instruction, call), sorted
  std::vector<const Instr*> instrs;    // by instruction index
  int32_t entry_instructions = 0;
  bool uses_devices = false;           // others than the host

  std::vector<uint8_t> grouped;        // by tensor slot: a group's kernel reads or writes it

  std::vector<int64_t> initial_scalars;  // constants in their slots
  std::vector<Slot> tensor_slot, list_slot;  // by register
  std::vector<Reg> tensor_reg;         // by tensor slot: type and name; kNoReg of a temporary
  size_t num_tensors = 0, num_lists = 0;

  std::vector<Slot> symbol_slot;       // by SymbolId; kNoSlot: nothing asks for its value
  std::vector<int32_t> symbol_binder;  // by SymbolId, of named ones: the instruction that binds it; -1: the inputs

  struct ScalarInput { int32_t input; Slot slot; };
  std::vector<ScalarInput> scalar_inputs;
  std::vector<InputMatch> entry_matches;   // run in order before the first instruction
  std::vector<Code> entry_code;            // computes what entry_matches compare with
  std::vector<int32_t> entry_code_at;      // entry_matches[i] needs entry_code[.. entry_code_at[i])

  std::vector<PlannedAlloc> planned;
  std::vector<Slot> plan_key;              // values that the planned sizes depend on
  std::vector<Code> plan_code;

  std::vector<RegionInfo> regions;         // none until the JIT has looked at the function
  std::vector<int32_t> group_of_call;      // by call: the group of its region that it belongs to, else -1; empty without regions

  BlockId block_of(int32_t instr) const {
    const auto& starts = facts->block_start;
    return static_cast<BlockId>(std::upper_bound(starts.begin(), starts.end(), instr) - starts.begin()) - 1;
  }
};

}  // namespace msvm::vm
