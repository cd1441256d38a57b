// What text can't say, made by hand; and that every rule of rules.def is exercised here or by tests/verify.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "msvm/bytecode/file.h"
#include "msvm/verify/test_modules.h"

namespace msvm::verification {
namespace {

using ::testing::HasSubstr;

Module small() {
  AssembleResult a = assemble(R"(module "m" version 1
symbol N in [1, 64]
const %w f32[2] = [1, 2]
const %s string[2] = ["a", "b"]

func @f(x: f32[N], n: i64) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = SHAPE_CALC add R1, 1
  R3 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R3
  RETURN R3
)");
  EXPECT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  return std::move(a.module);
}

struct Broken {
  const char* name;
  Rule rule;
  const char* part;
  std::function<void(Module&)> breaks;
};

Instr& instr(Module& m, size_t i) { return m.functions[0].blocks[0].instrs[i]; }
RegType& reg_type(Module& m, size_t r) { return m.functions[0].regs[r].type; }

const std::vector<Broken>& broken() {
  static const std::vector<Broken> list = {
      {"ManyOperands", Rule::kModuleLimits, "too many i64 operands", [](Module& m) { instr(m, 3).dims.assign(70000, m.dims->constant(1)); }},
      {"ManyFunctions", Rule::kModuleLimits, "too many functions", [](Module& m) { m.functions.resize(5000); }},
      {"SymbolRange", Rule::kSymbolInfo, "impossible range", [](Module& m) { m.dims->mutable_symbol_info(*m.dims->find_symbol("N")).max = -5; }},
      {"SymbolRemainder", Rule::kSymbolInfo, "impossible range", [](Module& m) { m.dims->mutable_symbol_info(*m.dims->find_symbol("N")).remainder = 3; }},
      {"SymbolName", Rule::kSymbolInfo, "has no name", [](Module& m) { m.dims->add_symbol({}); }},
      {"SymbolTwice", Rule::kSymbolInfo, "declared twice", [](Module& m) { m.dims->add_symbol({.name = "N"}); }},
      {"RegisterSymbolOfTensor", Rule::kRegisterSymbol, "one i64 register", [](Module& m) { m.dims->add_symbol({.name = "R0", .min = INT64_MIN, .function = 0, .reg = 0}); }},
      {"RegisterSymbolTwice", Rule::kRegisterSymbol, "one i64 register", [](Module& m) { m.dims->add_symbol({.name = "R1", .min = INT64_MIN, .function = 0, .reg = 1}); }},
      {"RegisterSymbolOutside", Rule::kRegisterSymbol, "one i64 register", [](Module& m) { m.dims->add_symbol({.name = "R9", .min = INT64_MIN, .function = 0, .reg = 99}); }},
      {"ConstantOfSymbols", Rule::kConstantType, "constant sizes", [](Module& m) { m.constants[0].type.shape[0] = m.dims->symbol(*m.dims->find_symbol("N")); }},
      {"ConstantStrided", Rule::kConstantType, "dense", [](Module& m) { m.constants[0].type.strided = true; }},
      {"ConstantShort", Rule::kConstantBytes, "exactly the bytes", [](Module& m) { m.constants[0].bytes = 4; }},
      {"ConstantNull", Rule::kConstantBytes, "exactly the bytes", [](Module& m) { m.constants[0].data = nullptr; }},
      {"ConstantStrings", Rule::kConstantBytes, "one string per element", [](Module& m) { m.constants[1].strings.pop_back(); }},
      {"Opcode", Rule::kEnumRange, "unknown opcode", [](Module& m) { instr(m, 2).op = static_cast<Opcode>(0xee); }},
      {"SubOpcode", Rule::kEnumRange, "has no variant", [](Module& m) { instr(m, 2).sub = 99; }},
      {"DType", Rule::kEnumRange, "unknown dtype", [](Module& m) { reg_type(m, 3).tensor.dtype = static_cast<DType>(77); }},
      {"Kind", Rule::kEnumRange, "unknown kind", [](Module& m) { reg_type(m, 2).kind = static_cast<RegKind>(9); }},
      {"Device", Rule::kEnumRange, "unknown layout or device", [](Module& m) { reg_type(m, 3).tensor.device.kind = static_cast<DeviceKind>(9); }},
      {"StringsOnDevice", Rule::kEnumRange, "strings live on CPU(0)", [](Module& m) {
         reg_type(m, 3).tensor.dtype = DType::kString;
         reg_type(m, 3).tensor.device = {DeviceKind::kSim, 0};
       }},
      {"Rank", Rule::kRankLimit, "rank 9 isn't possible", [](Module& m) { reg_type(m, 3).tensor.shape.assign(9, m.dims->constant(1)); }},
      {"FilledAxis", Rule::kRankLimit, "filled axis", [](Module& m) { reg_type(m, 3).tensor.filled = FilledExtent{7, m.dims->constant(0), m.dims->constant(1)}; }},
      {"InvalidSize", Rule::kDimValid, "an invalid size", [](Module& m) { instr(m, 3).dims[0] = Dim(); }},
      {"InvalidTypeSize", Rule::kDimValid, "an invalid size", [](Module& m) { reg_type(m, 3).tensor.shape[0] = Dim(); }},
      {"RegisterInInput", Rule::kDimValid, "a register", [](Module& m) { m.functions[0].inputs[0].type.tensor.shape[0] = register_dim(m, 0, 1); }},
      {"RegisterOfOtherFunction", Rule::kDimValid, "register of another function", [](Module& m) {
         m.functions.push_back(m.functions[0]);
         m.functions[1].name = "g";
         instr(m, 2).dims[0] = register_dim(m, 1, 1);
       }},
      {"AxisNames", Rule::kOperandCounts, "axis names", [](Module& m) { instr(m, 3).axis_names = {"a", "b"}; }},
      {"AttributesElsewhere", Rule::kOperandCounts, "only calls have attributes", [](Module& m) { instr(m, 2).attrs.set("a", int64_t{1}); }},
      {"CallWithoutName", Rule::kOperandCounts, "names its operator", [](Module& m) { instr(m, 4).text.clear(); }},
      {"NewNotAnOutput", Rule::kOperandCounts, "`new` outputs", [](Module& m) { instr(m, 4).defs = {2}; }},
      {"Register", Rule::kOperandIndex, "there is no register 99", [](Module& m) { instr(m, 4).uses[0] = 99; }},
      {"NegativeRegister", Rule::kOperandIndex, "there is no register -7", [](Module& m) { instr(m, 4).uses[0] = -7; }},
      {"AbsentRegister", Rule::kOperandIndex, "`_` can't stand here", [](Module& m) { instr(m, 5).uses[0] = kNoReg; }},
      {"Block", Rule::kOperandIndex, "there is no block b5", [](Module& m) { instr(m, 5) = {.op = Opcode::kJump, .targets = {5}}; }},
      {"Debug", Rule::kOperandIndex, "debug entry", [](Module& m) { instr(m, 2).debug = 1000; }},
      {"NoBlocks", Rule::kNoBlocks, "entry block", [](Module& m) { m.functions[0].blocks.clear(); }},
      {"EmptyBlock", Rule::kTerminator, "no terminator", [](Module& m) { m.functions[0].blocks[0].instrs.clear(); }},
      {"FunctionName", Rule::kFunctionName, "has no name", [](Module& m) { m.functions[0].name.clear(); }},
      {"ManyReferences", Rule::kStateLimit, "too many references live across blocks", [](Module& m) {
         // n references that live through n blocks.
         constexpr int n = 5000;
         Function& f = m.functions[0];
         f.outputs.clear();
         auto& entry = f.blocks[0].instrs;
         entry.resize(1);
         f.blocks.resize(n + 1);
         for (int k = 0; k < n; ++k) {
           f.regs.push_back({reg_type(m, 0), {}});
           f.blocks[0].instrs.push_back({.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kIdentity), .defs = {4 + k}, .uses = {0}});
         }
         for (int b = 0; b < n; ++b) f.blocks[static_cast<size_t>(b)].instrs.push_back({.op = Opcode::kJump, .targets = {b + 1}});
         for (int k = 0; k < n; ++k) f.blocks[n].instrs.push_back({.op = Opcode::kTensorFree, .uses = {4 + k}});
         f.blocks[n].instrs.push_back({.op = Opcode::kReturn});
       }},
      {"SizeTooLarge", Rule::kSizeOverflow, "overflows or is too large", [](Module& m) {
         // A sum of more terms than an expression holds.
         Dim sum = m.dims->constant(0), rest = m.dims->constant(0);
         for (int k = 0; k < 60; ++k) {
           Dim s = m.dims->symbol(m.dims->add_symbol({.name = "s" + std::to_string(k)}));
           Dim t = m.dims->symbol(m.dims->add_symbol({.name = "t" + std::to_string(k)}));
           m.functions[0].inputs.push_back({"", {RegKind::kTensor, TensorType{.shape = {s, t}}}});
           sum = m.dims->add(sum, s);
           rest = m.dims->add(rest, t);
         }
         Function& f = m.functions[0];
         TensorType wide{.shape = {sum, rest}};
         f.regs.push_back({{RegKind::kTensor, wide}, {}});
         f.regs.push_back({{RegKind::kTensor, TensorType{.shape = {m.dims->constant(7)}}}, {}});
         auto& code = f.blocks[0].instrs;
         code.insert(code.end() - 1, {.op = Opcode::kTensorAlloc, .defs = {4}, .dims = wide.shape});
         code.insert(code.end() - 1, {.op = Opcode::kOpCall, .outs = {4}, .text = "msvm.Fill", .attrs = {{"value", 0.5}}});
         code[code.size() - 2].dims = wide.shape;
         code.insert(code.end() - 1, {.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kReshape), .defs = {5}, .uses = {4}, .dims = {m.dims->constant(7)}});
         code.insert(code.end() - 1, {.op = Opcode::kTensorFree, .uses = {5}});
         code.insert(code.end() - 1, {.op = Opcode::kTensorFree, .uses = {4}});
       }},
  };
  return list;
}

TEST(Rules, ModulesMadeByHand) {
  EXPECT_NE(verify(small(), nullptr).module, nullptr) << format_diagnostics(verify(small(), nullptr).errors);
  for (const Broken& b : broken()) {
    SCOPED_TRACE(b.name);
    Module m = small();
    b.breaks(m);
    std::vector<Rule> fired;
    VerifyResult r = verify(std::move(m), &fired);
    EXPECT_EQ(r.module, nullptr);
    EXPECT_THAT(fired, ::testing::Contains(b.rule)) << format_diagnostics(r.errors);
    EXPECT_THAT(format_diagnostics(r.errors), HasSubstr(b.part));
  }
}

TEST(Rules, EachIsExercised) {
  std::set<Rule> seen;
  for (const std::string& path : corpus_files()) {
    AssembleResult a = assemble(without_expectations(text_of(path)), path);
    std::vector<Rule> fired;
    verify(std::move(a.module), &fired);
    seen.insert(fired.begin(), fired.end());
  }
  for (const Broken& b : broken()) seen.insert(b.rule);
  for (int r = 0; r < rule_count(); ++r)
    EXPECT_TRUE(seen.contains(static_cast<Rule>(r))) << "no test for " << rule_name(static_cast<Rule>(r)) << ": " << rule_doc(static_cast<Rule>(r));
}

}  // namespace
}  // namespace msvm::verification
