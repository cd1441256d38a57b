#include "observe/snapshot/bytecode_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "observe/snapshot/state_json.h"

namespace msvm::observe {
namespace {

// Within a function instructions are the lines that are indented, but for declarations.
bool is_instruction(std::string_view line) { return line.starts_with("  ") && !line.starts_with("  register ") && !line.starts_with("  symbol "); }

std::vector<const Instr*> instructions(const Function& f) {
  std::vector<const Instr*> out;
  for (const Block& b : f.blocks)
    for (const Instr& i : b.instrs) out.push_back(&i);
  return out;
}

void annotate(BytecodeLine& line, const Function& f, const Instr& i, const JitView& jit) {
  if (i.debug < f.debug.size() && !f.debug[i.debug].file.empty()) line.place = fmt::format("{}:{}", f.debug[i.debug].file, f.debug[i.debug].line);
  for (const JitRegionView& r : jit.regions)
    if (r.function == line.function)
      for (const auto& [begin, end] : r.instructions)
        if (begin <= line.instruction && line.instruction < end) line.region = r.region;
}

}  // namespace

std::vector<BytecodeLine> bytecode_lines(const Executable& program) {
  const JitView jit = program.jit_view();
  std::vector<BytecodeLine> out;
  std::istringstream text(program.bytecode());
  std::vector<const Instr*> list;
  int32_t function = -1, next = 0;
  for (std::string line; std::getline(text, line);) {
    BytecodeLine& l = out.emplace_back(BytecodeLine{line, -1, -1, -1, {}});
    if (line.starts_with("func @")) {
      list = instructions(program.function(++function));
      next = 0;
    } else if (function >= 0 && is_instruction(line) && static_cast<size_t>(next) < list.size()) {
      l.function = function;
      l.instruction = next++;
      annotate(l, program.function(function), *list[static_cast<size_t>(l.instruction)], jit);
    }
  }
  return out;
}

std::string bytecode_json(const Executable& program) {
  using Json = nlohmann::json;
  Json lines = Json::array();
  for (const BytecodeLine& l : bytecode_lines(program)) {
    Json row{{"text", l.text}, {"instruction", nullptr}, {"place", l.place}, {"region", nullptr}};
    if (l.instruction >= 0) {
      row["function"] = l.function;
      row["instruction"] = l.instruction;
    }
    if (l.region >= 0) row["region"] = l.region;
    lines.push_back(std::move(row));
  }
  return dump({{"lines", lines}});
}

}  // namespace msvm::observe
