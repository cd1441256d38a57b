#include "msvm/bytecode/text_file.h"

#include "msvm/base/file.h"
#include "msvm/bytecode/text.h"

namespace msvm {

void lines_as_debug_info(Module& module, const std::vector<std::vector<int32_t>>& lines, const std::string& file) {
  for (size_t f = 0; f < module.functions.size() && f < lines.size(); ++f) {
    Function& function = module.functions[f];
    size_t k = 0;
    for (Block& b : function.blocks)
      for (Instr& i : b.instrs) {
        if (k >= lines[f].size()) break;
        const int32_t line = lines[f][k++];
        if (i.debug || line <= 0) continue;
        i.debug = static_cast<uint32_t>(function.debug.size());
        function.debug.push_back({.file = file, .line = line, .column = 0, .origins = {}});
      }
  }
}

Result<Module> assemble_module(std::string_view text, const std::string& name, TextLines lines) {
  const auto slash = name.rfind('/');
  AssembleResult r = assemble(text, name, slash == std::string::npos ? "." : name.substr(0, slash + 1));
  if (!r.errors.empty()) return malformed(format_diagnostics(r.errors));
  if (lines == TextLines::kAsDebugInfo) lines_as_debug_info(r.module, r.instruction_lines, name);
  return std::move(r.module);
}

Result<Module> read_text_module(const std::string& path, TextLines lines) {
  MSVM_ASSIGN_OR_RETURN(std::string text, read_text_file(path));
  return assemble_module(text, path, lines);
}

}  // namespace msvm
