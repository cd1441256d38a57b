#include "msvm/bytecode/instruction.h"

#include <array>
#include <iterator>
#include <unordered_map>

namespace msvm {
namespace {

constexpr InstrInfo kTable[] = {
#define MSVM_INSTR(opcode, id, mnemonic, defs, uses, dims, imms, outs, targets, text, attrs, names, subs, flags, equation, doc) \
  {Opcode::id, mnemonic, defs, uses, dims, imms, outs, targets, TextKind::text, attrs, names, SubTable::subs, flags, equation, doc},
#include "msvm/bytecode/instructions.def"
#undef MSVM_INSTR
};

constexpr std::array<const InstrInfo*, 256> make_by_byte() {
  std::array<const InstrInfo*, 256> out{};
  for (const InstrInfo& i : kTable) out[static_cast<size_t>(i.op)] = &i;
  return out;
}
constexpr auto kByByte = make_by_byte();

// Names in the order of their enums.
constexpr std::string_view kCreateNames[] = {"input", "narrow", "destination"};
constexpr std::string_view kViewNames[] = {"slice",   "reshape",   "transpose", "broadcast",
                                           "squeeze", "unsqueeze", "window",    "identity"};
constexpr std::string_view kCalcNames[] = {"add", "sub", "mul", "floordiv", "ceildiv", "mod", "min", "max", "neg", "truncdiv",
                                           "eq",  "ne",  "lt",  "le",       "gt",      "ge",  "and", "or",  "not", "select"};
constexpr std::string_view kScalarNames[] = {"add",   "sub",  "mul",   "div",  "min",      "max",       "neg",
                                             "floor", "ceil", "round", "sqrt", "from_int", "from_bool", "to_int",
                                             "eq",    "ne",   "lt",    "le",   "gt",       "ge"};
static_assert(std::size(kCreateNames) == static_cast<size_t>(CreateKind::kDestination) + 1);
static_assert(std::size(kViewNames) == static_cast<size_t>(ViewKind::kIdentity) + 1);
static_assert(std::size(kCalcNames) == static_cast<size_t>(CalcOp::kSelect) + 1);
static_assert(std::size(kScalarNames) == static_cast<size_t>(ScalarOp::kGe) + 1);

template <class E, size_t N>
std::optional<E> from_name(const std::string_view (&names)[N], std::string_view s) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == s) return static_cast<E>(i);
  return std::nullopt;
}

template <class E, size_t N>
std::string_view name_of(const std::string_view (&names)[N], E e) {
  auto i = static_cast<size_t>(e);
  return i < N ? names[i] : std::string_view("?");
}

}  // namespace

std::string_view create_kind_name(CreateKind k) { return name_of(kCreateNames, k); }
std::string_view view_kind_name(ViewKind k) { return name_of(kViewNames, k); }
std::string_view calc_op_name(CalcOp op) { return name_of(kCalcNames, op); }
std::string_view scalar_op_name(ScalarOp op) { return name_of(kScalarNames, op); }
std::optional<ViewKind> view_kind_from_name(std::string_view s) { return from_name<ViewKind>(kViewNames, s); }
std::optional<CalcOp> calc_op_from_name(std::string_view s) { return from_name<CalcOp>(kCalcNames, s); }
std::optional<ScalarOp> scalar_op_from_name(std::string_view s) { return from_name<ScalarOp>(kScalarNames, s); }

int calc_op_dims(CalcOp op) {
  if (op == CalcOp::kNeg) return 1;
  return op == CalcOp::kAnd || op == CalcOp::kOr || op == CalcOp::kNot ? 0 : 2;
}
int calc_op_uses(CalcOp op) {
  if (op == CalcOp::kAnd || op == CalcOp::kOr) return 2;
  return op == CalcOp::kNot || op == CalcOp::kSelect ? 1 : 0;
}
int scalar_op_dims(ScalarOp op) { return op == ScalarOp::kFromInt ? 1 : 0; }
int scalar_op_uses(ScalarOp op) {
  switch (op) {
    case ScalarOp::kFromInt:
      return 0;
    case ScalarOp::kNeg:
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kSqrt:
    case ScalarOp::kFromBool:
    case ScalarOp::kToInt:
      return 1;
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kDiv:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe:
    case ScalarOp::kGt:
    case ScalarOp::kGe:
      return 2;
  }
  return 0;
}
bool calc_op_is_bool(CalcOp op) { return op >= CalcOp::kEq && op <= CalcOp::kNot; }
bool scalar_op_is_bool(ScalarOp op) { return op >= ScalarOp::kEq; }
bool calc_op_is_commutative(CalcOp op) {
  switch (op) {
    case CalcOp::kAdd:
    case CalcOp::kMul:
    case CalcOp::kMin:
    case CalcOp::kMax:
    case CalcOp::kEq:
    case CalcOp::kNe:
    case CalcOp::kAnd:
    case CalcOp::kOr:
      return true;
    case CalcOp::kSub:
    case CalcOp::kFloorDiv:
    case CalcOp::kCeilDiv:
    case CalcOp::kMod:
    case CalcOp::kNeg:
    case CalcOp::kTruncDiv:
    case CalcOp::kLt:
    case CalcOp::kLe:
    case CalcOp::kGt:
    case CalcOp::kGe:
    case CalcOp::kNot:
    case CalcOp::kSelect:
      return false;
  }
  return false;
}

const InstrInfo& instr_info(Opcode op) { return *kByByte[static_cast<size_t>(op)]; }

const InstrInfo* instr_info_from_byte(uint8_t opcode) { return kByByte[opcode]; }

const InstrInfo* instr_info_from_mnemonic(std::string_view m) {
  static const auto* map = [] {
    auto* out = new std::unordered_map<std::string_view, const InstrInfo*>;
    for (const InstrInfo& i : kTable) out->emplace(i.mnemonic, &i);
    return out;
  }();
  auto it = map->find(m);
  return it == map->end() ? nullptr : it->second;
}

std::vector<const InstrInfo*> all_instructions() {
  std::vector<const InstrInfo*> out;
  for (const InstrInfo& i : kTable) out.push_back(&i);
  return out;
}

int sub_count(SubTable t) {
  switch (t) {
    case SubTable::kNoSubs:
      return 1;
    case SubTable::kCreateSubs:
      return std::size(kCreateNames);
    case SubTable::kViewSubs:
      return std::size(kViewNames);
    case SubTable::kCalcSubs:
      return std::size(kCalcNames);
    case SubTable::kScalarSubs:
      return std::size(kScalarNames);
  }
  return 0;
}

std::string_view sub_name(SubTable t, uint8_t sub) {
  switch (t) {
    case SubTable::kNoSubs:
      return "";
    case SubTable::kCreateSubs:
      return create_kind_name(static_cast<CreateKind>(sub));
    case SubTable::kViewSubs:
      return view_kind_name(static_cast<ViewKind>(sub));
    case SubTable::kCalcSubs:
      return calc_op_name(static_cast<CalcOp>(sub));
    case SubTable::kScalarSubs:
      return scalar_op_name(static_cast<ScalarOp>(sub));
  }
  return "";
}

}  // namespace msvm
