#include "observe/dap/handles.h"

#include <fmt/format.h>

namespace msvm::observe::dap {
namespace {

constexpr size_t kMostKept = 50'000;

}  // namespace

uint64_t Handles::epoch(debug::ThreadId thread) {
  std::lock_guard lock(mutex_);
  return epochs_[thread];
}

void Handles::thread_goes_on(debug::ThreadId thread) {
  std::lock_guard lock(mutex_);
  ++epochs_[thread];
}

int64_t Handles::add(Frame frame) { return add(Entry{frame.at.thread, epoch(frame.at.thread), frame, {}}); }
int64_t Handles::add(debug::ThreadId thread, Variables variables) { return add(Entry{thread, epoch(thread), {}, std::move(variables)}); }

int64_t Handles::add(Entry entry) {
  if (entries_.size() >= kMostKept) tidy();
  entries_.emplace(++last_, std::move(entry));
  return last_;
}

/// First those that mean nothing any more, then, if that doesn't help, the older half.
void Handles::tidy() {
  std::erase_if(entries_, [this](const auto& e) { return e.second.epoch != epoch(e.second.thread); });
  while (entries_.size() >= kMostKept / 2) entries_.erase(entries_.begin());
}

Result<Handles::Entry*> Handles::find(int64_t id, const char* what) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return Status(StatusCode::kNotFound, fmt::format("{} {}: there is none with this number", what, id));
  if (at->second.epoch != epoch(at->second.thread)) {
    const auto thread = at->second.thread;
    entries_.erase(at);
    return invalid_argument(fmt::format("{} {}: thread {} has gone on since: ask for its stack again", what, id, thread));
  }
  return &at->second;
}

Result<Frame> Handles::frame(int64_t id) {
  MSVM_ASSIGN_OR_RETURN(const Entry* e, find(id, "frameId"));
  if (!e->frame) return Status(StatusCode::kNotFound, fmt::format("frameId {}: there is none with this number", id));
  return *e->frame;
}

Result<Variables> Handles::variables(int64_t id) {
  MSVM_ASSIGN_OR_RETURN(const Entry* e, find(id, "variablesReference"));
  if (e->frame) return Status(StatusCode::kNotFound, fmt::format("variablesReference {}: there is none with this number", id));
  return e->variables;
}

}  // namespace msvm::observe::dap
