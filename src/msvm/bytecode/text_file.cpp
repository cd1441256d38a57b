#include "msvm/bytecode/text_file.h"

#include "msvm/base/file.h"
#include "msvm/bytecode/text.h"

namespace msvm {

Result<Module> assemble_module(std::string_view text, const std::string& name, TextLines lines) {
  const auto slash = name.rfind('/');
  AssembleResult r = assemble(text, name, slash == std::string::npos ? "." : name.substr(0, slash + 1));
  if (!r.errors.empty()) return malformed(format_diagnostics(r.errors));
  if (lines == TextLines::kNone) return std::move(r.module);
  for (size_t f = 0; f < r.module.functions.size() && f < r.instruction_lines.size(); ++f) {
    Function& function = r.module.functions[f];
    size_t k = 0;
    for (Block& b : function.blocks)
      for (Instr& i : b.instrs) {
        if (k >= r.instruction_lines[f].size()) break;
        const int32_t line = r.instruction_lines[f][k++];
        if (i.debug || line <= 0) continue;
        i.debug = static_cast<uint32_t>(function.debug.size());
        function.debug.push_back({.file = name, .line = line, .column = 0, .origins = {}});
      }
  }
  return std::move(r.module);
}

Result<Module> read_text_module(const std::string& path, TextLines lines) {
  MSVM_ASSIGN_OR_RETURN(std::string text, read_text_file(path));
  return assemble_module(text, path, lines);
}

}  // namespace msvm
