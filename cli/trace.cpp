// trace: what a log of the event stream says.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "common.h"
#include "observe/trace/compare.h"
#include "observe/trace/csv.h"
#include "observe/trace/perfetto.h"
#include "observe/trace/summary.h"
#include "observe/trace/timeline.h"

namespace msvm::cli {
namespace {

using namespace observe;

struct TraceOptions {
  std::string log, other, out;
  size_t rows = 15, outliers = 10;
  bool json = false;
};

/// A file; of a folder, or of nothing, the newest log.
Result<TraceLog> open_log(const std::string& given) {
  std::string path = given.empty() ? "ms_bc_trace" : given;
  if (std::error_code error; given.empty() || std::filesystem::is_directory(path, error)) {
    MSVM_ASSIGN_OR_RETURN(path, newest_log(path));
  }
  return TraceLog::read(path);
}

Status summary(const TraceOptions& o) {
  MSVM_ASSIGN_OR_RETURN(const TraceLog log, open_log(o.log));
  const TraceSummary s = summarize(log, o.outliers);
  fmt::print("{}\n", o.json ? to_json(s, log) : printable(to_text(s, log, o.rows)));
  return {};
}

Status side_by_side(const TraceOptions& o) {
  MSVM_ASSIGN_OR_RETURN(const TraceLog before, TraceLog::read(o.log));
  MSVM_ASSIGN_OR_RETURN(const TraceLog after, TraceLog::read(o.other));
  const auto rows = compare(before, after);
  fmt::print("{}", o.json ? to_json(rows) + "\n" : printable(to_text(rows, o.rows)));
  return {};
}

Status columns() {
  Table t({"column", "what it holds"});
  for (const ColumnInfo& c : trace_columns()) t.row({std::string(c.name), std::string(c.doc)});
  fmt::print("{}", t.to_string());
  return {};
}

Status convert(const TraceOptions& o, Status (*write)(const TraceLog&, std::FILE*)) {
  MSVM_ASSIGN_OR_RETURN(const TraceLog log, open_log(o.log));
  for (const std::string& d : log.damage()) fmt::print(stderr, "note: damage {}\n", printable(d));
  if (o.out.empty() || o.out == "-") return write(log, stdout);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(o.out.c_str(), "wb"), std::fclose);
  if (!file) return {StatusCode::kIo, fmt::format("{}: it can't be written", o.out)};
  return write(log, file.get()).with_context(o.out + ": ");
}

}  // namespace

void add_trace(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("trace", "What a trace (.bclog) says: where time went, outliers, as a table, for Perfetto");
  c->require_subcommand(1);
  c->footer(
      "MSVM_BC_TRACE=1 has any program write ms_bc_trace/<time>-<pid>.bclog; of a folder the newest one is taken.\n"
      "Examples: msvm trace summary;  msvm trace csv ms_bc_trace -o trace.csv;  msvm trace perfetto log.bclog -o trace.json");
  auto o = std::make_shared<TraceOptions>();
  auto add = [&](const char* name, const char* what, auto command) {
    auto* s = c->add_subcommand(name, what);
    s->callback([=, &code] { code = report(command(*o)); });
    return s;
  };
  auto log = [&](CLI::App* s) { s->add_option("log", o->log, "a .bclog file or a folder of them (ms_bc_trace)"); };
  auto out = [&](CLI::App* s) { s->add_option("-o,--out", o->out, "file to write; '-': standard output"); };
  auto* s = add("summary", "Time by instruction and kernel, tiers, compilations, outliers with their causes", summary);
  log(s);
  s->add_option("--rows", o->rows, "of each table (15)");
  s->add_option("--outliers", o->outliers, "at most so many (10)");
  s->add_flag("--json", o->json, "as JSON, with all rows");
  s = add("csv", "A row for each event; `msvm trace columns` says what the columns hold", [](const TraceOptions& t) { return convert(t, write_csv); });
  log(s);
  out(s);
  s = add("perfetto", "For ui.perfetto.dev and other viewers of the Chrome trace format", [](const TraceOptions& t) { return convert(t, write_perfetto); });
  log(s);
  out(s);
  s = add("timeline", "For programs that draw it: a line of JSON, then a column of numbers for each fact of an event", [](const TraceOptions& t) {
    return convert(t, [](const TraceLog& read, std::FILE* to) { return write_timeline(read, to); });
  });
  log(s);
  out(s);
  s = add("compare", "Two logs: medians of each instruction side by side, what changed most first", side_by_side);
  s->add_option("before", o->log, "a .bclog file")->required();
  s->add_option("after", o->other, "another one")->required();
  s->add_option("--rows", o->rows, "at most so many (15)");
  s->add_flag("--json", o->json, "as JSON, with all rows");
  add("columns", "The columns of the table", [](const TraceOptions&) { return columns(); });
}

}  // namespace msvm::cli
