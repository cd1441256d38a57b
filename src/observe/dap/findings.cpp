#include "observe/dap/findings.h"

namespace msvm::observe::dap {

Json verification_failed(const std::string& name, const Diagnostics& findings) {
  Json rows = Json::array();
  for (const Diagnostic& d : findings) {
    Json row{{"code", diag_label(d.code)}, {"title", diag_title(d.code)}, {"message", d.message}, {"address", d.place.offset >= 0 ? Json(hex(static_cast<uint64_t>(d.place.offset))) : Json(nullptr)},
             {"line", d.place.line > 0 ? Json(d.place.line) : Json(nullptr)}, {"fix", d.fix}, {"text", format_diagnostic(d)}};
    for (const auto& [member, text] : {std::pair{"expected", d.expected}, {"found", d.found}, {"file", d.place.file}, {"function", d.place.function}, {"mnemonic", d.place.mnemonic}})
      if (!text.empty()) row[member] = text;
    if (d.place.instruction >= 0) row["instruction"] = d.place.instruction;
    rows.push_back(std::move(row));
  }
  return {{"name", name}, {"diagnostics", std::move(rows)}};
}

}  // namespace msvm::observe::dap
