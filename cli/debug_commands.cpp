// The console's commands.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "common.h"
#include "debug_console.h"

namespace msvm::cli {
namespace {

std::string trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return std::string(s);
}

std::pair<std::string, std::string> split_word(const std::string& text) {
  const size_t end = text.find_first_of(" \t");
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end), trimmed(std::string_view(text).substr(end))};
}

void print_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  Table t(header);
  for (const auto& r : rows) t.row(r);
  fmt::print("{}", t.to_string());
}

std::string shown(const Json& j) { return j.is_string() ? j.get<std::string>() : observe::dap::dump(j); }

}  // namespace

std::optional<int64_t> number(const std::string& text) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return v;
}

Status expected(const std::string& what, const std::string& found) { return invalid_argument(fmt::format("expected {}, found {}", what, found.empty() ? "nothing" : "\"" + found + "\"")); }

struct DebugConsole::Command {
  const char *name, *brief, *arguments, *what;  // brief: the shortest form that is understood
  Status (DebugConsole::*run)(const std::string&);
  bool repeats = false;                         // by an empty line
};

const std::vector<DebugConsole::Command>& DebugConsole::commands() {
  using C = DebugConsole;
  static const auto& all = *new std::vector<Command>{
      {"step", "s", "[N]", "to the next instruction, within regions and into Python calls, N times", &C::step, true},
      {"next", "n", "[N]", "the same, but a region in native code is passed as one", &C::next, true},
      {"finish", "fin", "", "to the end of the run", &C::finish, true},
      {"continue", "c", "[THREAD]", "all threads go on, or this one, to the next breakpoint, or the end", &C::go_on, true},
      {"pause", "pause", "[THREAD]", "stops a program that runs (also Ctrl-C), or a thread of it", &C::pause},
      {"break", "b", "WHERE [if EXPRESSION] [hit N] [log TEXT]", "WHERE: a line of the listing, FILE:LINE, *0x1a, a function or an operator", &C::set_break},
      {"delete", "d", "[NUMBER]", "takes a breakpoint away, or all", &C::delete_break},
      {"catch", "catch", "[failure] [fallback] [nan]", "what else to stop at; nothing: none of them", &C::catch_},
      {"info", "i", "registers|call|symbols|constants|breakpoints|threads|buffers|program|status", "what is there", &C::info},
      {"print", "p", "EXPRESSION", "its value: R3, N, shape(R3)[2], R3[0, 1:4], max(R3), ms.vm.jit_info()", &C::print},
      {"set", "set", "R3 = VALUE", "changes an i64, f64 or bool register", &C::set},
      {"values", "x", "EXPRESSION [, SLICE]", "elements and statistics of a tensor; SLICE as in 0, 1:4, :", &C::values},
      {"save", "save", "EXPRESSION FILE.npy", "writes a tensor", &C::save},
      {"list", "l", "[LINE]", "the listing around a line; again: what follows", &C::list, true},
      {"disassemble", "dis", "[ADDRESS] [COUNT]", "instructions with their addresses", &C::disassemble},
      {"where", "bt", "", "the frames", &C::where},
      {"frame", "f", "NUMBER", "selects a frame; up and down do, too", nullptr},
      {"thread", "t", "NUMBER", "selects a thread", &C::select_thread},
      {"kernels", "k", "", "candidates for the call that waits, with their costs", &C::kernels},
      {"help", "h", "[COMMAND]", "this", &C::help},
      {"quit", "q", "", "ends the session, and the program if it was launched here", nullptr},
  };
  return all;
}

bool DebugConsole::prepares(const std::string& line) {
  const std::string word = split_word(trimmed(line)).first;
  const auto is = [&](std::string_view name, size_t shortest) { return word.size() >= shortest && name.starts_with(word); };
  return word.empty() || word[0] == '#' || is("break", 1) || is("delete", 1) || is("catch", 5);
}

Result<bool> DebugConsole::command(const std::string& given) {
  take_all();
  if (!stop_of(thread_)) MSVM_RETURN_IF_ERROR(select_waiting());
  announce();
  std::string line = trimmed(given);
  if (const size_t comment = line.find('#'); comment == 0) return true;
  if (line.empty()) {
    if (last_.empty()) return true;
    line = last_;
  }
  const auto [word, rest] = split_word(line);
  last_.clear();
  if (word == "quit" || word == "q" || word == "exit") return false;
  if (word == "up" || word == "down" || word == "frame" || word == "f") {
    const auto n = number(rest);
    if (word[0] == 'f' && !n && !rest.empty()) return expected("the number of a frame", rest);
    MSVM_RETURN_IF_ERROR(up_or_down(word == "up" ? 1 : word == "down" ? -1 : n ? static_cast<int>(*n - frame_) : 0));
    return true;
  }
  if (word == "backtrace") {
    MSVM_RETURN_IF_ERROR(where(rest));
    return true;
  }
  for (const Command& c : commands()) {
    const std::string_view name = c.name;
    const size_t shortest = name.starts_with(c.brief) ? std::string_view(c.brief).size() : 2;
    if (!c.run || !(word == c.brief || (name.starts_with(word) && word.size() >= shortest))) continue;
    MSVM_RETURN_IF_ERROR((this->*c.run)(rest));
    if (c.repeats) last_ = name == "list" ? "list" : line;
    return true;
  }
  return invalid_argument(fmt::format("there is no command \"{}\": `help` lists them", word));
}

// --- control -----------------------------------------------------------------------------------------------------------

Status DebugConsole::go(const char* request, const std::string& times) {
  const auto n = times.empty() ? std::optional<int64_t>(1) : number(times);
  if (!n || *n < 1) return expected("how often", times);
  for (int64_t i = 0; i < *n; ++i) {
    MSVM_RETURN_IF_ERROR(need_stop());
    const int64_t thread = thread_;
    const ThreadStop before = *stop_of(thread);
    thread_goes_on(thread);
    left_.erase(thread);
    if (auto answer = call(request, {{"threadId", thread}}); !answer.ok()) {
      stops_.push_back(before);
      return answer.status();
    }
    MSVM_RETURN_IF_ERROR(wait(thread));
    const ThreadStop* now = stop_of(thread);
    if (!now || thread_ != thread || text_in(now->body, "reason") != "step") break;
  }
  return {};
}

Status DebugConsole::step(const std::string& a) { return go("stepIn", a); }
Status DebugConsole::next(const std::string& a) { return go("next", a); }
Status DebugConsole::finish(const std::string&) { return go("stepOut", ""); }

// --- breakpoints -------------------------------------------------------------------------------------------------------

/// One request for all of a kind, or of a source: that is how the protocol has it.
Status DebugConsole::send_breakpoints(const std::string& kind, const std::string& source) {
  Json rows = Json::array();
  std::vector<Breakpoint*> sent;
  for (Breakpoint& b : breakpoints_) {
    if (b.kind != kind || b.source != source) continue;
    Json row = b.options;
    if (kind == "line") row["line"] = b.line;
    else row[kind == "address" ? "instructionReference" : "name"] = kind == "address" ? b.where.substr(1) : b.where;
    rows.push_back(std::move(row));
    sent.push_back(&b);
  }
  Json arguments{{"breakpoints", std::move(rows)}};
  if (kind == "line") arguments["source"] = {{"path", source}};
  MSVM_ASSIGN_OR_RETURN(const Json body, call(kind == "line" ? "setBreakpoints" : kind == "address" ? "setInstructionBreakpoints" : "setFunctionBreakpoints", std::move(arguments)));
  const Json found = body.value("breakpoints", Json::array());
  for (size_t i = 0; i < sent.size() && i < found.size(); ++i) {
    sent[i]->id = found[i].value("id", int64_t{0});
    sent[i]->verified = found[i].value("verified", false);
    sent[i]->was_bound |= sent[i]->verified;
    sent[i]->message = text_in(found[i], "message");
  }
  return {};
}

/// What a line without a file is of: the frame's source; before the first stop the program itself.
Result<std::string> DebugConsole::source_of_lines() {
  std::error_code error;
  if (!stop_of(thread_) && program_.ends_with(".py")) return std::filesystem::absolute(program_, error).lexically_normal().string();
  if (!stop_of(thread_) && !over_) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call("loadedSources"));
    for (const Json& s : body.value("sources", Json::array())) return text_in(s, "path");
  }
  MSVM_ASSIGN_OR_RETURN(const Json top, frame());
  return text_in(top.value("source", Json::object()), "path");
}

Status DebugConsole::set_break(const std::string& a) {
  if (a.empty()) return expected("a line of the listing, FILE:LINE, *ADDRESS, a function or an operator", a);
  Breakpoint b;
  // The words if, hit and log begin what they name.
  const auto [where, rest] = split_word(a);
  b.where = where;
  std::string key;
  for (std::string more = rest; !more.empty();) {
    const auto [word, after] = split_word(more);
    const char* begins = word == "if" ? "condition" : word == "hit" ? "hitCondition" : word == "log" ? "logMessage" : nullptr;
    if (begins && key != "logMessage") {
      key = begins;
      b.options[key] = "";
    } else if (key.empty()) {
      return expected("if, hit or log", word);
    } else {
      std::string so_far = b.options[key].get<std::string>();
      b.options[key] = so_far.empty() ? word : so_far + " " + word;
    }
    more = after;
  }
  for (const auto& [begins, needs] : {std::pair{"condition", "an expression after if"}, {"hitCondition", "how often after hit, such as 3 or >= 3"}, {"logMessage", "a text after log"}})
    if (const auto given = b.options.find(begins); given != b.options.end() && given->get<std::string>().empty()) return expected(needs, "");
  if (where.starts_with('*')) {
    b.kind = "address";
  } else if (const auto line = number(where)) {
    b.kind = "line";
    b.line = *line;
    MSVM_ASSIGN_OR_RETURN(b.source, source_of_lines());
    if (b.source.empty()) return invalid_argument("this frame has no listing: say FILE:LINE");
  } else if (const size_t colon = where.rfind(':'); colon != std::string::npos && number(where.substr(colon + 1))) {
    b.kind = "line";
    b.line = *number(where.substr(colon + 1));
    b.source = where.substr(0, colon);
    std::error_code error;
    if (std::filesystem::exists(b.source, error)) b.source = std::filesystem::absolute(b.source, error).lexically_normal().string();
  } else {
    b.kind = "function";
  }
  b.number = last_number_ + 1;
  breakpoints_.push_back(b);
  if (Status s = send_breakpoints(b.kind, b.source); !s.ok()) {
    breakpoints_.pop_back();
    return s;
  }
  ++last_number_;
  print_breakpoint(breakpoints_.back());
  return {};
}

Status DebugConsole::delete_break(const std::string& a) {
  const auto n = number(a);
  if (!a.empty() && !n) return expected("the number of a breakpoint", a);
  std::vector<std::pair<std::string, std::string>> changed;
  for (const Breakpoint& b : breakpoints_)
    if (!n || b.number == *n) changed.emplace_back(b.kind, b.source);
  if (changed.empty()) return n ? invalid_argument(fmt::format("there is no breakpoint {}", *n)) : Status();
  std::erase_if(breakpoints_, [&](const Breakpoint& b) { return !n || b.number == *n; });
  for (const auto& [kind, source] : changed) MSVM_RETURN_IF_ERROR(send_breakpoints(kind, source));
  return {};
}

Status DebugConsole::catch_(const std::string& a) {
  Json filters = Json::array();
  for (std::string rest = a; !rest.empty();) {
    const auto [word, after] = split_word(rest);
    if (word != "failure" && word != "fallback" && word != "nan") return expected("failure, fallback or nan", word);
    filters.push_back(word);
    rest = after;
  }
  return call("setExceptionBreakpoints", {{"filters", std::move(filters)}}).status();
}

// --- looking -----------------------------------------------------------------------------------------------------------

Result<Json> DebugConsole::frame() {
  MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("stackTrace", {{"startFrame", frame_}, {"levels", 1}}));
  const Json frames = body.value("stackFrames", Json::array());
  if (frames.empty()) return invalid_argument("there is no such frame");
  return frames[0];
}

Status DebugConsole::info(const std::string& a) {
  const auto [what, rest] = split_word(a);
  const auto is = [&, &word = what](const char* name) { return !word.empty() && std::string_view(name).starts_with(word); };
  if (is("registers")) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("msvm/registers", {{"first", 0}, {"count", 1 << 20}}));
    print_registers(body["registers"], false);
    return {};
  }
  if (is("call")) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("msvm/call"));
    if (body.is_null()) return invalid_argument("the next instruction isn't an OP_CALL");
    fmt::print("{}{}{}\n", text_in(body, "op"), text_in(body, "attributes").empty() ? "" : "  ", printable(text_in(body, "attributes")));
    for (const char* side : {"inputs", "outputs"})
      for (const Json& o : body[side]) {
        std::string strides;
        for (const Json& s : o["strides"]) strides += (strides.empty() ? "" : ", ") + s.dump();
        fmt::print("  {:<7} {:<6} {:<5} {}{}  strides [{}]\n", side == std::string_view("inputs") ? "input" : "output", printable(text_in(o, "operand")), text_in(o, "reg"), text_in(o, "dtype"),
                   printable(text_in(o, "text").empty() ? text_in(o, "value") : text_in(o, "text")), strides);
      }
    for (const Json& x : body["arguments"]) fmt::print("  size    {}\n", printable(shown(x)));
    return {};
  }
  if (is("symbols") || is("constants")) {
    MSVM_ASSIGN_OR_RETURN(const Json top, frame());
    MSVM_ASSIGN_OR_RETURN(const Json body, call("scopes", {{"frameId", top["id"]}}));
    for (const Json& s : body["scopes"]) {
      if (text_in(s, "name") != (is("symbols") ? "Symbols" : "Constants")) continue;
      MSVM_ASSIGN_OR_RETURN(const Json rows, call("variables", {{"variablesReference", s["variablesReference"]}}));
      for (const Json& r : rows["variables"]) fmt::print("  {:<12} {}{}\n", printable(text_in(r, "name")), printable(text_in(r, "value")), is("symbols") && !text_in(r, "type").empty() ? "  " + printable(text_in(r, "type")) : "");
    }
    return {};
  }
  if (is("breakpoints")) {
    if (breakpoints_.empty()) fmt::print("no breakpoints\n");
    for (const Breakpoint& b : breakpoints_) print_breakpoint(b);
    return {};
  }
  if (is("threads")) return show_threads();
  if (is("buffers")) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("msvm/buffers"));
    std::vector<std::vector<std::string>> rows;
    for (const Json& b : body) {
      std::string registers;
      for (const Json& r : b["registers"]) registers += (registers.empty() ? "" : ", ") + shown(r);
      rows.push_back({text_in(b, "address"), b["bytes"].dump(), text_in(b, "owner"), registers, text_in(b, "reused_from")});
    }
    print_table({"address", "bytes", "owner", "registers", "reused from"}, rows);
    return {};
  }
  if (is("program")) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call("loadedSources"));
    for (const Json& s : body["sources"]) fmt::print("{}  {}\n", text_in(s, "path"), printable(text_in(s, "name")));
    return {};
  }
  if (is("status")) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call("msvm/status"));
    fmt::print("{}{}\n", printable(text_in(body, "text")), body.value("running", false) ? " (running)" : "");
    return {};
  }
  return expected("registers, call, symbols, constants, breakpoints, threads, buffers, program or status", what);
}

Status DebugConsole::print(const std::string& a) {
  if (a.empty()) return expected("an expression", a);
  Json arguments{{"expression", a}, {"context", "repl"}};
  if (stop_of(thread_)) {
    MSVM_ASSIGN_OR_RETURN(const Json top, frame());
    arguments["frameId"] = top["id"];
  }
  MSVM_ASSIGN_OR_RETURN(const Json body, call("evaluate", std::move(arguments)));
  fmt::print("{}\n", printable(text_in(body, "result")));
  return {};
}

Status DebugConsole::set(const std::string& a) {
  const size_t equals = a.find('=');
  const std::string name = trimmed(std::string_view(a).substr(0, equals)), value = equals == std::string::npos ? "" : trimmed(std::string_view(a).substr(equals + 1));
  if (name.empty() || value.empty()) return expected("R3 = VALUE", a);
  MSVM_ASSIGN_OR_RETURN(const Json top, frame());
  MSVM_ASSIGN_OR_RETURN(const Json body, call("scopes", {{"frameId", top["id"]}}));
  for (const Json& s : body["scopes"])
    if (text_in(s, "name") == "Registers") {
      MSVM_ASSIGN_OR_RETURN(const Json now, call("setVariable", {{"variablesReference", s["variablesReference"]}, {"name", name}, {"value", value}}));
      fmt::print("{} = {}\n", name, printable(text_in(now, "value")));
      return {};
    }
  return invalid_argument("this frame has no registers");
}

Status DebugConsole::values(const std::string& a) {
  size_t comma = 0;  // the first one outside of brackets
  for (int depth = 0; comma < a.size() && (a[comma] != ',' || depth > 0); ++comma) depth += a[comma] == '[' || a[comma] == '(' ? 1 : a[comma] == ']' || a[comma] == ')' ? -1 : 0;
  if (comma == a.size()) comma = std::string::npos;
  Json arguments{{"expression", trimmed(std::string_view(a).substr(0, comma))}, {"max", 64}};
  if (comma != std::string::npos) arguments["slice"] = trimmed(std::string_view(a).substr(comma + 1));
  if (a.empty()) return expected("an expression", a);
  MSVM_ASSIGN_OR_RETURN(const Json t, call_of_thread("msvm/tensor", std::move(arguments)));
  std::string elements;
  for (const Json& v : t["values"]) elements += (elements.empty() ? "" : ", ") + shown(v);
  const Json& s = t["statistics"];
  fmt::print("{}{}: {}{}\n", text_in(t, "dtype"), t["shape"].dump(), elements, t.value("truncated", false) ? ", ..." : "");
  if (s["min"].is_null()) fmt::print("{}: NaN {}  Inf {}  zeros {} of {}\n", t["total"] == 0 ? "no elements" : "nothing finite", shown(s["nan"]), shown(s["inf"]), shown(s["zeros"]), shown(t["total"]));
  else fmt::print("min {}  max {}  mean {}  NaN {}  Inf {}  zeros {} of {}\n", shown(s["min"]), shown(s["max"]), shown(s["mean"]), shown(s["nan"]), shown(s["inf"]), shown(s["zeros"]), shown(t["total"]));
  return {};
}

Status DebugConsole::save(const std::string& a) {
  const size_t space = a.find_last_of(" \t");
  if (space == std::string::npos) return expected("EXPRESSION FILE.npy", a);
  MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("msvm/saveTensor", {{"expression", trimmed(std::string_view(a).substr(0, space))}, {"path", a.substr(space + 1)}}));
  fmt::print("{}: {} bytes\n", printable(text_in(body, "path")), body["bytes"].dump());
  return {};
}

Status DebugConsole::list(const std::string& a) {
  constexpr int64_t kMore = 5;
  const auto line = number(a);
  if (!a.empty() && (!line || *line < 1)) return expected("a line", a);
  MSVM_ASSIGN_OR_RETURN(const Json top, frame());
  if (line && *line > 1'000'000'000) return expected("a line", a);
  return print_source(top, line ? *line : next_line_ ? next_line_ + kMore : 0, kMore);
}

Status DebugConsole::disassemble(const std::string& a) {
  const auto [address, rest] = split_word(a);
  const auto count = rest.empty() ? std::optional<int64_t>(10) : number(rest);
  if (!count || *count < 1 || *count > 10'000) return expected("how many instructions, 10000 at most", rest);
  std::string from = address;
  int64_t before = 0;
  std::string here;
  if (stop_of(thread_)) {
    MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("stackTrace", {{"startFrame", 0}, {"levels", 1}}));
    if (!body["stackFrames"].empty()) here = text_in(body["stackFrames"][0], "instructionPointerReference");
  }
  if (from.empty()) {
    from = here;
    before = -3;
  }
  if (from.empty()) return expected("an address such as 0x1a", from);
  MSVM_ASSIGN_OR_RETURN(const Json body, call("disassemble", {{"memoryReference", from}, {"instructionOffset", before}, {"instructionCount", *count}}));
  for (const Json& i : body["instructions"])
    if (text_in(i, "presentationHint") != "invalid") fmt::print("{} {:>8}  {}\n", text_in(i, "address") == here ? "=>" : "  ", text_in(i, "address"), printable(text_in(i, "instruction")));
  return {};
}

Status DebugConsole::where(const std::string&) {
  MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("stackTrace"));
  int64_t n = 0;
  for (const Json& f : body["stackFrames"]) {
    const Json source = f.value("source", Json::object());
    const std::string path = text_in(source, "path").empty() ? text_in(source, "name") : text_in(source, "path");
    fmt::print("{} {:<2} {}{}\n", n == frame_ ? "*" : " ", n, printable(text_in(f, "name")), path.empty() ? "" : fmt::format("  {}:{}", printable(path), f.value("line", 0)));
    ++n;
  }
  return {};
}

Status DebugConsole::up_or_down(int by) {
  const int64_t before = frame_;
  frame_ = std::max<int64_t>(0, frame_ + by);
  const auto top = frame();
  if (!top.ok()) {
    frame_ = before;
    return top.status();
  }
  fmt::print("{}  {}\n", frame_, printable(text_in(*top, "name")));
  (void)print_source(*top, 0, 3);  // not every frame has one
  return {};
}

Status DebugConsole::kernels(const std::string&) {
  MSVM_ASSIGN_OR_RETURN(const Json body, call_of_thread("msvm/call"));
  if (body.is_null()) return invalid_argument("the next instruction isn't an OP_CALL");
  std::vector<std::vector<std::string>> rows;
  for (const Json& k : body["candidates"])
    rows.push_back({k.value("chosen", false) ? "=>" : "", text_in(k, "kernel"), k["cost_ns"].is_number() ? format_ns(k["cost_ns"].get<double>()) : "", text_in(k, "reason")});
  if (!rows.empty()) print_table({"", "kernel", "cost", "why not"}, rows);
  if (!text_in(body, "note").empty()) fmt::print("{}\n", printable(text_in(body, "note")));
  return {};
}

Status DebugConsole::help(const std::string& a) {
  bool found = false;
  for (const Command& c : commands()) {
    if (!a.empty() && !std::string_view(c.name).starts_with(a) && a != c.brief) continue;
    const std::string brief = std::string_view(c.brief) == c.name ? "" : fmt::format(" ({})", c.brief);
    fmt::print("  {:<20} {}\n{:23}{}\n", c.name + brief, c.arguments, "", c.what);
    found = true;
  }
  return found ? Status() : invalid_argument(fmt::format("there is no command \"{}\": `help` lists them", a));
}

/// Functions and operators of what is loaded, as its listings have them.
std::set<std::string> DebugConsole::places() {
  std::set<std::string> out;
  const auto sources = call("loadedSources");
  if (!sources.ok()) return out;
  for (const Json& s : sources->value("sources", Json::array())) {
    const auto l = listing(text_in(s, "path"));
    if (!l.ok()) continue;
    for (const Json& text : (*l)["texts"]) {
      const std::string line = text.get<std::string>();
      for (const auto& [begins, keeps] : {std::pair<std::string_view, size_t>{"func @", 1}, {"OP_CALL ", 0}}) {
        const size_t at = line.find(begins);
        if (at == std::string::npos || line.find_first_not_of(' ') != at) continue;
        const size_t name = at + begins.size() - keeps;
        if (const size_t end = line.find('(', name); end != std::string::npos) out.insert(line.substr(name, end - name));
      }
    }
  }
  return out;
}

std::vector<std::string> DebugConsole::completions(const std::string& line) {
  std::vector<std::string> out;
  const size_t space = line.find(' ');
  if (space == std::string::npos) {
    for (const Command& c : commands())
      if (std::string_view(c.name).starts_with(line)) out.emplace_back(c.name);
    return out;
  }
  const auto [command, word] = split_word(line);
  const auto offer = [&, &typed = word](std::string_view name) {
    if (name.starts_with(typed)) out.push_back(line.substr(0, line.size() - typed.size()) + std::string(name));
  };
  if (command == "help" || command == "h") {
    for (const Command& c : commands()) offer(c.name);
    return out;
  }
  if (command == "info" || command == "i") {
    for (const char* what : {"registers", "call", "symbols", "constants", "breakpoints", "threads", "buffers", "program", "status"}) offer(what);
    return out;
  }
  if (std::string_view("break").starts_with(command) && (word.empty() || line.ends_with(' ' + word)) && word.find(' ') == std::string::npos) {
    for (const std::string& place : places()) offer(place);
    return out;
  }
  Json arguments{{"text", line}, {"column", line.size() + 1}};
  if (stop_of(thread_))
    if (const auto top = frame(); top.ok()) arguments["frameId"] = (*top)["id"];
  const auto found = call("completions", std::move(arguments));
  if (!found.ok()) return out;
  for (const Json& t : found->value("targets", Json::array()))
    out.push_back(line.substr(0, static_cast<size_t>(t.value("start", 0))) + text_in(t, "text"));
  return out;
}

}  // namespace msvm::cli
