// What runs tell, and what is done about it: analysis, requests for code.
#include "msvm/jit/native/native_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "msvm/base/chaos.h"
#include "msvm/base/ticks.h"

namespace msvm::jit {
namespace {

constexpr int64_t kLongRun = 5'000'000;            // ns: code is worth it after one run
constexpr int64_t kNotifyPause = 30'000'000;       // ticks, some 10 ms, between two calls for the JIT thread by runs that have code for all sizes
constexpr size_t kWindow = 1000;                   // runs of the windowed hit rates
constexpr size_t kEvents = 256, kSlowPaths = 256;  // that are kept

std::shared_ptr<RegionEntry> entry_with(const std::shared_ptr<const NativeImage>& image) {
  auto entry = std::make_shared<RegionEntry>();
  for (size_t k = 0; k < image->kernels(); ++k) entry->kernels.push_back(image->entry(k));
  entry->image = image;
  return entry;
}

Owner next_owner() {
  static std::atomic<Owner> last{0};
  return ++last;
}

}  // namespace

// One per session; writes to its log, and calls for the JIT thread where something may have to be done. A run that was served by code
// for its sizes never does that.
class NativeProgram::Observer final : public SessionObserver {
 public:
  Observer(NativeProgram& program, RunLog* log) : program_(program), log_(log), regions_(program.states_.size()) {}
  ~Observer() override {
    if (!program_.at_home()) return;
    std::lock_guard lock(program_.mutex_);
    program_.read_logs();
    for (size_t f = 0; f < regions_.size(); ++f)
      if (FunctionJit* j = program_.functions_[f].get())
        for (size_t r = 0; r < j->regions.size(); ++r)
          if (const RegionTotals* t = totals(f, r)) j->regions[r].totals->add(*t);
    std::erase_if(program_.logs_, [&](const auto& l) { return l.get() == log_; });
    std::erase(program_.observers_, this);
  }

  /// Null if the session hasn't run the function since its regions are known.
  const RegionTotals* totals(size_t function, size_t region) const {
    const Watched* w = watched(function, region);
    return w ? &w->totals : nullptr;
  }
  void add_shapes(size_t function, size_t region, std::vector<SizeCount>& sum) const {
    if (const Watched* w = watched(function, region)) w->shapes.add_to(sum);
  }

  void region_ran(int32_t function, int32_t region, std::span<const int64_t> values, const RegionEntry* entry, int64_t begin, int64_t end) override {
    const int tier = entry ? entry->tier : 0;
    region_ran_in(tier);
    auto* list = regions_[static_cast<size_t>(function)].load(std::memory_order_relaxed);
    if (!list) [[unlikely]] {
      list = watch(function);
      if (!list) return;
    }
    Watched& w = (*list)[static_cast<size_t>(region)];
    w.shapes.count(values);
    RegionTotals& t = w.totals;
    const int64_t duration = end - begin;
    RegionTotals::count(t.runs, 1);
    if (entry) {
      RegionTotals::count(t.native, 1);
      RegionTotals::count(t.native_ticks, duration);
      if (tier == 2) RegionTotals::count(t.specialised, 1);
      entry->hits.fetch_add(1, std::memory_order_relaxed);
      entry->last_hit.store(end, std::memory_order_relaxed);
    } else {
      RegionTotals::count(t.interpreted_ticks, duration);
    }
    log_->write(function, region, values, tier, duration);
    if constexpr (kChaos) program_.churn(function, region);
    if (tier == 2) return;
    since_ += duration;
    if (tier == 0 || since_ >= kNotifyPause || ++quiet_ >= kQuiet) {
      since_ = 0;
      quiet_ = 0;
      program_.notify();
    }
  }

 private:
  static constexpr int kQuiet = 32;
  struct Watched {
    explicit Watched(size_t symbols) : shapes(symbols) {}
    RegionTotals totals;
    ShapeTally shapes;
  };
  using Regions = std::deque<Watched>;  // that don't move

  const Watched* watched(size_t function, size_t region) const {
    const Regions* list = regions_[function].load(std::memory_order_acquire);
    return list ? &(*list)[region] : nullptr;
  }
  /// Null while the regions of the function aren't known.
  Regions* watch(int32_t function) {
    FunctionJit* f = program_.states_[static_cast<size_t>(function)].ready.load(std::memory_order_acquire);
    if (!f) return nullptr;
    Regions& list = *owned_.emplace_back(std::make_unique<Regions>());
    for (const RegionJit& r : f->regions) list.emplace_back(r.region->symbols.size());
    regions_[static_cast<size_t>(function)].store(&list, std::memory_order_release);
    return &list;
  }

  NativeProgram& program_;
  RunLog* const log_;
  std::vector<std::atomic<Regions*>> regions_;  // by function
  std::vector<std::unique_ptr<Regions>> owned_;
  int64_t since_ = 0;
  int quiet_ = 0;
};

NativeProgram::NativeProgram(std::shared_ptr<NativeJit> jit, std::shared_ptr<const Program> program, const JitOptions& options)
    : jit_(std::move(jit)), program_(std::move(program)), options_(options), owner_(next_owner()), states_(program_->module().functions.size()), functions_(states_.size()) {
  if (options_.shape_policy.empty()) return;
  if (auto policy = load_shape_policy(options_.shape_policy); policy.ok()) loaded_policy_ = std::move(*policy);
  else slow_path("", policy.status().message());
}

TriggerOptions NativeProgram::trigger_options() const {
  TriggerOptions t;
  t.jit_threshold = kChaos ? 1 : options_.jit_threshold;
  t.scd_threshold = kChaos ? 0 : options_.scd_threshold;
  t.plain_counter = options_.plain_counter;
  if (options_.cache_mode == CacheMode::kBucket) {
    t.bucket_boundaries = options_.bucket_boundaries;
    t.named_boundaries = options_.named_boundaries;
  }
  return t;
}

NativeProgram::~NativeProgram() {
  if (at_home()) jit_->queue().cancel(owner_);
}

std::unique_ptr<SessionObserver> NativeProgram::observe() {
  if (!at_home()) return nullptr;
  std::lock_guard lock(mutex_);
  logs_.push_back(std::make_unique<RunLog>());
  auto observer = std::make_unique<Observer>(*this, logs_.back().get());
  observers_.push_back(observer.get());
  return observer;
}

void NativeProgram::function_ran(int32_t function, int64_t nanoseconds) {
  FunctionState& s = states_[static_cast<size_t>(function)];
  if (s.asked.load(std::memory_order_relaxed)) return;
  if (s.runs.fetch_add(1, std::memory_order_relaxed) < 1 && nanoseconds < kLongRun && !kChaos) return;
  ask(function, Urgency::kNormal);
}

void NativeProgram::ask(int32_t function, Urgency urgency) {
  if (states_[static_cast<size_t>(function)].asked.exchange(true) || !at_home()) return;
  jit_->queue().post(owner_, urgency, [this, function] {
    std::lock_guard lock(mutex_);
    analyse(function);
  });
}

void NativeProgram::warm_up() {
  if (!at_home()) return;
  hurry_ = true;
  for (size_t f = 0; f < states_.size(); ++f) ask(static_cast<int32_t>(f), Urgency::kWaited);
  jit_->drain();
  hurry_ = false;
}

void NativeProgram::notify() {
  if (notified_.exchange(true, std::memory_order_acq_rel) || !at_home()) return;
  jit_->queue().post(owner_, Urgency::kNormal, [this] {
    notified_.store(false, std::memory_order_release);
    std::lock_guard lock(mutex_);
    read_logs();
  });
}

Status NativeProgram::failure() const {
  if (options_.fallback || !failed_.load(std::memory_order_acquire) || !at_home()) return {};
  std::lock_guard lock(mutex_);
  return unsupported(failure_);
}

// --- the JIT thread ----------------------------------------------------------------------------------------------------

void NativeProgram::analyse(int32_t function) {
  auto f = std::make_unique<FunctionJit>();
  f->view = std::make_unique<FunctionView>(program_->verified(), function);
  f->found = find_regions(*f->view);
  LowerOptions lower;
  lower.strict = jit_->options().strict;
  lower.graph_kernel = options_.graph_kernel && jit_->options().target.kernels;
  std::vector<RegionSpec> specs;
  for (const Region& r : f->found.regions) {
    RegionJit& j = f->regions.emplace_back();
    j.region = &r;
    j.lowered = lower_region(*f->view, r, lower);
    j.trigger = std::make_unique<Trigger>(r, f->view->dims(), trigger_options());
    j.policy = make_policy(*f, r, static_cast<int32_t>(f->regions.size()) - 1);
    int fused = 0;
    for (const RegionGroup& g : j.lowered.groups) fused += static_cast<int>(g.members.size());
    j.gain_share = r.calls ? static_cast<double>(fused) / r.calls : 0;
    specs.push_back({r.first(), exit_of(*f->view, r), r.symbols, j.lowered.groups});
  }
  if (specs.empty()) return;
  auto table = RegionTable::create(*program_, function, std::move(specs));
  if (!table.ok()) {
    slow_path("@" + program_->module().functions[static_cast<size_t>(function)].name, table.status().message());
    return;
  }
  FunctionJit& kept = *f;
  functions_[static_cast<size_t>(function)] = std::move(f);
  kept.table = program_->attach(function, std::move(*table));
  states_[static_cast<size_t>(function)].ready.store(&kept, std::memory_order_release);
  event(JitEventKind::kAnalysed, fmt::format("@{}: {} region{}", kept.view->f.name, kept.regions.size(), kept.regions.size() == 1 ? "" : "s"));
  if (options_.jit_level >= 2 && options_.tier2) take_from_bundles(function);
  for (size_t r = 0; options_.tier1 && r < kept.regions.size(); ++r) request(function, static_cast<int32_t>(r), Box{std::vector<Extent>(kept.regions[r].region->symbols.size())}, 1);
  request_learnt(function);
}

Gain NativeProgram::gain(const RegionJit& r) const {
  Gain g;
  // Code for sizes whose kernels stay the same is shared with what is there.
  if (r.lowered.groups.empty()) g.cost = 0;
  return g;
}

void NativeProgram::request(int32_t function, int32_t region, Box box, int tier) {
  FunctionJit& f = *functions_[static_cast<size_t>(function)];
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  if (r.lowered.groups.empty()) {
    publish(f, region, {.box = std::move(box)}, tier);
    return;
  }
  std::string text = loops::print(tier == 1 ? r.lowered.program : specialise(r.lowered, *f.view, *r.region, box));
  if (std::shared_ptr<const NativeImage> image = jit_->find_image(text)) {
    publish(f, region, {.entry = entry_with(image), .box = std::move(box), .key = std::move(text), .code_bytes = static_cast<int64_t>(image->bytes()), .shared = true}, tier);
    return;
  }
  CompileJob job;
  job.request = encode_request({jit_->options().target.isa, jit_->flags(), text});
  job.label = signature(f, region, box);
  job.owner = owner_;
  if (hurry_.load(std::memory_order_relaxed) || jit_->options().eager) job.urgency = Urgency::kWaited;
  RegionTotals t;
  add_totals(function, region, t);
  const double mean = nanoseconds_per_tick() * static_cast<double>(t.interpreted_ticks + t.native_ticks) / static_cast<double>(std::max<int64_t>(1, t.runs));
  job.gain = (1 + mean) * r.gain_share * (tier == 1 ? 4 : 1);
  job.done = [this, function, region, box, tier, text](const CompileResult& result) {
    std::lock_guard lock(mutex_);
    compiled(function, region, box, tier, text, result);
  };
  jit_->queue().submit(std::move(job));
}

void NativeProgram::compiled(int32_t function, int32_t region, const Box& box, int tier, const std::string& key, const CompileResult& result) {
  FunctionJit& f = *functions_[static_cast<size_t>(function)];
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  const OutcomeInfo& info = outcome_info(result.outcome);
  if (info.kind == OutcomeKind::kGone && result.outcome != Outcome::kFailedBefore) {
    r.trigger->drop_entry(box);
    return;
  }
  std::string error = result.error;
  if (info.kind == OutcomeKind::kCode) {
    const bool shared = jit_->find_image(key) != nullptr;  // an equal request was answered just before
    auto image = jit_->map(key, *result.image);
    if (image.ok() && (*image)->kernels() == r.lowered.groups.size()) {
      Entry e{.entry = entry_with(*image), .box = box, .key = key, .outcome = std::string(info.text), .code_bytes = static_cast<int64_t>((*image)->bytes()), .shared = shared, .compile_ms = result.seconds * 1e3};
      if (!shared) {
        ++(result.outcome == Outcome::kFromDisk ? from_disk_ : compiled_);
        if (result.outcome == Outcome::kCompiled) compile_ms_ += result.seconds * 1e3;
        event(JitEventKind::kCompiled, fmt::format("{}: {} in {:.1f} ms, {} bytes", signature(f, region, box), info.text, result.seconds * 1e3, e.code_bytes));
      }
      publish(f, region, std::move(e), tier);
      return;
    }
    error = image.ok() ? fmt::format("the image has {} kernels, {} are needed", (*image)->kernels(), r.lowered.groups.size()) : image.status().message();
  }
  ++failures_;
  ++failures_by_reason_[info.kind == OutcomeKind::kCode ? "image can't be used" : std::string(info.text)];
  const std::string why = fmt::format("{}{}{}", info.text, error.empty() ? "" : ": ", error);
  event(JitEventKind::kFailed, fmt::format("{}: {}", signature(f, region, box), why));
  slow_path(region_name(f, region), why, f.view->place(r.region->first()));
  if (failure_.empty()) failure_ = fmt::format("{} can't be compiled ({}), and fallback is off", region_name(f, region), why);
  failed_.store(true, std::memory_order_release);
}

// Of the chaos build: one of the region's entries goes, and comes back when its sizes do.
void NativeProgram::churn(int32_t function, int32_t region) {
  if (!at_home()) return;
  notify();
  const int64_t tick = ticks_.fetch_add(1, std::memory_order_relaxed);
  if (tick % 3 != 0) return;
  jit_->queue().post(owner_, Urgency::kIdle, [this, function, region, tick] {
    std::lock_guard lock(mutex_);
    FunctionJit& f = *functions_[static_cast<size_t>(function)];
    RegionJit& r = f.regions[static_cast<size_t>(region)];
    if (r.entries.empty()) return;
    const size_t k = static_cast<size_t>(tick) % r.entries.size();
    const Box box = r.entries[k].box;
    const int tier = r.entries[k].entry->tier;
    take_out(r, k);
    republish(f, region);
    if (tier == 1) request(function, region, box, 1);
  });
}

void NativeProgram::read_logs() {
  for (const auto& log : logs_) log->read([&](const RunLog::Run& run) { note_run(run); });
}

void NativeProgram::note_run(const RunLog::Run& run) {
  window_.push_back(static_cast<uint8_t>(run.tier));
  if (window_.size() > kWindow) window_.pop_front();
  FunctionJit* f = functions_[static_cast<size_t>(run.function)].get();
  if (!f || static_cast<size_t>(run.region) >= f->regions.size()) return;
  RegionJit& r = f->regions[static_cast<size_t>(run.region)];
  if (run.count != r.region->symbols.size()) return;
  if (options_.jit_level < 2 || !options_.tier2) return;
  const Decision d = decide(*f, run.region, run);
  if (d.verdict == Verdict::kQueued) request(run.function, run.region, d.box, 2);
}

void NativeProgram::add_totals(int32_t function, int32_t region, RegionTotals& sum) const {
  sum.add(*functions_[static_cast<size_t>(function)]->regions[static_cast<size_t>(region)].totals);
  for (const Observer* o : observers_)
    if (const RegionTotals* t = o->totals(static_cast<size_t>(function), static_cast<size_t>(region))) sum.add(*t);
}

void NativeProgram::add_shapes(int32_t function, int32_t region, std::vector<SizeCount>& sum) const {
  for (const Observer* o : observers_) o->add_shapes(static_cast<size_t>(function), static_cast<size_t>(region), sum);
}

// --- what is kept for views --------------------------------------------------------------------------------------------

void NativeProgram::event(JitEventKind kind, std::string what) {
  events_.push_back({seconds(), kind, std::move(what)});
  if (events_.size() > kEvents) events_.pop_front();
}

void NativeProgram::slow_path(std::string where, std::string reason, std::string place) {
  slow_path_.push_back({seconds(), std::move(where), std::move(reason), std::move(place)});
  if (slow_path_.size() > kSlowPaths) slow_path_.pop_front();
}

}  // namespace msvm::jit
