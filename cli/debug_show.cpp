// What the console shows: stops, listings, registers.
#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#include "common.h"
#include "debug_console.h"
#include "observe/dap/listings.h"

namespace msvm::cli {
namespace {

constexpr const char *kBold = "\x1b[1m", *kMark = "\x1b[1;33m", *kOff = "\x1b[0m";
constexpr int64_t kAround = 3;  // lines before and after the one that is shown

}  // namespace

Result<Json> DebugConsole::listing(const std::string& path) {
  if (const auto at = listings_.find(path); at != listings_.end()) return at->second;
  const auto program = observe::dap::program_of_uri(path);
  if (!program) return invalid_argument(fmt::format("{}: expected msvm://bc/0x0", path));
  MSVM_ASSIGN_OR_RETURN(Json l, call("msvm/listing", {{"program", *program}}));
  Json lines = Json::array();
  std::istringstream in(text_in(l, "text"));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  l["texts"] = std::move(lines);
  return listings_[path] = std::move(l);
}

void DebugConsole::print_lines(const Json& texts, int64_t around, int64_t marked, int64_t more) {
  const auto n = static_cast<int64_t>(texts.size());
  for (int64_t line = std::max<int64_t>(1, around - more); line <= std::min(n, around + more); ++line) {
    const std::string text = printable(texts[static_cast<size_t>(line - 1)].get<std::string>());
    const bool here = line == marked;
    fmt::print("{}{} {:>5}  {}{}\n", here && colour_ ? kMark : "", here ? "=>" : "  ", line, text, here && colour_ ? kOff : "");
  }
}

/// Of a frame: lines of its listing, or of its file. `around` 0: where it stands.
Status DebugConsole::print_source(const Json& frame, int64_t around, int64_t more) {
  const Json source = frame.value("source", Json::object());
  const std::string path = text_in(source, "path");
  const int64_t here = frame.value("line", int64_t{0});
  if (around == 0) around = here;
  Json lines = Json::array();
  if (path.starts_with("msvm:")) {
    MSVM_ASSIGN_OR_RETURN(const Json l, listing(path));
    lines = l["texts"];
  } else if (!path.empty()) {
    MSVM_ASSIGN_OR_RETURN(const std::string text, read_text(path));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  } else {
    return invalid_argument("there is no source for this frame");
  }
  if (around - more > static_cast<int64_t>(lines.size())) {
    const int64_t wanted = around - more == next_line_ ? next_line_ : around;  // going on, or asked for
    return invalid_argument(fmt::format("there is no line {}: the last one is {}", wanted, lines.size()));
  }
  print_lines(lines, around, here, more);
  next_line_ = around + more + 1;
  return {};
}

Status DebugConsole::show_stop(ThreadStop& stop) {
  stop.told = stop.shown = true;
  select(stop.thread);
  (void)read_threads();  // the stop is worth more than its thread's name
  const std::string reason = text_in(stop.body, "reason"), text = text_in(stop.body, "text");
  fmt::print("{}{}: {}{}{}\n", colour_ ? fmt::format("{}Stopped{}", kBold, kOff) : "Stopped", attached_ || threads_.size() > 1 ? " in " + thread_text(thread_) : "", reason, text.empty() ? "" : ": ", printable(text));
  if (reason == "exception") {
    const auto info = call_of_thread("exceptionInfo");
    if (info.ok() && !text_in(*info, "fix").empty()) fmt::print("fix: {}\n", printable(text_in(*info, "fix")));
  }
  const auto top = frame();
  if (!top.ok()) return top.status();
  fmt::print("{}\n", printable(text_in(*top, "name")));
  const Status shown = print_source(*top, 0, kAround);
  next_line_ = 0;  // `list` begins around the place
  if (!shown.ok()) return {};
  if (!text_in(*top, "instructionPointerReference").empty()) {
    const auto registers = call_of_thread("msvm/registers", {{"first", 0}, {"count", 1 << 20}});
    if (registers.ok()) print_registers((*registers)["registers"], true);
  }
  return {};
}

void DebugConsole::print_registers(const Json& rows, bool only_changed) {
  for (const Json& r : rows) {
    const bool changed = r.value("changed", false);
    if (only_changed && !changed) continue;
    const bool tensor = text_in(r, "kind") == "TensorMeta";
    std::string text = tensor ? text_in(r, "dtype") + text_in(r, "text") : text_in(r, "value");
    if (text.empty()) text = text_in(r, "declared");
    const std::string state = text_in(r, "state"), name = text_in(r, "name");
    std::string rest;
    if (state != "live") rest += fmt::format(" ({})", state);
    if (tensor && !only_changed && state == "live") {
      rest += fmt::format("  {} {}", text_in(r, "owner"), text_in(r, "memory_addr"));
      if (!text_in(r, "reused_from").empty()) rest += " reused from " + text_in(r, "reused_from");
    }
    const bool mark = changed && colour_;
    fmt::print("{}  {:<4} {:<12} {:<11} {}{}{}\n", mark ? kBold : "", text_in(r, "reg"), printable(name), text_in(r, "kind"), printable(text), printable(rest), mark ? kOff : changed && !only_changed ? "  *" : "");
  }
}

void DebugConsole::print_breakpoint(const Breakpoint& b) {
  std::string rest;
  for (const auto& [key, name] : {std::pair{"condition", "if"}, {"hitCondition", "hit"}, {"logMessage", "log"}})
    if (const std::string v = text_in(b.options, key); !v.empty()) rest += fmt::format(" {} {}", name, v);
  fmt::print("Breakpoint {}: {}{}{}\n", b.number, printable(b.where), printable(rest), b.verified ? (b.message.empty() ? "" : fmt::format(" ({})", printable(b.message))) : fmt::format(" (not bound{}{})", b.message.empty() ? "" : ": ", printable(b.message)));
}

}  // namespace msvm::cli
