// Breakpoints of all kinds: each request replaces those of its kind, and answers them in their order.
#include <fmt/format.h>

#include "observe/dap/capabilities.h"
#include "observe/dap/requests.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kMostLines = std::numeric_limits<int32_t>::max() - 1;

Result<debug::BreakpointOptions> options_of(const Arguments& a) {
  debug::BreakpointOptions o;
  MSVM_ASSIGN_OR_RETURN(o.condition, a.text("condition", ""));
  MSVM_ASSIGN_OR_RETURN(o.hit_condition, a.text("hitCondition", ""));
  MSVM_ASSIGN_OR_RETURN(o.log_message, a.text("logMessage", ""));
  return o;
}

/// A listing, or a file.
struct SourceOf {
  std::optional<uint64_t> program;
  std::string file;
};
Result<SourceOf> source_of(const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const Arguments source, a.object("source"));
  MSVM_ASSIGN_OR_RETURN(const std::string path, source.text("path"));
  if (path.empty()) return source.wrong("path", "a file, or msvm://bc/0x...");
  SourceOf out{program_of_uri(path), path};
  if (!out.program && path.starts_with("msvm:")) return source.wrong("path", "a listing such as msvm://bc/0x0");
  return out;
}

}  // namespace

Result<Json> set_breakpoints(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const SourceOf source, source_of(a));
  MSVM_ASSIGN_OR_RETURN(const auto rows, a.objects("breakpoints"));
  std::vector<debug::LineBreakpoint> lines;
  for (const Arguments& row : rows) {
    debug::LineBreakpoint& b = lines.emplace_back();
    MSVM_ASSIGN_OR_RETURN(const int64_t line, row.integer("line", s.lines_from_1 ? 1 : 0, kMostLines));
    b.line = static_cast<int32_t>(s.line_in(line));
    MSVM_ASSIGN_OR_RETURN(b.options, options_of(row));
  }
  Json body = breakpoints_json(s, source.program ? s.debugger.set_listing_breakpoints(*source.program, lines) : s.debugger.set_source_breakpoints(source.file, lines));
  for (Json& b : body["breakpoints"]) b["source"] = *a.find("source");  // as the client wrote it
  return body;
}

Result<Json> set_function_breakpoints(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const auto rows, a.objects("breakpoints"));
  std::vector<debug::FunctionBreakpoint> functions;
  for (const Arguments& row : rows) {
    debug::FunctionBreakpoint& b = functions.emplace_back();
    MSVM_ASSIGN_OR_RETURN(b.name, row.text("name"));
    MSVM_ASSIGN_OR_RETURN(b.options, options_of(row));
  }
  return breakpoints_json(s, s.debugger.set_function_breakpoints(functions));
}

Result<Json> set_instruction_breakpoints(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const auto rows, a.objects("breakpoints"));
  std::vector<debug::AddressBreakpoint> addresses;
  for (const Arguments& row : rows) {
    debug::AddressBreakpoint& b = addresses.emplace_back();
    MSVM_ASSIGN_OR_RETURN(const uint64_t address, row.address("instructionReference"));
    MSVM_ASSIGN_OR_RETURN(const int64_t offset, row.integer("offset", std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), 0));
    b.address = address + static_cast<uint64_t>(offset);
    MSVM_ASSIGN_OR_RETURN(b.options, options_of(row));
  }
  return breakpoints_json(s, s.debugger.set_address_breakpoints(addresses));
}

Result<Json> set_exception_breakpoints(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(std::vector<std::string> filters, a.texts("filters"));
  MSVM_ASSIGN_OR_RETURN(const auto options, a.objects("filterOptions"));
  for (const Arguments& o : options) {
    MSVM_ASSIGN_OR_RETURN(std::string id, o.text("filterId"));
    filters.push_back(std::move(id));
  }
  debug::Stops stops;
  Json rows = Json::array();
  for (const std::string& f : filters) {
    bool* of = f == "failure" ? &stops.failure : f == "fallback" ? &stops.fallback : f == "nan" ? &stops.nan : nullptr;
    if (of) *of = true;
    Json row{{"verified", of != nullptr}};
    if (!of) {
      std::string names;
      for (const auto& [name, label] : exception_filters()) names += (names.empty() ? "" : ", ") + name;
      row["message"] = fmt::format("expected one of {}, found \"{}\"", names, f);
    }
    rows.push_back(std::move(row));
  }
  s.debugger.set_stops(stops);
  return Json{{"breakpoints", std::move(rows)}};
}

Result<Json> breakpoint_locations(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const SourceOf source, source_of(a));
  MSVM_ASSIGN_OR_RETURN(const int64_t from, a.integer("line", s.lines_from_1 ? 1 : 0, kMostLines));
  MSVM_ASSIGN_OR_RETURN(const int64_t to, a.integer("endLine", s.lines_from_1 ? 1 : 0, kMostLines, from));
  const int64_t first = s.line_in(from), last = s.line_in(to);
  Json rows = Json::array();
  if (source.program) {
    MSVM_ASSIGN_OR_RETURN(const auto document, s.listings.get(*source.program));
    const auto& lines = document->listing.lines;
    for (int64_t line = first; line <= last && line <= static_cast<int64_t>(lines.size()); ++line)
      if (lines[static_cast<size_t>(line - 1)].instruction >= 0) rows.push_back({{"line", s.line_out(static_cast<int32_t>(line))}});
  } else {
    for (const int32_t line : s.debugger.source_lines(source.file))
      if (first <= line && line <= last) rows.push_back({{"line", s.line_out(line)}});
  }
  return Json{{"breakpoints", std::move(rows)}};
}

}  // namespace msvm::observe::dap
