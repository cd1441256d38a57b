// Events of the servers on their way to the client.
#include <string_view>

#include "observe/dap/merge/state.h"

namespace msvm::observe::dap::merge {
namespace {

int64_t number(const Json& body, const char* name, int64_t absent) {
  const auto at = body.find(name);
  return at != body.end() && at->is_number_integer() ? at->get<int64_t>() : absent;
}

}  // namespace

void python_event(State& s, const Json& message) {
  const std::string name = text_in(message, "event");
  Json body = body_of(message);
  if (name == "initialized") {
    if (!s.attached) {
      s.of(Side::kPython).ready = true;
      return s.event("initialized");
    }
    configure(s, Side::kPython);
    return begin_attached(s);
  }
  if (name == "stopped") return stopped(s, Side::kPython, std::move(body));
  if (name == "continued") return continued(s, Side::kPython, std::move(body));
  if (name == "breakpoint") return breakpoint_changed(s, Side::kPython, body);
  if (name == "thread") {
    const int64_t id = number(body, "threadId", -1);
    body["threadId"] = text_in(body, "reason") == "exited" ? s.threads.erase_python(id) : s.threads.of_python(id).id;
    return s.event("thread", std::move(body));
  }
  if (name == "output" || name == "module" || name == "invalidated" || name == "loadedSource") {
    if (name == "output" && text_in(body, "output").starts_with("Frame skipped from debugging")) return;  // ours, as a rule
    if (name == "output")
      if (auto failed = failed_condition(text_in(body, "output"))) {
        s.failed_condition = std::move(failed);  // the stop that follows tells it
        return;
      }
    ids_out(Side::kPython, body);
    return s.event(name.c_str(), std::move(body));
  }
  // The end is the process's, and told by it; the rest is between debugpy and its own adapter.
}

void bytecode_event(State& s, const Json& message) {
  const std::string name = text_in(message, "event");
  Json body = body_of(message);
  if (name == "initialized") return configure(s, Side::kBytecode);
  if (s.attached && !s.begun) return s.early.push_back(message);  // the client isn't ready for stops
  if (name == "stopped") return stopped(s, Side::kBytecode, std::move(body));
  if (name == "continued") return continued(s, Side::kBytecode, std::move(body));
  if (name == "breakpoint") return breakpoint_changed(s, Side::kBytecode, body);
  if (name == "exited" || name == "terminated" || name == "process") return;  // the process tells its own end
  if (name == "msvm/stepEnded" && s.of(Side::kPython).ready) return;          // Python stops at its next line
  if (const int64_t id = number(body, "threadId", -1); id >= 0) {
    body["threadId"] = s.threads.of_bytecode(id, number(body, "hostThread", -1)).id;
    body.erase("hostThread");
    if (name == "thread" && s.of(Side::kPython).open()) return;  // debugpy tells of threads
  }
  ids_out(Side::kBytecode, body);
  s.event(name.c_str(), std::move(body));
}

}  // namespace msvm::observe::dap::merge
