// info --instructions: the tables of instructions and operators, for editors and other tools that show programs.
#include "tables.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "msvm/bytecode/instruction_docs.h"
#include "msvm/bytecode/text.h"
#include "msvm/ops/docs.h"
#include "msvm/shape/dtype.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view type_name(AttrType t) {
  switch (t) {
    case AttrType::kInt: return "int";
    case AttrType::kFloat: return "float";
    case AttrType::kString: return "string";
    case AttrType::kDType: return "dtype";
    case AttrType::kInts: return "ints";
    case AttrType::kFloats: return "floats";
    case AttrType::kStrings: return "strings";
    case AttrType::kNumber: return "number";
  }
  return "";
}

Json choices_json(std::string_view choices) {
  Json out = Json::array();
  for (size_t from = 0; from < choices.size();) {
    const size_t to = std::min(choices.find('|', from), choices.size());
    out.push_back(choices.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

Json instruction_json(const InstrInfo& i) {
  Json j = {{"mnemonic", i.mnemonic}, {"opcode", static_cast<int>(i.op)}, {"equation", i.equation}, {"doc", i.doc}, {"operands", operands_text(i)}};
  if (std::string flags = flags_text(i); !flags.empty()) j["flags"] = flags;
  j["result"] = i.defs.max > 0;
  j["syntax"] = instr_syntaxes(i.op);
  for (int s = 0; i.subs != SubTable::kNoSubs && s < sub_count(i.subs); ++s)
    j["kinds"].push_back({{"name", sub_name(i.subs, static_cast<uint8_t>(s))}, {"doc", sub_doc(i.subs, static_cast<uint8_t>(s))}});
  return j;
}

Json operator_json(const OpSchema& op) {
  Json j = {{"name", op.name}, {"signature", op_signature(op)}, {"doc", op.doc}, {"dtypes", op_dtypes(op)}};
  if (op.max_args > 0) j["sizes"] = op.args_doc;
  for (const AttrSpec& a : op.attrs) {
    Json attribute = {{"name", a.name}, {"type", type_name(a.type)}, {"doc", a.doc}};
    if (a.required) attribute["required"] = true;
    if (!a.fallback.empty()) attribute["default"] = a.fallback;
    if (!a.choices.empty()) attribute["choices"] = choices_json(a.choices);
    j["attributes"].push_back(std::move(attribute));
  }
  return j;
}

/// Lines of one entry each, so that a change shows as a line.
void append_list(std::string& out, std::string_view name, const Json& list) {
  out += fmt::format("{}\"{}\": [", out.size() > 1 ? ",\n" : "", name);
  bool first = true;
  for (const Json& item : list) {
    out += first ? "\n" : ",\n";
    out += item.dump();
    first = false;
  }
  out += "\n]";
}

}  // namespace

std::string tables_json() {
  Json instructions = Json::array(), operators = Json::array(), dtypes = Json::array();
  for (const InstrInfo* i : all_instructions()) instructions.push_back(instruction_json(*i));
  for (const OpSchema* op : all_ops()) operators.push_back(operator_json(*op));
  for (int t = 0; t < kNumDTypes; ++t) dtypes.push_back(dtype_name(static_cast<DType>(t)));
  std::string out = "{";
  append_list(out, "dtypes", dtypes);
  append_list(out, "instructions", instructions);
  append_list(out, "operators", operators);
  return out + "\n}\n";
}

std::string tables_text() {
  std::string out;
  for (const InstrInfo* i : all_instructions()) out += fmt::format("{:<16} {}\n{:<16} {}\n", i->mnemonic, i->equation, "", i->doc);
  out += "\n";
  for (const OpSchema* op : all_ops()) out += fmt::format("{}\n", op_signature(*op));
  return out;
}

}  // namespace msvm::cli
