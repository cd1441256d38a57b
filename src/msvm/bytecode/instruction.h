// One instruction in memory, and the table that says what each may hold.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/shape/attributes.h"
#include "msvm/shape/dim.h"

namespace msvm {

using Reg = int32_t;      // index into a function's registers
using BlockId = int32_t;  // index into a function's blocks
constexpr Reg kNoReg = -1;  // `_`: an absent optional operand

enum class Opcode : uint8_t {
#define MSVM_INSTR(opcode, id, ...) id = opcode,
#include "msvm/bytecode/instructions.def"
#undef MSVM_INSTR
};

enum class CreateKind : uint8_t { kInput, kNarrow, kDestination };

/// imms and dims of each kind:
///   slice      imms = axis, step, axis, step, ...  dims = from, to, from, to, ...   0 <= from <= to <= size; step > 0;
///              the new size is ceildiv(to - from, step)
///   reshape    dims = the new shape (same number of elements; dense source)
///   transpose  imms = permutation
///   broadcast  dims = the new shape, aligned at the right
///   squeeze    imms = axes of size 1 that go;   unsqueeze  imms = axes of the result that come, ascending
///   window     imms = axis; dims = from, to: a destination within an unwritten tensor
///   identity   nothing
enum class ViewKind : uint8_t { kSlice, kReshape, kTranspose, kBroadcast, kSqueeze, kUnsqueeze, kWindow, kIdentity };

/// Integer operators. Comparisons give bool; and, or, not take bool registers (uses); select takes uses = cond and two dims.
enum class CalcOp : uint8_t {
  kAdd, kSub, kMul, kFloorDiv, kCeilDiv, kMod, kMin, kMax, kNeg, kTruncDiv,
  kEq, kNe, kLt, kLe, kGt, kGe, kAnd, kOr, kNot, kSelect,
};

/// f64 operators over uses; kFromInt takes a dim; kFromBool a bool register; kToInt (truncates) gives i64; comparisons bool.
enum class ScalarOp : uint8_t {
  kAdd, kSub, kMul, kDiv, kMin, kMax, kNeg, kFloor, kCeil, kRound, kSqrt, kFromInt, kFromBool, kToInt,
  kEq, kNe, kLt, kLe, kGt, kGe,
};

std::string_view create_kind_name(CreateKind k);
std::string_view view_kind_name(ViewKind k);
std::string_view calc_op_name(CalcOp op);      // "floordiv"
std::string_view scalar_op_name(ScalarOp op);
std::optional<ViewKind> view_kind_from_name(std::string_view s);
std::optional<CalcOp> calc_op_from_name(std::string_view s);
std::optional<ScalarOp> scalar_op_from_name(std::string_view s);
int calc_op_dims(CalcOp op);     // how many dims / uses the operator reads
int calc_op_uses(CalcOp op);
int scalar_op_dims(ScalarOp op);
int scalar_op_uses(ScalarOp op);
bool calc_op_is_bool(CalcOp op);  // result is a bool
bool scalar_op_is_bool(ScalarOp op);
bool calc_op_is_commutative(CalcOp op);

struct Instr {
  Opcode op{};
  uint8_t sub = 0;                      // CreateKind, ViewKind, CalcOp or ScalarOp
  std::vector<Reg> defs;                // in order of appearance
  std::vector<Reg> uses;
  std::vector<Dim> dims;
  std::vector<int64_t> imms;
  std::vector<Reg> outs;                // OP_CALL and TENSOR_COPY: destinations; those that are `new` stand in defs too
  std::vector<BlockId> targets;         // branches; of a PHI its predecessors, parallel to uses or dims
  std::string text;                     // operator ("Conv", "msvm.X"), message, or captured name
  Attributes attrs;
  std::vector<std::string> axis_names;  // of a spec; may be empty (unnamed)
  uint32_t debug = 0;                   // index into Function::debug; 0 = none
  uint32_t offset = 0;                  // byte offset within the module's code section, once assigned
};

inline CreateKind create_kind(const Instr& i) { return static_cast<CreateKind>(i.sub); }
inline ViewKind view_kind(const Instr& i) { return static_cast<ViewKind>(i.sub); }
inline CalcOp calc_op(const Instr& i) { return static_cast<CalcOp>(i.sub); }
inline ScalarOp scalar_op(const Instr& i) { return static_cast<ScalarOp>(i.sub); }

// --- the table ---------------------------------------------------------------------------------------------------------
constexpr int kMany = 1 << 20;
struct Range {
  int min, max;
  constexpr Range(int lo, int hi) : min(lo), max(hi) {}
};
enum class TextKind : uint8_t { kNone, kOperator, kMessage, kName };
enum class SubTable : uint8_t { kNoSubs, kCreateSubs, kViewSubs, kCalcSubs, kScalarSubs };
enum InstrFlags : uint32_t { kTerminator = 1, kEntryOnly = 2, kPhi = 4, kSideEffect = 8, kMayFail = 16 };

struct InstrInfo {
  Opcode op;
  std::string_view mnemonic;
  Range defs, uses, dims, imms, outs, targets;
  TextKind text;
  bool attrs, names;
  SubTable subs;
  uint32_t flags;
  std::string_view equation, doc;
  bool has(uint32_t flag) const { return flags & flag; }
};

const InstrInfo& instr_info(Opcode op);                       // op must be in the table
const InstrInfo* instr_info_from_byte(uint8_t opcode);        // null if unknown
const InstrInfo* instr_info_from_mnemonic(std::string_view m);
std::vector<const InstrInfo*> all_instructions();
int sub_count(SubTable t);                                    // valid values of `sub` are 0 .. count-1 (0 of kNoSubs: sub must be 0)
std::string_view sub_name(SubTable t, uint8_t sub);           // "slice"; "?" if there is none

}  // namespace msvm
