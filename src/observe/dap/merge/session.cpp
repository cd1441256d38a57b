#include "observe/dap/merge/session.h"

#include <fmt/format.h>

#include "observe/dap/merge/state.h"

namespace msvm::observe::dap::merge {
namespace {

using Handler = void (*)(State& s, const Request& r);

/// Where the thread waits; debugpy answers for those that run.
void by_thread(State& s, const Request& r) {
  const auto id = Arguments(r.arguments).integer("threadId", 0, std::numeric_limits<int32_t>::max());
  if (!id.ok()) return s.fail(r, fmt::format("{}: {}", r.command, id.status().message()));
  const Thread* t = s.threads.find(*id);
  if (!t) return s.fail(r, fmt::format("{}: there is no thread {}", r.command, *id));
  if (t->stopped) return s.forward(t->where, r);
  if (s.of(Side::kPython).ready && t->python >= 0) return s.forward(Side::kPython, r);
  s.fail(r, fmt::format("{}: thread {} runs", r.command, t->id));
}

/// By what the arguments name: a frame, a variable, a source.
void by_id(State& s, const Request& r) {
  if (const auto side = side_named(r.arguments)) return s.forward(*side, r);
  const auto source = Arguments(r.arguments).object("source");
  const auto path = source.ok() ? source->text("path", "") : source.status();
  if (path.ok() && path->starts_with("msvm:")) return s.forward(Side::kBytecode, r);
  s.forward(s.of(Side::kPython).ready ? Side::kPython : Side::kBytecode, r);
}

/// ms.vm.… is about programs, wherever it is asked. Without a frame: of bytecode where a thread waits in it.
void evaluate(State& s, const Request& r) {
  const auto text = Arguments(r.arguments).text(r.command == "completions" ? "text" : "expression", "");
  const auto side = side_named(r.arguments);
  if (text.ok() && text->starts_with("ms.vm.") && s.of(Side::kBytecode).ready) {
    Request own = r;
    if (side == Side::kPython) own.arguments.erase("frameId");
    return s.forward(Side::kBytecode, own);
  }
  if (side) return s.forward(*side, r);
  for (const auto& [id, t] : s.threads.all())
    if (t.stopped && t.where == Side::kBytecode) return s.forward(Side::kBytecode, r);
  s.forward(s.of(Side::kPython).ready ? Side::kPython : Side::kBytecode, r);
}

void loaded_sources(State& s, const Request& r) {
  if (s.of(Side::kBytecode).ready) s.forward(Side::kBytecode, r);
  else s.respond(r, {{"sources", Json::array()}});
}

void of_python(State& s, const Request& r) { s.forward(Side::kPython, r); }
void of_bytecode(State& s, const Request& r) { s.forward(Side::kBytecode, r); }

void begun_already(State& s, const Request& r) { s.fail(r, fmt::format("{}: the session has a program already", r.command)); }

struct Row {
  std::string_view command;
  Handler handler;
};
constexpr Row kRequests[] = {
    {"initialize", begun_already},
    {"launch", begun_already},
    {"attach", begun_already},
    {"configurationDone", configuration_done},
    {"terminate", terminate},
    {"disconnect", disconnect},
    {"setBreakpoints", set_breakpoints},
    {"setFunctionBreakpoints", set_function_breakpoints},
    {"setInstructionBreakpoints", set_instruction_breakpoints},
    {"setExceptionBreakpoints", set_exception_breakpoints},
    {"breakpointLocations", breakpoint_locations},
    {"threads", threads},
    {"continue", continue_},
    {"next", step},
    {"stepIn", step},
    {"stepOut", step},
    {"pause", pause},
    {"stackTrace", by_thread},
    {"exceptionInfo", by_thread},
    {"goto", by_thread},
    {"scopes", by_id},
    {"variables", by_id},
    {"setVariable", by_id},
    {"setExpression", by_id},
    {"stepInTargets", by_id},
    {"source", by_id},
    {"gotoTargets", by_id},
    {"evaluate", evaluate},
    {"completions", evaluate},
    {"loadedSources", loaded_sources},
    {"modules", of_python},
    {"disassemble", of_bytecode},
    {"readMemory", of_bytecode},
};

void handle(State& s, const Request& r) {
  if (r.command.starts_with("msvm/")) return of_bytecode(s, r);
  if (!r.arguments.is_object()) return s.fail(r, fmt::format("{}: arguments: expected an object, found {}", r.command, described(r.arguments)));
  for (const Row& row : kRequests)
    if (row.command == r.command) return row.handler(s, r);
  s.fail(r, fmt::format("there is no request \"{}\"", r.command));
}

std::optional<Request> request_of(const Json& message) {
  const Arguments m(message);
  const auto type = m.text("type", ""), command = m.text("command", "");
  const auto seq = m.integer("seq", 0, std::numeric_limits<int64_t>::max());
  if (!type.ok() || *type != "request" || !command.ok() || !seq.ok()) return {};
  const Json* arguments = m.find("arguments");
  return Request{*seq, *command, arguments ? *arguments : Json::object()};
}

class PythonSession final : public Peer {
 public:
  PythonSession(Output& client, Json initialize, const Json& request, std::function<void()> over) : state_(client, std::move(over)) {
    state_.initialize = std::move(initialize);
    if (auto r = request_of(request)) state_.loop.post([this, r = std::move(*r)] { r.command == "attach" ? begin_attach(state_, r) : begin_launch(state_, r); });
  }
  void receive(const Json& message) override {
    if (auto r = request_of(message)) state_.loop.post([this, r = std::move(*r)] { handle(state_, r); });
  }

 private:
  State state_;
};

}  // namespace

std::unique_ptr<Peer> python_session(Output& client, Json initialize_arguments, const Json& request, std::function<void()> over) {
  return std::make_unique<PythonSession>(client, std::move(initialize_arguments), request, std::move(over));
}

}  // namespace msvm::observe::dap::merge
