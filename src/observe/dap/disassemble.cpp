// Bytecode as a disassembly: exactly as many rows as are asked for, whatever lies there.
#include <fmt/format.h>

#include "observe/dap/requests.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kMostRows = 100'000;

/// What lies outside of the code.
Json outside(uint64_t address) { return {{"address", hex(address)}, {"instruction", "(no code here)"}, {"presentationHint", "invalid"}}; }

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

/// `file`: of the row before; a source is named where it changes.
Json inside(State& s, const Document& d, size_t index, std::string& file) {
  const auto& [address, line] = d.instructions[index];
  const debug::ListingLine& l = d.listing.lines[static_cast<size_t>(line)];
  Json row{{"address", hex(address)}, {"instruction", without_indent(l.text)}, {"presentationHint", "normal"}};
  if (l.instruction == 0) row["symbol"] = fmt::format("@{}", s.debugger.executable(d.listing.program) ? s.debugger.executable(d.listing.program)->function(l.function).name : "");
  if (!l.file.empty() && l.line > 0) {
    if (l.file != file) row["location"] = file_source(file = l.file);
    row["line"] = s.line_out(l.line);
  }
  return row;
}

}  // namespace

Result<Json> disassemble(State& s, const Arguments& a) {
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  MSVM_ASSIGN_OR_RETURN(const uint64_t reference, a.address("memoryReference"));
  MSVM_ASSIGN_OR_RETURN(const int64_t offset, a.integer("offset", -kFar, kFar, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t skip, a.integer("instructionOffset", -kFar, kFar, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t count, a.integer("instructionCount", 0, kMostRows));
  MSVM_RETURN_IF_ERROR(a.flag("resolveSymbols", false).status());
  const uint64_t address = reference + static_cast<uint64_t>(offset);
  const auto document = s.listings.get(address >> 32);
  Json rows = Json::array();
  if (!document.ok()) {
    for (int64_t i = 0; i < count; ++i) rows.push_back(outside(address));
    return Json{{"instructions", std::move(rows)}};
  }
  const Document& d = **document;
  const auto n = static_cast<int64_t>(d.instructions.size());
  const uint64_t end = n > 0 ? d.instructions.back().first + 1 : d.begin;
  std::string file;
  for (int64_t i = d.find(address) + skip, left = count; left > 0; --left, ++i) {
    if (0 <= i && i < n) rows.push_back(inside(s, d, static_cast<size_t>(i), file));
    else rows.push_back(outside(i < 0 ? d.begin : end + static_cast<uint64_t>(i - n)));
  }
  return Json{{"instructions", std::move(rows)}};
}

}  // namespace msvm::observe::dap
