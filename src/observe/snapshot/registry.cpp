#include "observe/snapshot/registry.h"

#include "msvm/device/peak.h"

namespace msvm::observe {
namespace {

constexpr Device kHost{};

double seconds_of(Rates::Clock::time_point t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }

EngineSnapshot engine_snapshot(int id, Engine& engine) {
  EngineSnapshot s;
  s.id = id;
  s.device = to_string(kHost);
  const auto db = engine.capability_db();
  s.isa = isa_name(db->hardware.isa);
  s.threads = engine.workers().threads();
  s.peak_gflops = db->hardware.peak_gflops_f32 > 0 ? db->hardware.peak_gflops_f32 : s.threads * measured_peak_gflops();
  s.queue = engine.jit_queue();
  s.memory = engine.memory_stats();
  s.notes = engine.notes();
  return s;
}

}  // namespace

void Registry::tidy() {
  std::erase_if(engines_, [](const WatchedEngine& e) { return e.engine.expired(); });
  std::erase_if(programs_, [this](const WatchedProgram& p) {
    if (!p.program.expired()) return false;
    names_.erase(p.name);
    return true;
  });
}

std::string Registry::unique(const std::string& name) {
  std::string found = name.empty() ? "program" : name;
  const std::string first = found;
  for (int k = 2; !names_.insert(found).second; ++k) found = first + "#" + std::to_string(k);
  return found;
}

void Registry::add(const std::shared_ptr<Engine>& engine) {
  std::lock_guard lock(mutex_);
  tidy();
  for (const WatchedEngine& e : engines_)
    if (e.engine.lock() == engine) return;
  engines_.push_back({++last_engine_, engine, {}});
}

void Registry::add(const std::shared_ptr<Executable>& program, const std::string& name) {
  add(program->engine().shared_from_this());
  std::lock_guard lock(mutex_);
  programs_.push_back({++last_program_, unique(name), program, Rates(Rates::Clock::now()), {}});
}

std::shared_ptr<Executable> Registry::find(uint64_t id) {
  std::lock_guard lock(mutex_);
  for (const WatchedProgram& p : programs_)
    if (p.id == id) return p.program.lock();
  return nullptr;
}

std::vector<std::shared_ptr<Engine>> Registry::engines() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Engine>> out;
  for (const WatchedEngine& e : engines_)
    if (auto engine = e.engine.lock()) out.push_back(std::move(engine));
  return out;
}

// Views are made without the lock: a program that is loaded meanwhile waits for none of them. What they tell about the past is kept under it.
Snapshot Registry::take() {
  std::vector<std::pair<int, std::shared_ptr<Engine>>> engines;
  std::vector<std::tuple<uint64_t, std::string, std::shared_ptr<Executable>>> programs;
  {
    std::lock_guard lock(mutex_);
    tidy();
    for (const WatchedEngine& e : engines_)
      if (auto engine = e.engine.lock()) engines.emplace_back(e.id, std::move(engine));
    for (const WatchedProgram& p : programs_)
      if (auto program = p.program.lock()) programs.emplace_back(p.id, p.name, std::move(program));
  }
  Snapshot s;
  for (const auto& [id, engine] : engines) s.engines.push_back(engine_snapshot(id, *engine));
  for (const auto& [id, name, program] : programs) {
    ProgramSnapshot& p = s.programs.emplace_back();
    p.id = id;
    p.name = name;
    for (const auto& [engine_id, engine] : engines)
      if (engine.get() == &program->engine()) p.engine = engine_id;
    p.jit = program->jit_view();
    p.latency = program->latency();
    p.work = program->work();
    p.counters = program->counters();
    p.notes = program->notes();
  }
  s.time = std::chrono::system_clock::now();
  const auto now = Rates::Clock::now();
  std::lock_guard lock(mutex_);
  for (EngineSnapshot& e : s.engines)
    for (WatchedEngine& w : engines_)
      if (w.id == e.id) {
        w.growth.add(seconds_of(now), e.memory);
        e.memory_hint = w.growth.hint();
        if (!e.memory_hint.empty()) e.growing_since = s.time - std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds_of(now) - w.growth.since()));
      }
  for (ProgramSnapshot& p : s.programs)
    for (WatchedProgram& w : programs_)
      if (w.id == p.id) {
        p.rates = w.rates.look(now, p.latency, p.work);
        if (p.jit.hint.empty()) w.low_since.reset();
        else if (!w.low_since) w.low_since = s.time;
        p.low_since = w.low_since;
      }
  last_ = std::make_shared<const Snapshot>(s);
  return s;
}

std::shared_ptr<const Snapshot> Registry::recent(std::chrono::milliseconds age) {
  {
    std::lock_guard lock(mutex_);
    if (last_ && std::chrono::system_clock::now() - last_->time <= age) return last_;
  }
  return std::make_shared<const Snapshot>(take());
}

}  // namespace msvm::observe
