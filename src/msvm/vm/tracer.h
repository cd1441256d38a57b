// Writes what a session does into the event stream. Private to the room.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/base/ticks.h"
#include "msvm/events/event_stream.h"
#include "msvm/vm/frame.h"

namespace msvm::vm {

/// Of one session. Without new shapes, kernels or entries a record takes no lock, no memory and no system call.
class Tracer {
 public:
  explicit Tracer(const Module& module) : module_(module) {}

  /// False: nobody reads, and nothing else may be called for this run.
  bool begin_run(int32_t function, size_t instructions);
  void end_run(const Status& status);

  // --- records that last from `begin` until now
  /// Before an instruction that gets a record; what came since the last one gets one, too, if it took long.
  int64_t before(int32_t instruction) {
    const int64_t now = ticks();
    if (now - last_ > long_) [[unlikely]] between(instruction, now);
    return now;
  }
  void call(const Frame& frame, const Code& c, const CallReport& report, int64_t begin);
  void copy(const Frame& frame, const Code& c, int64_t begin);
  /// Of a group of calls in native code: `kernel` is its code.
  void native(const Frame& frame, const RegionGroup& group, const RegionEntry& entry, const RegionPlan::Step& step, int64_t begin);
  /// `entry` null: interpreted.
  void region(const Frame& frame, int32_t region, const RegionEntry* entry, int64_t begin);

 private:
  /// What an instruction's last record named.
  struct Seen {
    uint64_t key = 0;            // of the shapes
    TextId shapes = 0;
    int64_t bytes = 0;
    uint64_t named_after = 0;
    TextId name = 0;
  };
  struct Shapes {
    TextId text = 0;
    int64_t bytes = 0;
  };
  using Metas = std::span<const TensorMeta* const>;

  void between(int32_t instruction, int64_t now);
  void look(Seen& seen, const Instr& instruction, Metas inputs, Metas outputs);
  void look(Seen& seen, std::span<const int64_t> values);
  void name(Seen& seen, const RegionEntry& entry);
  Event event(EventKind kind, int32_t instruction, int64_t begin);
  void push(Event e, const Seen& seen);
  std::string program_text() const;

  const Module& module_;
  EventRing* ring_ = nullptr;
  uint32_t generation_ = 0, run_ = 0;
  TextId program_ = 0;
  int32_t function_ = 0;
  uint8_t tier_ = 0;                     // of the slowest region of the run
  bool any_region_ = false;
  int64_t begin_ = 0, last_ = 0, long_ = 0;
  std::vector<std::vector<Seen>> instrs_, regions_;  // by function
  std::unordered_map<uint64_t, Shapes> shapes_;      // of this generation, by key
  std::vector<const TensorMeta*> pointers_;
};

}  // namespace msvm::vm
