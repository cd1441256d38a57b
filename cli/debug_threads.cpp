// Threads of the console: they stop one by one, one is the current one, and `continue` lets all go whose stops were shown.
#include <fmt/core.h>

#include <algorithm>

#include "common.h"
#include "debug_console.h"

namespace msvm::cli {

void DebugConsole::thread_stopped(const Json& body) {
  const int64_t thread = body.value("threadId", int64_t{0});
  thread_goes_on(thread);
  stops_.push_back({thread, body});
}

void DebugConsole::thread_goes_on(int64_t thread) {
  std::erase_if(stops_, [&](const ThreadStop& s) { return s.thread == thread; });
}

DebugConsole::ThreadStop* DebugConsole::stop_of(int64_t thread) {
  const auto at = std::ranges::find(stops_, thread, &ThreadStop::thread);
  return at == stops_.end() ? nullptr : &*at;
}

DebugConsole::ThreadStop* DebugConsole::unshown(int64_t stepping) {
  ThreadStop* s = stop_of(stepping);
  if (s && !s->shown) return s;
  const auto at = std::ranges::find_if(stops_, [&](const ThreadStop& x) { return !x.shown && !(stepping && x.told); });
  return at == stops_.end() ? nullptr : &*at;
}

Status DebugConsole::read_threads() {
  MSVM_ASSIGN_OR_RETURN(const Json body, call("threads"));
  threads_.clear();
  for (const Json& t : body.value("threads", Json::array())) threads_[t.value("id", int64_t{0})] = text_in(t, "name");
  for (const auto& [id, name] : threads_) (void)number_of(id);
  return {};
}

int64_t DebugConsole::number_of(int64_t thread) {
  const auto at = std::ranges::find(numbered_, thread);
  const int64_t n = at - numbered_.begin() + 1;
  if (at == numbered_.end()) numbered_.push_back(thread);
  return n;
}

Result<int64_t> DebugConsole::thread_of_number(const std::string& text) {
  const auto n = number(text);
  if (!n) return expected("the number of a thread", text);
  const auto known = [&] { return *n >= 1 && *n <= static_cast<int64_t>(numbered_.size()); };
  if (!known()) MSVM_RETURN_IF_ERROR(read_threads());
  if (!known() || ended_.contains(numbered_[static_cast<size_t>(*n - 1)])) return invalid_argument(fmt::format("there is no thread {}: `info threads` lists them", *n));
  return numbered_[static_cast<size_t>(*n - 1)];
}

std::string DebugConsole::thread_text(int64_t thread) {
  const auto at = threads_.find(thread);
  return fmt::format("thread {}{}", number_of(thread), at == threads_.end() || at->second.empty() ? "" : fmt::format(" ({})", printable(at->second)));
}

void DebugConsole::select(int64_t thread) {
  thread_ = thread;
  frame_ = 0;
  next_line_ = 0;
}

/// What became of a step that no stop follows. Another thread that waits is looked at now.
Status DebugConsole::show_left(const std::string& what) {
  (void)read_threads();  // names; a program that ends has none
  fmt::print("{}: {} {}.\n", what, thread_text(thread_), what == kThreadEnded ? "is gone" : "goes on");
  return select_waiting();
}

Status DebugConsole::select_waiting() {
  if (stops_.empty() || stop_of(thread_)) return {};
  if (ThreadStop* s = unshown(0)) return show_stop(*s);
  select(stops_.front().thread);
  fmt::print("{} waits: {}\n", thread_text(thread_), text_in(stops_.front().body, "reason"));
  return up_or_down(0);
}

/// Stops that came while the prompt was there: each is told once, and shown when it is selected, or by `continue`.
void DebugConsole::announce() {
  for (ThreadStop& s : stops_) {
    if (s.shown || s.told) continue;
    if (!threads_.contains(s.thread)) (void)read_threads();
    s.told = true;
    const std::string text = text_in(s.body, "text");
    fmt::print("[{} has stopped: {}{}{}; `thread {}` looks at it]\n", thread_text(s.thread), text_in(s.body, "reason"), text.empty() ? "" : ": ", printable(text), number_of(s.thread));
  }
}

Status DebugConsole::show_threads() {
  MSVM_RETURN_IF_ERROR(read_threads());
  for (const auto& [id, name] : threads_) {
    const ThreadStop* s = stop_of(id);
    fmt::print("{} {:<4} {:<20} {}\n", id == thread_ ? "*" : " ", number_of(id), printable(name), s ? "waits: " + text_in(s->body, "reason") : "runs");
  }
  return {};
}

Status DebugConsole::select_thread(const std::string& a) {
  MSVM_ASSIGN_OR_RETURN(const int64_t thread, thread_of_number(a));
  ThreadStop* s = stop_of(thread);
  if (!s) return invalid_argument(fmt::format("{} runs: `pause {}` stops it", thread_text(thread), a));
  if (!s->shown) return show_stop(*s);
  select(thread);
  return up_or_down(0);
}

/// All that were shown, or one. Stops that nobody has seen yet come next.
Status DebugConsole::go_on(const std::string& a) {
  if (over_) return need_stop();
  if (!a.empty()) {
    MSVM_ASSIGN_OR_RETURN(const int64_t thread, thread_of_number(a));
    if (!stop_of(thread)) return invalid_argument(fmt::format("{} doesn't wait", thread_text(thread)));
    MSVM_RETURN_IF_ERROR(let_go(thread));
    if (stops_.empty()) return wait(0);
    fmt::print("{} goes on.\n", thread_text(thread));
    return select_waiting();
  }
  std::vector<int64_t> go;
  for (const ThreadStop& s : stops_)
    if (s.shown || (s.told && text_in(s.body, "reason") == "pause")) go.push_back(s.thread);  // a pause of all says nothing new
  for (const int64_t thread : go) MSVM_RETURN_IF_ERROR(let_go(thread));
  return wait(0);
}

Status DebugConsole::let_go(int64_t thread) {
  const ThreadStop before = *stop_of(thread);
  thread_goes_on(thread);
  auto answer = call("continue", {{"threadId", thread}, {"singleThread", true}});
  if (!answer.ok()) stops_.push_back(before);
  return answer.status();
}

Status DebugConsole::pause(const std::string& a) {
  if (over_) return need_stop();
  int64_t thread = 0;
  if (!a.empty()) {
    MSVM_ASSIGN_OR_RETURN(thread, thread_of_number(a));
    if (stop_of(thread)) return invalid_argument(fmt::format("{} waits already", thread_text(thread)));
  } else if (!stops_.empty()) {
    return invalid_argument("the program waits already: `pause NUMBER` stops another thread");
  }
  MSVM_RETURN_IF_ERROR(call("pause", {{"threadId", thread}}).status());
  return wait(thread);
}

}  // namespace msvm::cli
