// The source of this process.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "observe/snapshot/bytecode_lines.h"
#include "observe/snapshot/disassembly.h"
#include "observe/snapshot/history.h"
#include "observe/snapshot/prometheus.h"
#include "observe/snapshot/registry.h"
#include "observe/snapshot/sampler.h"
#include "observe/snapshot/source.h"
#include "observe/snapshot/state_json.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostAlerts = 1000;

class ProcessSource final : public Source {
 public:
  ProcessSource() : sampler_([this] { sample(); }) {}

  // The child of a fork goes on using both; the thread that held them doesn't exist there.
  void hold() {
    registry.mutex().lock();
    mutex_.lock();
  }
  void let_go() {
    mutex_.unlock();
    registry.mutex().unlock();
  }

  std::string state() override {
    const Snapshot s = registry.take();
    std::lock_guard lock(mutex_);
    return state_json(s, process_facts(), trace_.on && trace_.on(), alerts_);
  }
  std::string history() override {
    std::lock_guard lock(mutex_);
    return history_json(history_.points());
  }
  std::string newest_point() override {
    std::lock_guard lock(mutex_);
    return history_.points().empty() ? std::string() : point_json(history_.points().back());
  }
  std::string metrics() override { return prometheus_text(registry.take(), process_facts()); }
  Result<std::string> disassembly(uint64_t program, int32_t function, int32_t region, std::string_view entry) override {
    MSVM_ASSIGN_OR_RETURN(const auto p, find(program));
    return disassembly_json(*p, function, region, entry);
  }
  Result<std::string> bytecode(uint64_t program) override {
    MSVM_ASSIGN_OR_RETURN(const auto p, find(program));
    return bytecode_json(*p);
  }
  Status act(std::string_view action, std::string_view body) override {
    if (action == "load_capability_patch") return patch(body);
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_discarded()) return invalid_argument(fmt::format("{}: the body isn't JSON", action));
    if (action == "clear_cache") return clear_cache(json);
    if (action == "trace") return trace(json);
    if (action == "alerts") return set_alerts(json);
    return {StatusCode::kNotFound, fmt::format("there is no action '{}': clear_cache, trace, load_capability_patch and alerts are possible", action)};
  }
  void monitor_began() override { sampler_.begin(); }
  void monitor_ended() override { sampler_.end(); }

  void set_trace(TraceControl control) {
    std::lock_guard lock(mutex_);
    trace_ = std::move(control);
  }

  Registry registry;

 private:
  Result<std::shared_ptr<Executable>> find(uint64_t program) {
    if (auto p = registry.find(program)) return p;
    return Status(StatusCode::kNotFound, fmt::format("there is no program {}: /api/v1/state lists those that are loaded", program));
  }

  void sample() {
    // Where a monitor has just looked, its picture will do.
    const auto s = registry.recent(std::chrono::milliseconds(900));
    std::lock_guard lock(mutex_);
    history_.add(*s);
  }

  Status clear_cache(const Json& body) {
    if (!body.is_object() || body.size() != 1 || !body.contains("program") || !body["program"].is_number_unsigned()) return invalid_argument(R"(clear_cache: expected {"program": 1}, a program's id)");
    MSVM_ASSIGN_OR_RETURN(const auto p, find(body["program"].get<uint64_t>()));
    p->remake_code();
    return {};
  }

  Status trace(const Json& body) {
    if (!body.is_object() || body.size() != 1 || !body.contains("on") || !body["on"].is_boolean()) return invalid_argument(R"(trace: expected {"on": true} or {"on": false})");
    std::function<Status(bool)> set;
    {
      std::lock_guard lock(mutex_);
      set = trace_.set;
    }
    if (!set) return unsupported("trace: this program can't trace");
    return set(body["on"].get<bool>());
  }

  // An engine refuses a patch that isn't for it whole; all have the same kernels, so the first says what is wrong.
  Status patch(std::string_view body) {
    const auto engines = registry.engines();
    if (engines.empty()) return {StatusCode::kNotFound, "load_capability_patch: there is no engine yet"};
    for (const auto& e : engines) MSVM_RETURN_IF_ERROR(e->patch_capabilities(body, "the monitor"));
    return {};
  }

  Status set_alerts(const Json& body) {
    const bool rows = body.is_array() && body.size() <= kMostAlerts && std::all_of(body.begin(), body.end(), [](const Json& row) { return row.is_object(); });
    if (!rows) return invalid_argument(fmt::format("alerts: expected a list of at most {} objects", kMostAlerts));
    std::lock_guard lock(mutex_);
    alerts_ = body;
    return {};
  }

  std::mutex mutex_;  // of what follows
  History history_;
  Json alerts_ = Json::array();
  TraceControl trace_;
  Sampler sampler_;   // last: its thread uses the rest
};

ProcessSource& process() {
  static ProcessSource& one = *[] {
    auto* source = new ProcessSource;  // programs may run while the process ends
    static ProcessSource& made = *source;
    pthread_atfork([] { made.hold(); }, [] { made.let_go(); }, [] { made.let_go(); });
    return source;
  }();
  return one;
}

}  // namespace

Source& process_source() { return process(); }
void watch(const std::shared_ptr<Engine>& engine) { process().registry.add(engine); }
void watch(const std::shared_ptr<Executable>& program, std::string name) { process().registry.add(program, name); }
void set_trace_control(TraceControl control) { process().set_trace(std::move(control)); }

}  // namespace msvm::observe
