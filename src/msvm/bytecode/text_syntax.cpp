#include "msvm/bytecode/text.h"

namespace msvm {

std::string_view instr_syntax(Opcode op) {
  switch (op) {
    case Opcode::kTensorCreate:
      return "Rd = TENSOR_CREATE input k, [(axis, size), ...]  |  Rd = TENSOR_CREATE Rs, [(axis, size), ...]  |  "
             "Rd = TENSOR_CREATE [(axis, size), ...], dtype, device";
    case Opcode::kTensorConst:
      return "Rd = TENSOR_CONST %name";
    case Opcode::kTensorAlloc:
      return "Rd = TENSOR_ALLOC [(axis, size), ...], dtype, device [, reuse Rk]";
    case Opcode::kTensorFree:
      return "TENSOR_FREE Rs";
    case Opcode::kTensorResize:
      return "Rd: type = TENSOR_RESIZE Rs, axis, size";
    case Opcode::kTensorView:
      return "Rd: type = TENSOR_VIEW slice Rs, axis a from i to j [step n], ...  |  reshape Rs, [sizes]  |  transpose Rs, [axes]  "
             "|  "
             "broadcast Rs, [sizes]  |  squeeze Rs, [axes]  |  unsqueeze Rs, [axes]  |  window Rs, axis a from i to j  |  identity "
             "Rs";
    case Opcode::kTensorCopy:
      return "TENSOR_COPY Rs -> Rd";
    case Opcode::kTensorRead:
      return "Rd = TENSOR_READ Rs, [index, ...]";
    case Opcode::kTensorPhi:
      return "Rd: type = TENSOR_PHI [b0: Ra, b1: Rb, ...]";
    case Opcode::kScalarPhi:
      return "Rd: i64 = SCALAR_PHI [b0: size, b1: size, ...]  |  Rd: f64 = SCALAR_PHI [b0: Ra, b1: Rb, ...]";
    case Opcode::kScalarInput:
      return "Rd = SCALAR_INPUT k";
    case Opcode::kShapePropagate:
      return "Rd = SHAPE_PROPAGATE Rs, axis";
    case Opcode::kShapeCalc:
      return "Rd = SHAPE_CALC op a, b  |  Rd = SHAPE_CALC select Rc, a, b  |  Rd = SHAPE_CALC and Ra, Rb";
    case Opcode::kScalarConst:
      return "Rd = SCALAR_CONST 224 [captured \"name\"]  |  Rd = SCALAR_CONST 0.5  |  Rd = SCALAR_CONST true";
    case Opcode::kScalarCalc:
      return "Rd = SCALAR_CALC op Ra, Rb [round_f32]  |  Rd = SCALAR_CALC from_int size [round_f32]";
    case Opcode::kShapeAssert:
      return "SHAPE_ASSERT Rs, \"message\"";
    case Opcode::kOpCall:
      return "OP_CALL Op(Ra, _; size, ...) -> Rd, _, new Re: type {attribute: value, ...}";
    case Opcode::kListMake:
      return "Rd: list<dtype> = LIST_MAKE [Ra, Rb, ...]";
    case Opcode::kListAppend:
      return "Rd = LIST_APPEND Rlist, Rs";
    case Opcode::kListGet:
      return "Rd: type = LIST_GET Rlist, index";
    case Opcode::kListLength:
      return "Rd = LIST_LENGTH Rlist";
    case Opcode::kJump:
      return "JUMP b1";
    case Opcode::kBranchIf:
      return "BRANCH_IF Rs, b1, b2";
    case Opcode::kSwitch:
      return "SWITCH size, [0: b1, 1: b2, ...], b3";
    case Opcode::kReturn:
      return "RETURN Ra, Rb, ...  |  RETURN (Ra, ...; size, ...)";
    case Opcode::kTrap:
      return "TRAP \"message\"";
  }
  return "";
}

}  // namespace msvm
