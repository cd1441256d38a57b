// Variables, expressions, completions, memory.
#include <fmt/format.h>

#include "observe/dap/requests.h"
#include "observe/dap/scopes.h"
#include "observe/dap/tables.h"
#include "observe/dap/views.h"

namespace msvm::observe::dap {
namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr size_t kLongestExpression = 10'000;

/// The part of a list that was asked for.
std::vector<Json> slice(std::vector<Json> rows, int64_t start, int64_t count) {
  const auto n = static_cast<int64_t>(rows.size());
  start = std::min(start, n);
  const int64_t end = count == 0 ? n : std::min(n, start + std::min(count, n));
  return {std::make_move_iterator(rows.begin() + start), std::make_move_iterator(rows.begin() + end)};
}

std::string base64(std::string_view bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t v = 0;
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[v >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Json table_result(State& s, const ConsoleTable& t) {
  std::vector<Json> rows;
  for (const auto& r : t.rows) {
    std::vector<Json> cells;
    std::string text;
    for (size_t c = 0; c < r.size(); ++c) {
      if (r[c].empty()) continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", t.columns[c], r[c]);
      cells.push_back(plain_row(t.columns[c], r[c]));
    }
    Json row = plain_row(fmt::format("[{}]", rows.size()), text);
    row["variablesReference"] = unfolding(s, debug::kAnyThread, std::move(cells));
    rows.push_back(std::move(row));
  }
  Json table{{"columns", t.columns}, {"rows", t.rows}};
  return {{"result", t.text()}, {"type", "table"}, {"variablesReference", unfolding(s, debug::kAnyThread, std::move(rows))}, {"table", std::move(table)}};
}

/// Bytes of the first `units` UTF-16 units, which is how the protocol counts columns.
size_t bytes_of_units(std::string_view text, int64_t units) {
  size_t at = 0;
  while (at < text.size() && units > 0) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    units -= n == 4 ? 2 : 1;
    at = std::min(at + n, text.size());
  }
  return at;
}

}  // namespace

Result<Json> variables(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("variablesReference", 1, kAny));
  MSVM_ASSIGN_OR_RETURN(const int64_t start, a.integer("start", 0, kAny, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t count, a.integer("count", 0, kAny, 0));
  MSVM_ASSIGN_OR_RETURN(const std::string filter, a.text("filter", ""));
  if (!filter.empty() && filter != "named" && filter != "indexed") return a.wrong("filter", "\"named\" or \"indexed\"");
  MSVM_ASSIGN_OR_RETURN(const Variables v, s.handles.variables(id));
  MSVM_ASSIGN_OR_RETURN(std::vector<Json> rows, v.list({start, count}));
  return Json{{"variables", v.whole ? slice(std::move(rows), start, count) : std::move(rows)}};
}

Result<Json> set_variable(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("variablesReference", 1, kAny));
  MSVM_ASSIGN_OR_RETURN(const std::string name, a.text("name"));
  MSVM_ASSIGN_OR_RETURN(const std::string value, a.text("value"));
  MSVM_ASSIGN_OR_RETURN(const Variables v, s.handles.variables(id));
  if (!v.set) return invalid_argument(fmt::format("{} can't be changed: expected an i64, f64 or bool register", name));
  return v.set(name, value);
}

Result<Json> evaluate(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string expression, a.text("expression"));
  if (expression.size() > kLongestExpression) return invalid_argument(fmt::format("expression: expected {} bytes at most, found {}", kLongestExpression, expression.size()));
  if (const auto name = table_name(expression)) {
    MSVM_ASSIGN_OR_RETURN(const ConsoleTable t, console_table(s, *name));
    return table_result(s, t);
  }
  if (a.has("frameId")) {
    MSVM_ASSIGN_OR_RETURN(const int64_t id, a.integer("frameId", 1, kAny));
    MSVM_ASSIGN_OR_RETURN(const Frame frame, s.handles.frame(id));
    if (frame.kind == Frame::kHost && s.options.host) {
      MSVM_ASSIGN_OR_RETURN(const HostVariable v, s.options.host->evaluate(frame.host, expression));
      return Json{{"result", v.value}, {"type", v.type}, {"variablesReference", 0}};
    }
  }
  MSVM_ASSIGN_OR_RETURN(const debug::FrameRef frame, frame_of(s, a));
  MSVM_ASSIGN_OR_RETURN(const debug::Value value, s.debugger.evaluate(frame, expression));
  Json row = value_row(s, frame, value, {}, expression);
  Json body{{"result", row["value"]}, {"type", value.type}, {"variablesReference", row["variablesReference"]}};
  if (value.reg != kNoReg)
    if (const auto r = s.debugger.registers(frame, value.reg, 1); r.ok() && r->registers.size() == 1 && r->registers[0].address) body["memoryReference"] = hex(r->registers[0].address);
  return body;
}

Result<Json> completions(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const std::string text, a.text("text"));
  MSVM_ASSIGN_OR_RETURN(const int64_t column, a.integer("column", s.columns_from_1 ? 1 : 0, std::numeric_limits<int32_t>::max()));
  if (text.size() > kLongestExpression) return invalid_argument(fmt::format("text: expected {} bytes at most, found {}", kLongestExpression, text.size()));
  const size_t at = bytes_of_units(text, column - (s.columns_from_1 ? 1 : 0));
  debug::FrameRef frame(debug::kAnyThread);
  if (const auto f = frame_of(s, a); f.ok()) frame = *f;
  else if (a.has("frameId")) return f.status();
  Json targets = Json::array();
  for (const debug::Completion& c : s.debugger.completions(frame, text, static_cast<int32_t>(at)))
    targets.push_back({{"label", c.label}, {"text", c.text}, {"detail", c.detail}, {"start", c.start}, {"length", c.length}});
  // Of what begins as "ms.vm." does, up to the cursor.
  size_t begin = at;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '.' || text[begin - 1] == '_')) --begin;
  const std::string word = text.substr(begin, at - begin);
  for (const auto& [name, what] : console_tables())
    if (name.starts_with(word)) targets.push_back({{"label", name}, {"text", name}, {"detail", what}, {"type", "function"}, {"start", begin}, {"length", word.size()}});
  return Json{{"targets", std::move(targets)}};
}

Result<Json> read_memory(State& s, const Arguments& a) {
  MSVM_ASSIGN_OR_RETURN(const uint64_t reference, a.address("memoryReference"));
  MSVM_ASSIGN_OR_RETURN(const int64_t offset, a.integer("offset", std::numeric_limits<int64_t>::min(), kAny, 0));
  MSVM_ASSIGN_OR_RETURN(const int64_t count, a.integer("count", 0, 1 << 22));
  const uint64_t address = reference + static_cast<uint64_t>(offset);
  std::string bytes;
  for (const debug::ThreadInfo& t : s.debugger.threads()) {
    if (!t.stop) continue;
    if (auto found = s.debugger.read_memory(t.thread, address, count); found.ok() && found->size() > bytes.size()) bytes = std::move(*found);
  }
  return Json{{"address", hex(address)}, {"unreadableBytes", count - static_cast<int64_t>(bytes.size())}, {"data", base64(bytes)}};
}

}  // namespace msvm::observe::dap
