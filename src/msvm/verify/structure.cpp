// Group 1: everything that later passes rely on to walk a module without looking twice: enums, indices, counts, limits.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "msvm/base/checked.h"
#include "msvm/bytecode/file.h"
#include "msvm/verify/context.h"

namespace msvm::verification {
namespace {

// Tables by symbol and register exist per function; their product is bounded.
constexpr size_t kMaxTableEntries = size_t{1} << 26;

std::string count_text(Range r) {
  if (r.min == r.max) return std::to_string(r.min);
  return r.max >= kMany ? fmt::format("at least {}", r.min) : fmt::format("{} to {}", r.min, r.max);
}

// --- the module --------------------------------------------------------------------------------------------------------

class ModuleCheck {
 public:
  ModuleCheck(Module& m, ModuleTables& t, Report& r) : module_(m), tables_(t), report_(r) {}

  bool run() {
    const size_t before = report_.count();
    limits();
    if (report_.count() != before) return false;
    symbols();
    if (report_.count() != before) return false;
    function_names();
    operator_sets();
    for (size_t i = 0; i < module_.constants.size(); ++i) constant(i);
    return true;
  }

 private:
  void error(Rule rule, Text text, std::string what = {}) {
    DiagPlace p;
    p.mnemonic = std::move(what);
    report_.add(rule, std::move(p), std::move(text));
  }

  void limits() {
    auto limit = [&](size_t n, size_t max, std::string_view what) {
      if (n > max) error(Rule::kModuleLimits, {fmt::format("too many {}", what), fmt::format("at most {}", max), std::to_string(n)});
    };
    const size_t symbols = module_.dims->num_symbols();
    limit(module_.functions.size(), FileLimits::kFunctions, "functions");
    limit(symbols, FileLimits::kSymbols, "symbols");
    limit(module_.constants.size(), FileLimits::kConstants, "constants");
    limit(symbols * std::max<size_t>(1, module_.functions.size()), kMaxTableEntries, "functions times symbols");
    size_t instrs = 0, regs = 0, blocks = 0;
    for (const Function& f : module_.functions) {
      blocks += f.blocks.size();
      regs += f.regs.size();
      for (const Block& b : f.blocks) instrs += b.instrs.size();
    }
    limit(blocks, FileLimits::kBlocks, "blocks");
    limit(regs, FileLimits::kRegisters, "registers");
    limit(instrs, FileLimits::kInstructions, "instructions");
  }

  void symbols() {
    const DimContext& dims = *module_.dims;
    tables_.symbol_def.assign(dims.num_symbols(), kUnbound);
    tables_.register_symbols.resize(module_.functions.size());
    std::unordered_set<std::string_view> names;
    std::unordered_set<uint64_t> registers;
    for (SymbolId s = 0; s < dims.num_symbols(); ++s) {
      const SymbolInfo& i = dims.symbol_info(s);
      if (i.min > i.max || i.divisor < 1 || i.remainder < 0 || i.remainder >= i.divisor)
        error(Rule::kSymbolInfo, {fmt::format("symbol {} has an impossible range", i.name), "min <= max, divisor >= 1, 0 <= remainder < divisor",
                                  fmt::format("in [{}, {}], {} modulo {}", i.min, i.max, i.remainder, i.divisor)}, "symbol " + i.name);
      if (!i.is_register()) {
        if (i.name.empty() || !names.insert(i.name).second)
          error(Rule::kSymbolInfo, {i.name.empty() ? std::string("a symbol has no name") : fmt::format("symbol {} is declared twice", i.name)}, "symbol " + i.name);
        continue;
      }
      const bool known = static_cast<size_t>(i.function) < module_.functions.size() && i.reg >= 0 &&
                         static_cast<size_t>(i.reg) < module_.functions[i.function].regs.size() &&
                         module_.functions[i.function].regs[i.reg].type.kind == RegKind::kI64;
      if (!known || !registers.insert(static_cast<uint64_t>(i.function) << 32 | static_cast<uint32_t>(i.reg)).second || i.min != INT64_MIN ||
          i.max != INT64_MAX || i.divisor != 1) {
        error(Rule::kRegisterSymbol, {"a register symbol must belong to one i64 register, and nothing may be declared of it", {},
                                      fmt::format("function {}, R{}", i.function, i.reg)}, "symbol " + i.name);
        continue;
      }
      tables_.register_symbols[i.function].push_back({i.reg, s});
    }
  }

  void function_names() {
    std::unordered_set<std::string_view> names;
    for (const Function& f : module_.functions)
      if (f.name.empty() || f.name.size() > FileLimits::kNameBytes || !names.insert(f.name).second) {
        DiagPlace p;
        p.function = "@" + f.name.substr(0, 100);
        report_.add(Rule::kFunctionName, p, {f.name.empty() ? "a function has no name" : "two functions have this name, or it is too long"});
      }
  }

  void operator_sets() {
    for (const OpsetVersion& o : module_.opsets) {
      const int64_t newest = o.domain.empty() ? kOnnxOpset : o.domain == "msvm" ? kMsvmOpset : 0;
      if (o.version < 1 || o.version > newest)
        error(Rule::kOperatorSet, {"unknown operator set", newest ? fmt::format("version 1 to {}", newest) : "the ONNX or the msvm domain",
                                   fmt::format("domain \"{}\" version {}", o.domain, o.version)});
    }
  }

  void constant(size_t index) {
    const Constant& c = module_.constants[index];
    const std::string what = fmt::format("constant {} %{}", index, c.name.substr(0, 100));
    const TensorType& t = c.type;
    std::vector<int64_t> sizes;
    bool plain = static_cast<int>(t.dtype) < kNumDTypes && !t.unknown_rank && !t.strided && !t.filled && t.layout == Layout::kRowMajor &&
                 t.device == Device{} && t.rank() <= kMaxRank;
    if (plain)
      for (Dim d : t.shape) {
        plain &= d.is_const() && d.value() >= 0;
        sizes.push_back(d.is_const() ? d.value() : 0);
      }
    if (!plain) {
      error(Rule::kConstantType, {"a constant must be a dense row-major tensor of constant sizes on CPU(0)"}, what);
      return;
    }
    const auto elements = checked_product(sizes);
    if (t.dtype == DType::kString) {
      if (!elements || static_cast<uint64_t>(*elements) != c.strings.size() || c.bytes != 0 || c.data)
        error(Rule::kConstantBytes, {"a string constant must have one string per element", to_string(t, *module_.dims), fmt::format("{} strings", c.strings.size())}, what);
      return;
    }
    const auto bytes = elements ? checked_mul(*elements, dtype_bytes(t.dtype)) : std::nullopt;
    const bool aligned = reinterpret_cast<uintptr_t>(c.data) % static_cast<uintptr_t>(dtype_bytes(t.dtype)) == 0;
    if (!bytes || static_cast<uint64_t>(*bytes) != c.bytes || !c.strings.empty() || (c.bytes && !c.data) || !aligned)
      error(Rule::kConstantBytes, {"a constant must have exactly the bytes of its type, aligned", bytes ? fmt::format("{} bytes of {}", *bytes, to_string(t, *module_.dims)) : "a size within 64 bits",
                                   fmt::format("{} bytes", c.bytes)}, what);
  }

  Module& module_;
  ModuleTables& tables_;
  Report& report_;
};

// --- a function --------------------------------------------------------------------------------------------------------

class StructureCheck {
 public:
  explicit StructureCheck(Context& c) : c_(c), f_(c.f) {}

  bool run() {
    const size_t before = c_.report.count();
    for (size_t r = 0; r < f_.regs.size(); ++r) type(f_.regs[r].type, "R" + std::to_string(r), true);
    for (const Param& p : f_.inputs) param(p, "input", false);
    for (const Param& p : f_.outputs) param(p, "output", true);
    if (f_.blocks.empty() || f_.blocks.size() > FileLimits::kBlocks) {
      c_.function_error(Rule::kNoBlocks, {"a function needs an entry block"});
      return false;
    }
    input_reader_.assign(f_.inputs.size(), -1);
    for (size_t b = 0; b < f_.blocks.size() && !c_.report.full(); ++b) block(static_cast<BlockId>(b));
    return c_.report.count() == before;
  }

 private:
  void error(Rule rule, int32_t i, Text text) { c_.error(rule, i, std::move(text)); }

  // Invalid, or of symbols that aren't there; the name of the trouble, else nullptr.
  const char* dim_fault(Dim d, bool registers) {
    if (!d.valid()) return "an invalid size";
    const DimNode* n = d.node();
    if (!n || n->symbol_mask == 0) return nullptr;
    auto& seen = c_.tables.dim_seen;
    if (n->id >= seen.size()) seen.resize(n->id + 1 + seen.size() / 2, 0);
    if (registers && seen[n->id] == c_.index + 1) return nullptr;
    const char* fault = nullptr;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      if (s >= c_.dims.num_symbols()) fault = "an unknown symbol";
      else if (const SymbolInfo& i = c_.dims.symbol_info(s); i.is_register() && !registers) fault = "a register";
      else if (i.is_register() && i.function != c_.index) fault = "a register of another function";
    });
    if (registers && !fault) seen[n->id] = c_.index + 1;
    return fault;
  }

  void type_error(Rule rule, const std::string& what, std::string message) {
    DiagPlace p;
    p.function = "@" + f_.name;
    p.mnemonic = what;
    c_.report.add(rule, std::move(p), {what + ": " + std::move(message)});
  }

  void type(const RegType& t, const std::string& what, bool registers) {
    if (t.kind > RegKind::kBool) return type_error(Rule::kEnumRange, what, "unknown kind");
    if (t.kind != RegKind::kTensor && t.kind != RegKind::kList) return;
    const TensorType& x = t.tensor;
    if (static_cast<int>(x.dtype) >= kNumDTypes) return type_error(Rule::kEnumRange, what, "unknown dtype");
    if (t.kind == RegKind::kList) return;
    if (x.layout > Layout::kNhwc || x.device.kind > DeviceKind::kSim) return type_error(Rule::kEnumRange, what, "unknown layout or device");
    if (x.dtype == DType::kString && !(x.device == Device{})) return type_error(Rule::kEnumRange, what, "strings live on CPU(0) only");
    if (x.rank() > kMaxRank || (x.layout == Layout::kNhwc && (x.rank() < 3 || x.unknown_rank)) || (x.unknown_rank && x.rank() != 0))
      return type_error(Rule::kRankLimit, what, fmt::format("rank {} isn't possible here", x.rank()));
    for (Dim d : x.shape)
      if (const char* fault = dim_fault(d, registers)) return type_error(Rule::kDimValid, what, fmt::format("its type has {}", fault));
    if (x.filled) {
      if (x.filled->axis < 0 || x.filled->axis >= x.rank()) return type_error(Rule::kRankLimit, what, "the filled axis isn't one of the tensor");
      for (Dim d : {x.filled->from, x.filled->to})
        if (const char* fault = dim_fault(d, registers)) return type_error(Rule::kDimValid, what, fmt::format("its filled extent has {}", fault));
    }
  }

  void param(const Param& p, const char* what, bool output) {
    const std::string name = fmt::format("{} \"{}\"", what, p.name.substr(0, 100));
    type(p.type, name, output);
    if (p.type.kind == RegKind::kList) type_error(Rule::kInputKind, name, "lists can't cross the border of a function");
    if (p.type.kind == RegKind::kTensor && !output && p.type.tensor.unknown_rank) type_error(Rule::kInputKind, name, "an input has a known rank");
  }

  void block(BlockId b) {
    const auto& instrs = f_.blocks[b].instrs;
    const int32_t begin = c_.begin(b);
    if (instrs.empty() || !is_terminator(instrs.back())) {
      Text t{fmt::format("block b{} has no terminator at its end", b), {}, {}, "end it with JUMP, BRANCH_IF, SWITCH, RETURN or TRAP"};
      if (instrs.empty()) c_.function_error(Rule::kTerminator, std::move(t));
      else error(Rule::kTerminator, begin + static_cast<int32_t>(instrs.size()) - 1, std::move(t));
    }
    bool phis = true;
    for (size_t k = 0; k < instrs.size(); ++k) {
      const int32_t i = begin + static_cast<int32_t>(k);
      const Instr& instr = instrs[k];
      const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(instr.op));
      if (!info || instr.sub >= sub_count(info->subs)) {
        error(Rule::kEnumRange, i, {info ? fmt::format("{} has no variant {}", info->mnemonic, instr.sub) : std::string("unknown opcode")});
        phis = false;
        continue;
      }
      if (info->has(kTerminator) && k + 1 != instrs.size()) error(Rule::kTerminator, i, {"instructions follow the terminator of the block"});
      if (info->has(kPhi) && !phis) error(Rule::kPhiFirst, i, {"a PHI stands after other instructions of its block", {}, {}, fmt::format("move it to the start of b{}", b)});
      phis &= info->has(kPhi);
      const bool entry_only = info->has(kEntryOnly) || (instr.op == Opcode::kTensorCreate && create_kind(instr) == CreateKind::kInput);
      if (entry_only && b != 0) error(Rule::kEntryOnly, i, {"inputs are read in the entry block", "b0", fmt::format("b{}", b)});
      operands(i, instr, *info);
    }
  }

  static bool is_terminator(const Instr& i) {
    const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(i.op));
    return info && info->has(kTerminator);
  }

  void operands(int32_t i, const Instr& x, const InstrInfo& info) {
    bool counts = true;
    auto count = [&](size_t n, Range r, const char* what) {
      if (n > FileLimits::kOperands) {
        error(Rule::kModuleLimits, i, {fmt::format("too many {}", what), fmt::format("at most {}", FileLimits::kOperands), std::to_string(n)});
        counts = false;
      } else if (n < static_cast<size_t>(r.min) || n > static_cast<size_t>(r.max)) {
        error(Rule::kOperandCounts, i, {fmt::format("wrong number of {}", what), count_text(r), std::to_string(n)});
        counts = false;
      }
    };
    count(x.defs.size(), info.defs, "results");
    count(x.uses.size(), info.uses, "registers read");
    count(x.dims.size(), info.dims, "i64 operands");
    count(x.imms.size(), info.imms, "immediates");
    count(x.outs.size(), info.outs, "destinations");
    count(x.targets.size(), info.targets, "blocks");
    if (!info.attrs && x.attrs.size() != 0) error(Rule::kOperandCounts, i, {"only calls have attributes"});
    if (!x.axis_names.empty() && (!info.names || x.axis_names.size() != x.dims.size()))
      error(Rule::kOperandCounts, i, {"axis names must be as many as the sizes of a spec", std::to_string(x.dims.size()), std::to_string(x.axis_names.size())});
    if (x.text.size() > FileLimits::kNameBytes) error(Rule::kModuleLimits, i, {"the text is too long"});
    if (info.text == TextKind::kNone ? !x.text.empty() : info.text == TextKind::kOperator && x.text.empty())
      error(Rule::kOperandCounts, i, {info.text == TextKind::kNone ? "this instruction has no text" : "a call names its operator"});

    const auto regs = static_cast<Reg>(f_.regs.size());
    auto registers = [&](const std::vector<Reg>& list, bool may_be_absent) {
      for (Reg r : list)
        if (r < 0 ? !(r == kNoReg && may_be_absent) : r >= regs) {
          error(Rule::kOperandIndex, i, {r == kNoReg ? "`_` can't stand here" : fmt::format("there is no register {}", r), fmt::format("R0 to R{}", regs - 1), reg_text(r)});
          counts = false;
        }
    };
    registers(x.defs, false);
    registers(x.uses, x.op == Opcode::kOpCall);
    registers(x.outs, x.op == Opcode::kOpCall);
    for (BlockId t : x.targets)
      if (t < 0 || static_cast<size_t>(t) >= f_.blocks.size()) error(Rule::kOperandIndex, i, {fmt::format("there is no block b{}", t), fmt::format("b0 to b{}", f_.blocks.size() - 1)});
    if (info.has(kTerminator) && std::find(x.targets.begin(), x.targets.end(), 0) != x.targets.end())
      error(Rule::kEntryPredecessor, i, {"the entry block can't be jumped to", {}, {}, "put a block after the entry and jump there"});
    for (Dim d : x.dims)
      if (const char* fault = dim_fault(d, true)) error(Rule::kDimValid, i, {fmt::format("an operand is {}", fault)});
    if (x.debug >= f_.debug.size() && x.debug != 0) error(Rule::kOperandIndex, i, {"the debug entry doesn't exist", fmt::format("0 to {}", f_.debug.size()), std::to_string(x.debug)});
    if (counts) variant(i, x);
  }

  void need(int32_t i, bool ok, const char* message) {
    if (!ok) error(Rule::kOperandCounts, i, {message});
  }
  void immediate(int32_t i, bool ok, const char* message) {
    if (!ok) error(Rule::kImmediate, i, {message});
  }

  static bool distinct_axes(const std::vector<int64_t>& axes, size_t stride, bool ascending) {
    unsigned seen = 0;
    int64_t last = -1;
    for (size_t k = 0; k < axes.size(); k += stride) {
      if (axes[k] < 0 || axes[k] >= kMaxRank || (seen >> axes[k] & 1) || (ascending && axes[k] < last)) return false;
      seen |= 1u << axes[k];
      last = axes[k];
    }
    return true;
  }

  // What the table can't say because it depends on the variant.
  void variant(int32_t i, const Instr& x) {
    switch (x.op) {
      case Opcode::kTensorCreate: return create(i, x);
      case Opcode::kTensorConst:
        if (x.imms[0] < 0 || static_cast<uint64_t>(x.imms[0]) >= c_.module.constants.size())
          error(Rule::kOperandIndex, i, {"there is no such constant", fmt::format("below {}", c_.module.constants.size()), std::to_string(x.imms[0])});
        return;
      case Opcode::kTensorResize: return immediate(i, x.imms[0] >= 0 && x.imms[0] < kMaxRank, "the axis is out of range");
      case Opcode::kTensorView: return view(i, x);
      case Opcode::kTensorPhi:
        return need(i, x.dims.empty() && x.uses.size() == x.targets.size(), "a tensor PHI has one register for each block");
      case Opcode::kScalarPhi:
        return need(i, (x.dims.empty() || x.uses.empty()) && x.uses.size() + x.dims.size() == x.targets.size(), "a scalar PHI has one value for each block");
      case Opcode::kScalarInput: return input(i, x, false);
      case Opcode::kShapePropagate: return immediate(i, x.imms[0] >= 0 && x.imms[0] < kMaxRank, "the axis is out of range");
      case Opcode::kShapeCalc:
        return need(i, static_cast<int>(x.dims.size()) == calc_op_dims(calc_op(x)) && static_cast<int>(x.uses.size()) == calc_op_uses(calc_op(x)),
                    "the operator takes other operands");
      case Opcode::kScalarConst:
        return immediate(i, f_.regs[x.defs[0]].type.kind != RegKind::kBool || x.imms[0] == 0 || x.imms[0] == 1, "a bool is 0 or 1");
      case Opcode::kScalarCalc:
        need(i, static_cast<int>(x.uses.size()) == scalar_op_uses(scalar_op(x)) && x.dims.size() == (scalar_op(x) == ScalarOp::kFromInt ? 1u : 0u),
             "the operator takes other operands");
        return immediate(i, x.imms[0] == 0 || x.imms[0] == 1, "the rounding flag is 0 or 1");
      case Opcode::kOpCall: return call(i, x);
      case Opcode::kSwitch: {
        need(i, x.targets.size() == x.imms.size() + 1, "a SWITCH has one block for each case and a default");
        std::vector<int64_t> cases = x.imms;
        std::sort(cases.begin(), cases.end());
        return immediate(i, std::adjacent_find(cases.begin(), cases.end()) == cases.end(), "a case appears twice");
      }
      case Opcode::kTensorAlloc:
      case Opcode::kTensorFree:
      case Opcode::kTensorCopy:
      case Opcode::kTensorRead:
      case Opcode::kShapeAssert:
      case Opcode::kListMake:
      case Opcode::kListAppend:
      case Opcode::kListGet:
      case Opcode::kListLength:
      case Opcode::kJump:
      case Opcode::kBranchIf:
      case Opcode::kReturn:
      case Opcode::kTrap: return;
    }
  }

  void create(int32_t i, const Instr& x) {
    switch (create_kind(x)) {
      case CreateKind::kInput:
        need(i, x.uses.empty() && x.imms.size() == 1, "reading an input takes its number and no register");
        if (x.imms.size() == 1) input(i, x, true);
        return;
      case CreateKind::kNarrow: return need(i, x.uses.size() == 1 && x.imms.empty(), "narrowing takes one register");
      case CreateKind::kDestination: return need(i, x.uses.empty() && x.imms.empty(), "a destination takes sizes only");
    }
  }

  void input(int32_t i, const Instr& x, bool tensor) {
    const int64_t k = x.imms[0];
    if (k < 0 || static_cast<uint64_t>(k) >= f_.inputs.size()) {
      error(Rule::kOperandIndex, i, {"there is no such input", fmt::format("below {}", f_.inputs.size()), std::to_string(k)});
      return;
    }
    const RegKind kind = f_.inputs[k].type.kind;
    if (tensor != (kind == RegKind::kTensor))
      error(Rule::kInputKind, i, {fmt::format("input {} is a {}", k, kind_name(kind)), {}, {}, tensor ? "read it with SCALAR_INPUT" : "read it with TENSOR_CREATE input"});
    if (input_reader_[k] >= 0) error(Rule::kInputTwice, i, {fmt::format("input {} was read already", k), {}, c_.where(input_reader_[k])});
    input_reader_[k] = i;
  }

  void view(int32_t i, const Instr& x) {
    const size_t dims = x.dims.size(), imms = x.imms.size();
    const char* wrong_axes = "axes must be distinct and below 8";
    switch (view_kind(x)) {
      case ViewKind::kSlice: {
        need(i, imms % 2 == 0 && dims == imms, "a slice has axis, step, from and to for each axis");
        immediate(i, distinct_axes(x.imms, 2, false), wrong_axes);
        for (size_t k = 1; k < imms; k += 2) immediate(i, x.imms[k] > 0, "steps of a slice are positive; other steps are the operator Slice");
        return;
      }
      case ViewKind::kReshape:
      case ViewKind::kBroadcast: return need(i, imms == 0 && dims <= kMaxRank, "the view takes the new shape, of at most 8 axes");
      case ViewKind::kTranspose: {
        need(i, dims == 0, "a transpose takes a permutation");
        bool permutation = imms <= kMaxRank && distinct_axes(x.imms, 1, false);
        for (int64_t a : x.imms) permutation &= a < static_cast<int64_t>(imms);
        return immediate(i, permutation, "a permutation has each axis once");
      }
      case ViewKind::kSqueeze:
      case ViewKind::kUnsqueeze:
        need(i, dims == 0, "the view takes axes");
        return immediate(i, distinct_axes(x.imms, 1, view_kind(x) == ViewKind::kUnsqueeze), wrong_axes);
      case ViewKind::kWindow:
        need(i, dims == 2 && imms == 1, "a window takes an axis, from and to");
        return immediate(i, distinct_axes(x.imms, 1, false), wrong_axes);
      case ViewKind::kIdentity: return need(i, dims == 0 && imms == 0, "identity takes a register only");
    }
  }

  void call(int32_t i, const Instr& x) {
    // Masks over the outputs of a call have 64 bits.
    need(i, x.outs.size() <= 64, "a call has at most 64 outputs");
    if (x.defs.empty()) return;
    auto sorted = [](std::vector<Reg> v) {
      std::erase(v, kNoReg);
      std::sort(v.begin(), v.end());
      return v;
    };
    const std::vector<Reg> outs = sorted(x.outs), defs = sorted(x.defs);
    need(i, std::includes(outs.begin(), outs.end(), defs.begin(), defs.end()) && std::adjacent_find(defs.begin(), defs.end()) == defs.end(),
         "results of a call are its `new` outputs");
  }

  Context& c_;
  const Function& f_;
  std::vector<int32_t> input_reader_;
};

}  // namespace

bool check_module(Module& module, ModuleTables& tables, Report& report) { return ModuleCheck(module, tables, report).run(); }

bool check_structure(Context& c) { return StructureCheck(c).run(); }

bool check_control_flow(Context& c) {
  c.cfg.emplace(c.f);
  bool ok = true;
  for (size_t b = 0; b < c.f.blocks.size(); ++b)
    if (!c.cfg->reachable(static_cast<BlockId>(b))) {
      c.error(Rule::kUnreachable, c.begin(static_cast<BlockId>(b)), {fmt::format("block b{} can't be reached from the entry", b), {}, {}, fmt::format("remove b{}", b)});
      ok = false;
    }
  if (!c.cfg->reducible()) {
    c.function_error(Rule::kIrreducible, {"a loop has several entries", "one block that dominates the loop", {}, "give the loop one header block that all ways into it pass"});
    ok = false;
  }
  return ok;
}

}  // namespace msvm::verification
