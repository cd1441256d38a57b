// Breakpoints: a line of Python may be debugpy's, or that of bytecode, so both are asked; one of them has it.
#include <algorithm>
#include <memory>

#include "observe/dap/capabilities.h"
#include "observe/dap/merge/state.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr const char* kExceptions = "exceptions";

bool is_ours(const Json& filter) {
  const std::string name = filter.is_string() ? filter.get<std::string>() : text_in(filter, "filterId");
  const auto& ours = exception_filters();
  return std::any_of(ours.begin(), ours.end(), [&](const auto& f) { return f.first == name; });
}

/// The arguments with the filters of one side.
Json filters_of(Side side, const Json& all) {
  Json out = all;
  for (const char* list : {"filters", "filterOptions"}) {
    const auto rows = all.find(list);
    if (rows == all.end() || !rows->is_array()) continue;
    Json kept = Json::array();
    for (const Json& f : *rows)
      if (is_ours(f) == (side == Side::kBytecode)) kept.push_back(f);
    out[list] = std::move(kept);
  }
  if (!out.contains("filters")) out["filters"] = Json::array();
  if (side == Side::kBytecode) out.erase("exceptionOptions");
  return out;
}

Json arguments_of(const BreakpointGroup& g, Side side) {
  if (g.command == "setExceptionBreakpoints") return filters_of(side, g.arguments);
  if (side == Side::kBytecode) return Breakpoints::moved(g).value_or(g.arguments);
  return g.arguments;
}

/// debugpy has answered: what it has taken without a look is looked at, and bytecode is told what it has moved.
void after_python(State& s, const std::string& key, const std::vector<int64_t>& ids, const std::function<void()>& done) {
  const auto here = [&s, key, ids] {
    BreakpointGroup* g = s.breakpoints.find(key);
    return g && g->ids == ids ? g : nullptr;
  };
  const BreakpointGroup* g = here();
  if (!g || ids.empty() || (g->command != "setBreakpoints" && g->command != "setFunctionBreakpoints")) return done();
  s.ask(Side::kPython, "evaluate", {{"expression", question_about(*g, s.program)}, {"context", "watch"}}, [&s, here, done](const Json& answer) {
    BreakpointGroup* now = here();
    if (!now) return done();
    if (succeeded(answer)) learn_from(text_in(body_of(answer), "result"), *now);
    const auto moved = Breakpoints::moved(*now);
    if (!moved || !now->asked[static_cast<int>(Side::kBytecode)] || !s.of(Side::kBytecode).ready) return done();
    s.ask(Side::kBytecode, now->command, *moved, [&s, here, done](const Json& found) {
      BreakpointGroup* last = here();
      if (last && succeeded(found)) s.breakpoints.answered(*last, Side::kBytecode, body_of(found));
      done();
    });
  });
}

/// Asks those whose business it is and who are ready; the client is answered when they have answered.
void set(State& s, const Request& r, const std::string& key, bool python, bool bytecode) {
  BreakpointGroup& g = s.breakpoints.set(key, r.command, r.arguments, python, bytecode);
  const auto finish = [&s, r, key] {
    const BreakpointGroup* now = s.breakpoints.find(key);
    if (r.command == "setExceptionBreakpoints") s.respond(r);
    else s.respond(r, {{"breakpoints", now ? s.breakpoints.rows(*now) : Json::array()}});
  };
  const auto left = std::make_shared<int>(1);
  const auto failed = std::make_shared<std::string>();
  const auto one_less = [&s, r, left, failed, finish] {
    if (--*left > 0) return;
    if (failed->empty()) finish();
    else s.fail(r, *failed);
  };
  for (const Side side : kSides) {
    if (!g.asked[static_cast<int>(side)] || !s.of(side).ready) continue;
    ++*left;
    s.ask(side, r.command, arguments_of(g, side), [&s, key, side, failed, one_less, ids = g.ids](const Json& answer) {
      BreakpointGroup* now = s.breakpoints.find(key);
      if (succeeded(answer)) {
        if (now && now->ids == ids) s.breakpoints.answered(*now, side, body_of(answer));
        if (side == Side::kPython) return after_python(s, key, ids, one_less);
      } else if (s.of(side).open()) {
        *failed = message_of(answer);
      }
      one_less();
    });
  }
  one_less();
}

bool is_python(const std::string& path) { return path.ends_with(".py") || path.ends_with(".pyw") || path.ends_with(".pyi"); }

}  // namespace

void set_breakpoints(State& s, const Request& r) {
  const auto source = Arguments(r.arguments).object("source");
  if (!source.ok()) return s.fail(r, source.status().message());
  const auto path = source->text("path", "");
  if (!path.ok()) return s.fail(r, path.status().message());
  const auto reference = source->integer("sourceReference", 0, INT64_MAX, 0);
  if (!reference.ok()) return s.fail(r, reference.status().message());
  if (*reference > 0) {  // a source without a file
    Request own = r;
    ids_in(own.arguments);
    return set(s, own, "source " + std::to_string(*reference), side_of(*reference) == Side::kPython, side_of(*reference) == Side::kBytecode);
  }
  if (path->empty()) return s.fail(r, "setBreakpoints: source.path: expected a path");
  set(s, r, *path, is_python(*path), true);
}

void set_function_breakpoints(State& s, const Request& r) { set(s, r, "functions", true, true); }
void set_instruction_breakpoints(State& s, const Request& r) { set(s, r, "instructions", false, true); }
void set_exception_breakpoints(State& s, const Request& r) { set(s, r, kExceptions, true, true); }

void breakpoint_locations(State& s, const Request& r) {
  const auto source = Arguments(r.arguments).object("source");
  const auto path = source.ok() ? source->text("path", "") : source.status();
  if (path.ok() && is_python(*path)) {  // any line may be one: debugpy moves it to the last one before it that has code
    const auto line = Arguments(r.arguments).integer("line", 0, std::numeric_limits<int32_t>::max());
    if (!line.ok()) return s.fail(r, line.status().message());
    return s.respond(r, {{"breakpoints", Json::array({{{"line", *line}}})}});
  }
  s.forward(Side::kBytecode, r);
}

void breakpoint_changed(State& s, Side side, const Json& body) {
  const auto b = body.find("breakpoint");
  if (b == body.end() || !b->is_object()) return;
  if (auto row = s.breakpoints.changed(side, *b)) s.event("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(*row)}});
}

void replay_breakpoints(State& s, Side side) {
  for (auto& [key, g] : s.breakpoints.groups()) {
    if (!g.asked[static_cast<int>(side)]) continue;
    s.ask(side, g.command, arguments_of(g, side), [&s, side, key = key, ids = g.ids](const Json& answer) {
      BreakpointGroup* now = s.breakpoints.find(key);
      if (!now || now->ids != ids || !succeeded(answer)) return;
      const Json before = s.breakpoints.rows(*now);
      s.breakpoints.answered(*now, side, body_of(answer));
      const auto tell = [&s, key, ids, before] {
        const BreakpointGroup* last = s.breakpoints.find(key);
        if (!last || last->ids != ids) return;
        const Json after = s.breakpoints.rows(*last);
        for (size_t k = 0; k < after.size(); ++k)
          if (after[k] != before[k]) s.event("breakpoint", {{"reason", "changed"}, {"breakpoint", after[k]}});
      };
      if (side == Side::kPython) after_python(s, key, ids, tell);
      else tell();
    });
  }
}

}  // namespace msvm::observe::dap::merge
