#include "observe/debug/process.h"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "observe/debug/watch.h"

namespace msvm::observe::debug {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);

/// Says when the thread ends.
struct Here {
  std::shared_ptr<Thread> thread;
  Debugger::Impl* debugger = nullptr;
  ~Here() {
    if (thread && !debugger->gone.load()) debugger->thread_ended(thread);
  }
};
thread_local Here here;

/// Of one program; its sessions hold it.
class Hook final : public DebugHook {
 public:
  Hook(Debugger::Impl& debugger, std::shared_ptr<ProgramMap> program) : debugger_(debugger), program_(std::move(program)) {}
  std::unique_ptr<RunWatch> begin(RunView& view) override { return debugger_.begin(program_, view); }

 private:
  Debugger::Impl& debugger_;
  const std::shared_ptr<ProgramMap> program_;
};

std::string thread_name(uint64_t handle) {
  char name[64] = {};
  return pthread_getname_np(static_cast<pthread_t>(handle), name, sizeof name) == 0 ? name : "";
}

/// A run that was cancelled while it was held.
class Cancelled final : public RunWatch {
 public:
  Status before(int32_t) override { return {StatusCode::kCancelled, "the run was cancelled"}; }
  Status after(int32_t) override { return {}; }
  Result<bool> interprets(int32_t) override { return false; }
  Status after_region(int32_t, const RegionEntry*) override { return {}; }
  void failing(int32_t, const Status&) override {}
  void ended(const Status&) override {}
};

}  // namespace

int& listener_depth() {
  thread_local int depth = 0;
  return depth;
}

std::shared_ptr<const Settings> Debugger::Impl::settings() {
  std::lock_guard lock(mutex);
  return published;
}

std::shared_ptr<Thread> Debugger::Impl::make_thread(uint64_t handle) {
  for (const auto& t : threads)
    if (t->handle == handle) return t;
  auto t = std::make_shared<Thread>();
  t->id = next_thread++;
  t->handle = handle;
  threads.push_back(t);
  return t;
}

std::shared_ptr<Thread> Debugger::Impl::this_thread(bool make) {
  if (here.thread || !make) return here.thread;
  const auto handle = static_cast<uint64_t>(::pthread_self());
  {
    std::lock_guard lock(mutex);
    here.thread = make_thread(handle);
    here.debugger = this;
  }
  {
    std::lock_guard lock(here.thread->mutex);
    here.thread->name = thread_name(handle);
  }
  here.thread->system_id = ::gettid();
  tell([&](Listener& l) { l.thread_began(here.thread->id); });
  return here.thread;
}

void Debugger::Impl::thread_ended(const std::shared_ptr<Thread>& t) {
  {
    std::lock_guard lock(mutex);
    std::erase(threads, t);
  }
  tell([&](Listener& l) { l.thread_ended(t->id); });
}

std::unique_ptr<RunWatch> Debugger::Impl::begin(const std::shared_ptr<ProgramMap>& program, RunView& view) {
  if (gone.load(std::memory_order_relaxed)) return nullptr;
  if (const auto t = this_thread(false)) {
    std::lock_guard lock(t->mutex);
    if (t->runs.empty()) t->cancel = false;  // what was meant for a run that has ended
  }
  const bool begins = view.clock() == 0;  // else the debugger comes in its midst
  if (begins && held.load(std::memory_order_relaxed)) {
    const auto t = this_thread(true);
    std::unique_lock lock(mutex);
    while (held) {
      released.wait_for(lock, kPoll);
      lock.unlock();  // the host may want a lock of its own
      bool ends = t->cancel.exchange(false);
      for (int k = 0; k < 8 && !ends; ++k) ends = view.should_stop();
      if (ends) return std::make_unique<Cancelled>();
      lock.lock();
    }
  }
  if (!attached.load(std::memory_order_relaxed)) return nullptr;
  auto watch = std::make_unique<Watch>(*this, this_thread(true), program, view);
  tell([&](Listener& l) { l.run_began(this_thread(false)->id, watch->place()); });
  return watch;
}

// --- for callers -------------------------------------------------------------------------------------------------------

std::shared_ptr<Thread> Debugger::Impl::thread(ThreadId id) {
  std::lock_guard lock(mutex);
  for (const auto& t : threads)
    if (t->id == id) return t;
  return nullptr;
}

std::vector<std::shared_ptr<Thread>> Debugger::Impl::all_threads() {
  std::lock_guard lock(mutex);
  return threads;
}

std::shared_ptr<ProgramMap> Debugger::Impl::program(uint64_t number) {
  std::lock_guard lock(mutex);
  for (const auto& p : programs)
    if (p->number == number) return p;
  return nullptr;
}

void Debugger::Impl::publish() {
  auto s = std::make_shared<Settings>();
  s->stops = stops;
  s->native = native;
  for (const auto& p : programs) s->armed[p->number] = breakpoints.armed(*p);
  published = std::move(s);
  epoch.fetch_add(1, std::memory_order_release);
}

std::vector<std::shared_ptr<Executable>> Debugger::Impl::put_hooks(bool in) {
  std::vector<std::shared_ptr<Executable>> kept;
  for (const auto& p : programs)
    if (auto e = p->executable()) {
      put_hook(p, *e, in);
      kept.push_back(std::move(e));
    }
  return kept;
}

void Debugger::Impl::put_hook(const std::shared_ptr<ProgramMap>& p, Executable& e, bool in) {
  if (!in) {
    e.set_debug_hook(nullptr);
    e.set_patch_listener(nullptr);
    return;
  }
  std::shared_ptr<DebugHook> hook = p->hook.lock();  // a run that has it keeps what it knows
  if (!hook) p->hook = hook = std::make_shared<Hook>(*this, p);
  e.set_debug_hook(std::move(hook));
  e.set_patch_listener([this, p](const PatchNotice& n) {
    if (gone.load()) return;
    p->version.fetch_add(1);
    Patch patch;
    patch.program = p->number;
    patch.name = p->name;
    patch.function = n.function;
    patch.region = n.region;
    patch.signature = n.alias.empty() ? n.name : n.alias;
    patch.old_tier = n.old_tier;
    patch.new_tier = n.new_tier;
    patch.address = p->address(n.function, n.begin);
    patch.text = fmt::format("region {} of @{}: tier {} -> {}", n.region, p->functions()[static_cast<size_t>(n.function)].name, n.old_tier, n.new_tier);
    if (!patch.signature.empty()) patch.text += " (" + patch.signature + ")";
    tell([&](Listener& l) { l.patched(patch); });
  });
}

std::vector<std::shared_ptr<Executable>> Debugger::Impl::alive() {
  std::vector<std::shared_ptr<Executable>> out;
  for (const auto& p : programs)
    if (auto e = p->executable()) out.push_back(std::move(e));
  return out;
}

std::vector<ProgramInfo> Debugger::Impl::tidy() {
  std::vector<ProgramInfo> gone_now;
  std::erase_if(programs, [&](const auto& p) {
    if (p->loaded()) return false;
    gone_now.push_back({.program = p->number, .name = p->name, .loaded = false});
    return true;
  });
  return gone_now;
}

std::vector<Breakpoint> Debugger::Impl::replace(BreakKind kind, const std::string& name, uint64_t number, std::vector<BreakpointTable::Wanted> wanted) {
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(mutex);
  kept = alive();
  auto out = breakpoints.replace(kind, name, number, std::move(wanted), programs);
  publish();
  return out;
}

}  // namespace msvm::observe::debug
