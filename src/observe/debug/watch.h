// One run that is watched: where it stops, and how it waits. Private to the room.
#pragma once
#include "observe/debug/process.h"
#include "observe/debug/registers.h"

namespace msvm::observe::debug {

class Watch final : public RunWatch {
 public:
  Watch(Debugger::Impl& debugger, std::shared_ptr<Thread> thread, std::shared_ptr<ProgramMap> program, RunView& view);
  ~Watch() override;
  Status before(int32_t instruction) override;
  Status after(int32_t instruction) override;
  Result<bool> interprets(int32_t region) override;
  Status after_region(int32_t region, const RegionEntry* entry) override;
  void failing(int32_t instruction, const Status& status) override;
  void ended(const Status& status) override;

  // --- for whoever holds the thread's mutex while it waits
  const RunView& view() const { return view_; }
  RunView& view() { return view_; }
  const ProgramMap& program() const { return *program_; }
  RegisterReader reader() const { return {view_, since_, program_->offsets(view_.function())}; }
  Place place() const { return {program_->number, view_.function(), view_.instruction()}; }
  void set_mode(Command c) { mode_ = c; }
  Command mode() const { return mode_; }
  bool native_stays() const { return settings_ && settings_->native == Native::kStay; }

 private:
  bool off() const { return debugger_.gone.load(std::memory_order_relaxed) || !debugger_.attached.load(std::memory_order_relaxed); }
  void refresh();
  /// What the breakpoints of the step say; null: none of them stops.
  std::optional<Stop> breakpoint(int32_t instruction);
  std::string log_text(const LogTemplate& t) const;
  bool steps_here() const;
  /// Tells of the stop, and waits. Not ok: the run ends.
  Status wait(Stop stop);
  Stop stop_at(StopReason reason, int32_t instruction, std::string text = {}) const;
  Status check_values();
  const std::vector<int32_t>& regions();

  Debugger::Impl& debugger_;
  const std::shared_ptr<Thread> thread_;
  const std::shared_ptr<ProgramMap> program_;
  RunView& view_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<const Armed> armed_;
  uint64_t epoch_ = 0;
  Command mode_ = Command::kGo;
  uint64_t since_ = 0;                  // clock at the last stop
  int32_t waited_at_ = -1;              // the instruction before which it waited last, until something has run
  bool first_ = true, begins_ = true;   // begins_: it is watched from its first instruction on
  std::optional<std::vector<int32_t>> regions_;
};

}  // namespace msvm::observe::debug
