// Threads that stop and go on, on one side or the other. A thread that waits in bytecode is in the middle of a call for debugpy.
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "observe/dap/merge/state.h"

namespace msvm::observe::dap::merge {
namespace {

Thread* thread_of(State& s, const Request& r) {
  const auto id = Arguments(r.arguments).integer("threadId", 0, std::numeric_limits<int32_t>::max());
  if (!id.ok()) {
    s.fail(r, fmt::format("{}: {}", r.command, id.status().message()));
    return nullptr;
  }
  Thread* t = s.threads.find(*id);
  if (!t) s.fail(r, fmt::format("{}: there is no thread {}", r.command, *id));
  return t;
}

/// The next run of the thread stops at its first instruction, or not any more.
void arm(State& s, Thread& t, bool on, std::function<void()> then = nullptr) {
  t.armed = on;
  if (!s.of(Side::kBytecode).ready) {  // if the server comes meanwhile, it is told then
    if (then) then();
    return;
  }
  Json arguments{{"on", on}};
  if (t.bytecode >= 0) arguments["threadId"] = t.bytecode;
  else arguments["hostThread"] = t.python;
  s.ask(Side::kBytecode, "msvm/stopAtNextRun", std::move(arguments), [then](const Json&) {
    if (then) then();
  });
}

/// Goes on; what comes is a stop, or nothing.
void leave(Thread& t) {
  if (t.stopped && t.where == Side::kPython) t.leaving = true;
  t.stopped = t.pausing = false;
}

/// Asks debugpy for a pause of a thread that runs, and calls `then`.
void pause_python(State& s, Thread& t, std::function<void()> then) {
  if (t.leaving) {
    t.left = [&s, id = t.id, then = std::move(then)] {
      if (Thread* now = s.threads.find(id)) pause_python(s, *now, then);
      else then();
    };
    return;
  }
  s.ask(Side::kPython, "pause", {{"threadId", t.python}}, [then = std::move(then)](const Json&) { then(); });
}

Json no_pause(const Thread& t) { return {{"threadId", t.bytecode}, {"on", false}}; }

void step_in_python(State& s, const Request& r, Thread& t) {
  leave(t);
  t.pending = Pending::kStep;
  const bool into = r.command == "stepIn" && !r.arguments.contains("targetId");
  // What bytecode's server is told, it is told before debugpy lets the thread go.
  const auto go = [&s, r] { s.forward(Side::kPython, r); };
  const auto arm_and_go = [&s, id = t.id, into, go] {
    Thread* now = s.threads.find(id);
    if (into && now) arm(s, *now, true, go);
    else go();
  };
  if (std::exchange(t.taken_back, false)) s.ask(Side::kBytecode, "pause", no_pause(t), [arm_and_go](const Json&) { arm_and_go(); });
  else arm_and_go();
}

void step_in_bytecode(State& s, const Request& r, Thread& t) {
  leave(t);
  const auto go = [&s, r] { s.forward(Side::kBytecode, r); };
  // The run may end with this step: then Python stops at its next line.
  if (t.pending != Pending::kNone || t.python < 0 || !s.of(Side::kPython).ready) return go();
  t.pending = Pending::kBack;
  pause_python(s, t, go);
}

/// Asks for each, and calls `then` when all have answered.
struct Ask {
  Side side;
  std::string command;
  Json arguments;
};
void ask_all(State& s, std::vector<Ask> asks, std::function<void()> then) {
  const auto left = std::make_shared<size_t>(asks.size() + 1);
  const auto one_less = [left, then = std::move(then)](const Json&) {
    if (--*left == 0) then();
  };
  for (Ask& a : asks) s.ask(a.side, a.command, std::move(a.arguments), one_less);
  one_less({});
}

/// What a server answered to `threads`; `row(id, name, host's id or -1)`.
void for_each_row(const Json& response, const std::function<void(int64_t, const std::string&, int64_t)>& row) {
  const Json body = body_of(response);
  const auto list = Arguments(body).objects("threads");
  if (!list.ok()) return;
  for (const Arguments& r : *list) {
    const auto id = r.integer("id", 0, std::numeric_limits<int32_t>::max());
    const auto name = r.text("name", "");
    const auto host = r.integer("hostThread", -1, std::numeric_limits<int32_t>::max(), -1);
    if (id.ok() && name.ok() && host.ok()) row(*id, *name, *host);
  }
}

}  // namespace

void threads(State& s, const Request& r) {
  const auto rows = std::make_shared<std::map<int64_t, std::string>>();
  const auto answer = [&s, r, rows] {
    Json list = Json::array();
    for (const auto& [id, name] : *rows) list.push_back({{"id", id}, {"name", name}});
    s.respond(r, {{"threads", std::move(list)}});
  };
  const auto add = [&s, rows](Side side, const Json& response) {
    for_each_row(response, [&](int64_t id, const std::string& name, int64_t host) {
      const Thread& t = side == Side::kPython ? s.threads.of_python(id) : s.threads.of_bytecode(id, s.of(Side::kPython).open() ? host : -1);
      rows->emplace(t.id, name);  // debugpy's name first
    });
  };
  const auto left = std::make_shared<int>(1);
  const auto one_less = [left, answer] {
    if (--*left == 0) answer();
  };
  for (const Side side : kSides) {
    if (!s.of(side).ready) continue;
    ++*left;
    s.ask(side, "threads", Json::object(), [side, add, one_less](const Json& response) {
      add(side, response);
      one_less();
    });
  }
  one_less();
}

void continue_(State& s, const Request& r) {
  Thread* asked = thread_of(s, r);
  if (!asked) return;
  const auto single = Arguments(r.arguments).flag("singleThread", false);
  if (!single.ok()) return s.fail(r, single.status().message());
  // What the other side would still stop at is taken back before a thread goes on.
  std::vector<Ask> first, then;
  for (auto& [id, t] : s.threads.all()) {
    if (!t.stopped || (*single && &t != asked)) continue;
    const bool in_bytecode = t.where == Side::kBytecode;
    Ask python{Side::kPython, "continue", {{"threadId", t.python}, {"singleThread", true}}};
    if (!in_bytecode && std::exchange(t.taken_back, false)) {
      first.push_back({Side::kBytecode, "pause", no_pause(t)});
      then.push_back(std::move(python));
    } else if (!in_bytecode || t.pending != Pending::kNone) {
      first.push_back(std::move(python));
    }
    if (in_bytecode) then.push_back({Side::kBytecode, "continue", {{"threadId", t.bytecode}, {"singleThread", true}}});
    leave(t);
    t.pending = Pending::kNone;
  }
  ask_all(s, std::move(first), [&s, r, then = std::move(then), single = *single] {
    ask_all(s, then, [&s, r, single] { s.respond(r, {{"allThreadsContinued", !single}}); });
  });
}

void step(State& s, const Request& r) {
  Thread* t = thread_of(s, r);
  if (!t) return;
  if (!t->stopped) return s.fail(r, fmt::format("{}: thread {} runs", r.command, t->id));
  if (t->where == Side::kPython) step_in_python(s, r, *t);
  else step_in_bytecode(s, r, *t);
}

/// Threads whose first run is still to come aren't known here: bytecode's server is asked for all of its own.
void pause_all(State& s, const Request& r) {
  s.respond(r);
  const auto pause_known = [&s] {
    for (auto& [id, t] : s.threads.all()) {
      if (t.stopped) continue;
      t.pausing = true;
      if (s.of(Side::kPython).ready && t.python >= 0) pause_python(s, t, [] {});
    }
  };
  // Of threads that ran before the session debugpy tells only when it is asked.
  if (s.of(Side::kPython).ready) s.ask(Side::kPython, "threads", Json::object(), [&s, pause_known](const Json& answer) {
    for_each_row(answer, [&s](int64_t id, const std::string&, int64_t) { (void)s.threads.of_python(id); });
    pause_known();
  });
  else pause_known();
  if (s.of(Side::kBytecode).ready) s.ask(Side::kBytecode, "pause", {{"threadId", 0}});
}

void pause(State& s, const Request& r) {
  if (const auto id = Arguments(r.arguments).integer("threadId", 0, std::numeric_limits<int32_t>::max()); id.ok() && *id == 0) return pause_all(s, r);
  Thread* t = thread_of(s, r);
  if (!t) return;
  if (t->stopped) return s.respond(r);
  // Where it runs isn't known here: both are asked, and what the other was asked is taken back when it stops.
  const bool in_python = s.of(Side::kPython).ready && t->python >= 0, in_bytecode = s.of(Side::kBytecode).ready && t->bytecode >= 0;
  if (!in_python && !in_bytecode) return s.fail(r, fmt::format("pause: thread {} is gone", t->id));
  t->pausing = true;
  s.respond(r);
  if (in_python) pause_python(s, *t, [] {});
  if (in_bytecode) s.ask(Side::kBytecode, "pause", {{"threadId", t->bytecode}});
}

namespace {

/// What follows from a stop at a breakpoint; the client's id of it.
int64_t hit_breakpoint(State& s, Side side, int64_t id, Json& body) {
  if (auto row = s.breakpoints.met(side, id)) s.event("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(*row)}});
  if (side == Side::kPython && s.failed_condition && text_in(s.breakpoints.asked_for(side, id), "condition").starts_with(s.failed_condition->condition))
    body["text"] = "the condition can't be evaluated: " + std::exchange(s.failed_condition, {})->error;
  return s.breakpoints.own_id(side, id);
}

}  // namespace

void stopped(State& s, Side side, Json body) {
  const Arguments a(body);
  const auto id = a.integer("threadId", 0, std::numeric_limits<int32_t>::max());
  const auto host = a.integer("hostThread", -1, std::numeric_limits<int32_t>::max(), -1);
  if (!id.ok() || !host.ok()) return;
  Thread& t = side == Side::kPython ? s.threads.of_python(*id) : s.threads.of_bytecode(*id, s.of(Side::kPython).open() ? *host : -1);
  const std::string reason = text_in(body, "reason");
  const auto call_it_a_step = [&body] {
    body["reason"] = "step";
    body["description"] = "Paused after a step";
    body.erase("preserveFocusHint");
  };
  if (side == Side::kPython) {
    t.leaving = false;
    t.left = nullptr;
    if (reason == "pause" && t.pending == Pending::kBack && !t.pausing) call_it_a_step();
    t.taken_back = t.pausing && t.bytecode >= 0;
    if (t.taken_back) s.ask(Side::kBytecode, "pause", no_pause(t));
    t.pending = Pending::kNone;
  } else {
    if (reason == "entry" && t.armed) call_it_a_step();
    if (t.pausing && t.python >= 0) t.pending = Pending::kBack;  // debugpy was asked, too: its pause is what ends a step out
  }
  if (t.armed) arm(s, t, false);
  t.stopped = true;
  t.pausing = false;
  t.where = side;
  body["threadId"] = t.id;
  body["allThreadsStopped"] = false;
  body.erase("hostThread");
  if (const auto hit = body.find("hitBreakpointIds"); hit != body.end() && hit->is_array())
    for (Json& b : *hit)
      if (b.is_number_integer()) b = hit_breakpoint(s, side, b.get<int64_t>(), body);
  s.event("stopped", std::move(body));
}

void continued(State& s, Side side, Json body) {
  const Arguments a(body);
  const auto id = a.integer("threadId", 0, std::numeric_limits<int32_t>::max());
  const auto host = a.integer("hostThread", -1, std::numeric_limits<int32_t>::max(), -1);
  if (!id.ok() || !host.ok()) return;
  Thread& t = side == Side::kPython ? s.threads.of_python(*id) : s.threads.of_bytecode(*id, s.of(Side::kPython).open() ? *host : -1);
  if (side == Side::kPython && std::exchange(t.leaving, false))
    if (const auto left = std::exchange(t.left, nullptr)) left();
  if (!t.stopped || t.where != side) return;  // the client has asked for it
  leave(t);
  s.event("continued", {{"threadId", t.id}, {"allThreadsContinued", false}});
}

}  // namespace msvm::observe::dap::merge
