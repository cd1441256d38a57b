#include "observe/debug/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "observe/debug/elements.h"
#include "observe/debug/evaluate.h"

namespace msvm::observe::debug {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr int kPollsOfControl = 8;  // RunControl looks at its host's clock at each eighth poll

Status cancelled() { return {StatusCode::kCancelled, "the run was cancelled"}; }

}  // namespace

Watch::Watch(Debugger::Impl& debugger, std::shared_ptr<Thread> thread, std::shared_ptr<ProgramMap> program, RunView& view)
    : debugger_(debugger), thread_(std::move(thread)), program_(std::move(program)), view_(view) {
  begins_ = view_.clock() == 0;
  if (!begins_) since_ = view_.clock();
  std::lock_guard lock(thread_->mutex);
  // A step into an operator of the host that runs a program stops there.
  if (!thread_->runs.empty() && thread_->runs.back()->mode() == Command::kIn) mode_ = Command::kIn;
  thread_->runs.push_back(this);
}

Watch::~Watch() {
  if (debugger_.gone.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(thread_->mutex);
  std::erase(thread_->runs, this);
}

void Watch::refresh() {
  epoch_ = debugger_.epoch.load(std::memory_order_acquire);
  settings_ = debugger_.settings();
  const auto it = settings_->armed.find(program_->number);
  armed_ = it == settings_->armed.end() ? nullptr : it->second;
}

Stop Watch::stop_at(StopReason reason, int32_t instruction, std::string text) const {
  Stop s;
  s.thread = thread_->id;
  s.reason = reason;
  s.text = std::move(text);
  s.place = {program_->number, view_.function(), instruction};
  return s;
}

bool Watch::steps_here() const {
  return mode_ == Command::kIn || mode_ == Command::kOver;
}

Status Watch::before(int32_t instruction) {
  if (off()) {
    mode_ = Command::kGo;  // a step isn't there for whoever attaches next
    return {};
  }
  if (epoch_ != debugger_.epoch.load(std::memory_order_acquire)) refresh();
  const bool first = std::exchange(first_, false);
  const bool marked = armed_ && armed_->at(view_.function(), instruction);
  if (!first && !marked && mode_ == Command::kGo && !thread_->pause.load(std::memory_order_relaxed) && !thread_->cancel.load(std::memory_order_relaxed)) [[likely]] return {};
  if (thread_->cancel.exchange(false)) return cancelled();
  waited_at_ = -1;
  bool asked = false, paused = false;
  auto take = [](std::atomic<bool>& flag) { return flag.load(std::memory_order_relaxed) && flag.exchange(false); };
  if (first) {
    paused = take(debugger_.pause_any_run);
    if (begins_) {
      asked = take(thread_->stop_at_run);
      asked |= take(debugger_.stop_at_any_run);
      asked |= paused || settings_->stops.entry;
    } else {
      paused |= debugger_.pause_joining.load(std::memory_order_relaxed);
    }
  }
  if (marked)
    if (auto s = breakpoint(instruction)) return wait(std::move(*s));
  if (asked) return wait(stop_at(StopReason::kEntry, instruction));
  if (take(thread_->pause) || paused) return wait(stop_at(StopReason::kPause, instruction));
  if (steps_here()) return wait(stop_at(StopReason::kStep, instruction));
  return {};
}

std::optional<Stop> Watch::breakpoint(int32_t instruction) {
  std::optional<Stop> stop;
  for (const Armed::At& at : armed_->list) {
    if (at.place.function != view_.function() || at.place.instruction != instruction) continue;
    BreakRule& rule = *at.rule;
    std::string trouble;
    if (rule.condition) {
      auto held = holds(*rule.condition, &view_);
      if (!held.ok()) trouble = "the condition can't be evaluated: " + held.status().message();
      else if (!*held) continue;
    }
    const uint64_t hits = rule.hits.fetch_add(1, std::memory_order_relaxed) + 1;
    if (trouble.empty() && !rule.hit.holds(hits)) continue;
    if (trouble.empty() && rule.log) {
      debugger_.tell([&](Listener& l) { l.output("console", log_text(*rule.log) + "\n"); });
      continue;
    }
    if (!stop) stop = stop_at(rule.kind == BreakKind::kAddress ? StopReason::kInstructionBreakpoint : StopReason::kBreakpoint, instruction);
    stop->breakpoints.push_back(rule.id);
    if (!trouble.empty()) stop->text = trouble;
  }
  return stop;
}

std::string Watch::log_text(const LogTemplate& t) const {
  std::string text;
  for (const auto& [plain, expression] : t.parts) {
    text += plain;
    if (!expression) continue;
    auto v = evaluate(*expression, &view_);
    text += v.ok() ? v->text : "{" + v.status().message() + "}";
  }
  return text;
}

Status Watch::after(int32_t instruction) {
  if (off() || !settings_) return {};
  if (settings_->stops.fallback)
    if (const auto report = view_.report(instruction); report && report->fallback)
      MSVM_RETURN_IF_ERROR(wait(stop_at(StopReason::kFallback, instruction, fmt::format("{} took the slow path: {} served in place of a kernel that is missing", view_.instr(instruction).text, report->kernel))));
  return settings_->stops.nan ? check_values() : Status();
}

/// Of what was just written; only results of calls and copies can bring NaN in.
Status Watch::check_values() {
  for (Reg r : view_.written()) {
    if (view_.code().regs[static_cast<size_t>(r)].type.kind != RegKind::kTensor) continue;
    const RegisterLook look = view_.look(r);
    if (!look.readable() || look.instruction < 0 || view_.instr(look.instruction).op != Opcode::kOpCall) continue;
    const TensorMeta& m = view_.tensor(r);
    if (!is_float(m.dtype)) continue;
    std::string found;
    if (m.device.kind == DeviceKind::kCpu) found = first_not_finite(m);
    else if (auto copy = view_.copy(m); copy.ok()) found = first_not_finite(copy->meta);
    if (found.empty()) continue;
    const std::string& name = view_.code().regs[static_cast<size_t>(r)].name;
    return wait(stop_at(StopReason::kNan, look.instruction, fmt::format("{} gave R{}{}: {}", view_.instr(look.instruction).text, r, name.empty() ? "" : " (" + name + ")", found)));
  }
  return {};
}

const std::vector<int32_t>& Watch::regions() {
  if (!regions_) regions_ = view_.regions();
  return *regions_;
}

Result<bool> Watch::interprets(int32_t region) {
  if (off() || !settings_) return false;
  const auto& of = regions();
  std::vector<int32_t> within;  // breakpoints behind its first instruction
  if (armed_ && armed_->any(view_.function()))
    for (const Armed::At& at : armed_->list)
      if (at.place.function == view_.function() && at.place.instruction != view_.instruction() && of[static_cast<size_t>(at.place.instruction)] == region) within.push_back(at.place.instruction);
  if (settings_->native == Native::kStepDown) {
    const bool steps = mode_ == Command::kIn;
    return steps || !within.empty() || settings_->stops.nan;
  }
  if (!within.empty() && view_.has_code(region) && waited_at_ != view_.instruction()) {
    std::optional<Stop> stop;
    for (int32_t at : within) {
      auto s = breakpoint(at);
      if (!s) continue;
      if (!stop) stop = std::move(s);
      else stop->breakpoints.insert(stop->breakpoints.end(), s->breakpoints.begin(), s->breakpoints.end());
    }
    if (stop) {
      stop->place.instruction = view_.instruction();
      stop->text = fmt::format("within native code of region {}, which runs as one", region) + (stop->text.empty() ? "" : "; " + stop->text);
      MSVM_RETURN_IF_ERROR(wait(std::move(*stop)));
      if (settings_->native == Native::kStepDown) return mode_ == Command::kIn;  // it was set meanwhile
    }
  }
  return false;
}

Status Watch::after_region(int32_t region, const RegionEntry* entry) {
  if (off() || !settings_) return {};
  if (!entry) {
    if (!settings_->stops.fallback) return {};
    return wait(stop_at(StopReason::kFallback, view_.instruction(), fmt::format("region {} has native code, but none for these sizes: it is interpreted", region)));
  }
  return settings_->stops.nan ? check_values() : Status();
}

void Watch::failing(int32_t instruction, const Status& status) {
  if (off()) return;
  if (epoch_ != debugger_.epoch.load(std::memory_order_acquire)) refresh();
  if (status.code() == StatusCode::kCancelled || !settings_->stops.failure) return;
  Stop s = stop_at(StopReason::kFailure, instruction, status.message());
  s.fix = fix_of(status, view_);
  (void)wait(std::move(s));  // it ends anyway
}

void Watch::ended(const Status& status) {
  if (debugger_.gone.load(std::memory_order_relaxed)) return;
  const bool steps = mode_ != Command::kGo;
  bool outermost = false;
  {
    std::lock_guard lock(thread_->mutex);
    std::erase(thread_->runs, this);
    outermost = thread_->runs.empty();
    // A step that leaves an inner run stops in the one around it.
    if (steps && !outermost) thread_->runs.back()->set_mode(Command::kIn);
    thread_->cancel.store(false);
  }
  debugger_.tell([&](Listener& l) {
    l.run_ended(thread_->id, place(), status);
    if (steps && outermost) l.step_ended(thread_->id);
  });
}

// RunControl may want a lock of its host's, which whoever looks at registers may hold: it is asked without the thread's mutex.
Status Watch::wait(Stop stop) {
  waited_at_ = stop.place.instruction;
  Thread& t = *thread_;
  mode_ = Command::kGo;
  {
    std::lock_guard lock(t.mutex);
    t.stop = stop;
    t.command = Command::kNone;
  }
  debugger_.tell([&](Listener& l) { l.stopped(stop); });
  Status result;
  Command command = Command::kGo;
  for (;;) {
    {
      std::unique_lock lock(t.mutex);
      t.wake.wait_for(lock, kPoll, [&] { return t.command != Command::kNone || t.cancel.load() || off(); });
      if (off() && t.command == Command::kNone) t.command = Command::kGo;
      if (t.command != Command::kNone) {
        command = t.command;
        break;
      }
    }
    bool ends = t.cancel.exchange(false);
    for (int k = 0; k < kPollsOfControl && !ends; ++k) ends = view_.should_stop();
    if (!ends) continue;
    result = cancelled();
    break;
  }
  if (debugger_.gone.load(std::memory_order_relaxed)) return {};
  {
    std::lock_guard lock(t.mutex);
    t.stop.reset();
    t.command = Command::kNone;
    since_ = view_.clock();
    mode_ = command;
  }
  debugger_.tell([&](Listener& l) { l.resumed(t.id); });
  if (!off() && epoch_ != debugger_.epoch.load(std::memory_order_acquire)) refresh();
  return result;
}

}  // namespace msvm::observe::debug
