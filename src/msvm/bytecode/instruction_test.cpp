#include "msvm/bytecode/instruction.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "msvm/bytecode/instruction_docs.h"
#include "msvm/bytecode/module.h"
#include "msvm/bytecode/test_files.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

TEST(InstructionTable, RowsAreCompleteAndFound) {
  std::set<std::string_view> mnemonics;
  for (const InstrInfo* i : all_instructions()) {
    EXPECT_EQ(instr_info_from_byte(static_cast<uint8_t>(i->op)), i);
    EXPECT_EQ(instr_info_from_mnemonic(i->mnemonic), i);
    EXPECT_TRUE(mnemonics.insert(i->mnemonic).second);
    EXPECT_FALSE(i->equation.empty());
    EXPECT_TRUE(i->doc.ends_with(".") || i->doc.ends_with("`.")) << i->mnemonic;
    EXPECT_FALSE(instr_syntax(i->op).empty());
    EXPECT_NE(static_cast<uint8_t>(i->op), 0);
    for (const Range& r : {i->defs, i->uses, i->dims, i->imms, i->outs, i->targets})
      EXPECT_TRUE(0 <= r.min && r.min <= r.max && r.max <= kMany);
  }
  EXPECT_EQ(instr_info_from_byte(0), nullptr);
  EXPECT_EQ(instr_info_from_byte(0xff), nullptr);
  EXPECT_EQ(instr_info_from_mnemonic("TENSOR"), nullptr);
}

TEST(InstructionTable, SecondOpcodes) {
  for (int s = 0; s < sub_count(SubTable::kViewSubs); ++s)
    EXPECT_EQ(view_kind_from_name(view_kind_name(static_cast<ViewKind>(s))), static_cast<ViewKind>(s));
  for (int s = 0; s < sub_count(SubTable::kCalcSubs); ++s) {
    auto op = static_cast<CalcOp>(s);
    EXPECT_EQ(calc_op_from_name(calc_op_name(op)), op);
    EXPECT_GE(calc_op_dims(op) + calc_op_uses(op), 1);
  }
  for (int s = 0; s < sub_count(SubTable::kScalarSubs); ++s) {
    auto op = static_cast<ScalarOp>(s);
    EXPECT_EQ(scalar_op_from_name(scalar_op_name(op)), op);
    EXPECT_GE(scalar_op_dims(op) + scalar_op_uses(op), 1);
  }
  EXPECT_TRUE(calc_op_is_bool(CalcOp::kEq) && calc_op_is_bool(CalcOp::kNot) && !calc_op_is_bool(CalcOp::kSelect) &&
              !calc_op_is_bool(CalcOp::kTruncDiv));
  EXPECT_TRUE(scalar_op_is_bool(ScalarOp::kGe) && !scalar_op_is_bool(ScalarOp::kToInt));
  EXPECT_EQ(sub_name(SubTable::kCreateSubs, 9), "?");
}

TEST(InstructionDocs, CommittedPageIsCurrent) {
  const std::string path = std::string(MSVM_SOURCE_DIR) + "/docs/instructions.md";
  if (std::getenv("MSVM_UPDATE_GOLDEN")) { ASSERT_TRUE(write_file_atomically(path, std::string_view(instruction_docs())).ok()); }
  EXPECT_EQ(text_of(path), instruction_docs()) << "tools/gen_instruction_docs writes it anew";
}

TEST(Module, RegisterSymbols) {
  Module m;
  Dim a = register_dim(m, 0, 7);
  EXPECT_EQ(register_dim(m, 0, 7), a);
  EXPECT_FALSE(register_dim(m, 1, 7) == a);
  EXPECT_EQ(m.dims->to_string(a), "R7");
  EXPECT_EQ(m.dims->symbol_info(a.symbol()).min, INT64_MIN);
  // A copy shares the context: what one of them adds the other finds.
  Module copy = m;
  Dim b = register_dim(copy, 0, 8);
  EXPECT_EQ(register_dim(m, 0, 8), b);
  // A module with a context of its own starts afresh.
  m.dims = std::make_shared<DimContext>();
  EXPECT_EQ(register_dim(m, 0, 7).symbol(), 0u);
  m.functions.push_back({.name = "f"});
  EXPECT_EQ(m.find_function("f"), &m.functions[0]);
  EXPECT_EQ(m.find_function("g"), nullptr);
}

}  // namespace
}  // namespace msvm
