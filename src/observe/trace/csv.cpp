#include "observe/trace/csv.h"

#include <fmt/format.h>

#include "msvm/base/utc_text.h"
#include "observe/trace/mode.h"

namespace msvm::observe {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

template <class T>
std::string unless(T value, T nothing) {
  return value == nothing ? std::string() : fmt::format("{}", value);
}

std::string row(const TraceLog& log, const Event& e) {
  static const ProgramTable::Instruction kNone;
  const auto* i = log.instruction(e);
  if (!i) i = &kNone;
  const double ns = log.nanoseconds(e), gflops = e.work > 0 && ns > 0 ? e.work / ns : 0, peak = log.header().core_gflops;
  const bool told = e.kind == EventKind::kCompile || e.kind == EventKind::kJit || e.kind == EventKind::kSlowPath || e.kind == EventKind::kNote;
  const std::vector<std::string> cells = {
      utc_text(log.wall_ns(e.begin), 6),
      fmt::format("{:.6f}", log.seconds(e.begin)),
      fmt::format("{:.3f}", ns * 1e-3),
      std::to_string(e.thread),
      unless(e.run, 0u),
      std::string(event_info(e.kind).name),
      log.program(e).name,
      std::string(log.function_name(e)),
      unless(e.instruction, -1),
      i->mnemonic,
      i->op,
      i->place,
      unless(e.region, -1),
      has_mode(e.kind) ? std::to_string(e.tier) : std::string(),
      std::string(mode_name(e)),
      std::string(log.text(e.name)),
      told ? std::string() : std::string(log.text(e.detail)),
      unless(e.bytes, int64_t{0}),
      e.work > 0 ? fmt::format("{:.6g}", e.work * 1e-9) : std::string(),
      gflops > 0 ? fmt::format("{:.4g}", gflops) : std::string(),
      gflops > 0 && peak > 0 ? fmt::format("{:.3g}", gflops / peak) : std::string(),
      told ? std::string(log.text(e.detail)) : std::string(),
  };
  std::string line;
  for (const std::string& c : cells) line += (line.empty() && &c == &cells.front() ? "" : ",") + quoted(c);
  return line + "\n";
}

}  // namespace

const std::vector<ColumnInfo>& trace_columns() {
  static const std::vector<ColumnInfo> columns = {
#define MSVM_TRACE_COLUMN(name, doc) {name, doc},
#include "observe/trace/columns.def"
#undef MSVM_TRACE_COLUMN
  };
  return columns;
}

Status write_csv(const TraceLog& log, std::FILE* out) {
  std::string text;
  for (const ColumnInfo& c : trace_columns()) text += (text.empty() ? "" : ",") + std::string(c.name);
  text += "\n";
  auto put = [&] {
    const bool whole = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    text.clear();
    return whole;
  };
  for (const Event& e : log.events()) {
    text += row(log, e);
    if (text.size() > (1u << 16) && !put()) return {StatusCode::kIo, "the table can't be written"};
  }
  if (!put() || std::fflush(out) != 0) return {StatusCode::kIo, "the table can't be written"};
  return {};
}

}  // namespace msvm::observe
