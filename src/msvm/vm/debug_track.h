// What happened to each register in the course of one run that a debugger watches. Private to the room.
#pragma once
#include <span>
#include <vector>

#include "msvm/vm/debug_hook.h"
#include "msvm/vm/frame.h"

namespace msvm::vm {

class RegisterTrack {
 public:
  RegisterTrack(const Module& module, const Frame& frame);

  void ran(int32_t instruction);
  /// The PHIs of a block, after the jump `by`.
  void moved(BlockId block, int32_t by);
  /// A region in native code, by what it did.
  void ran_native(const RegionInfo& region, const RegionPlan& plan, const RegionState& state) { ran_native(region, plan, state, plan.steps, -1); }
  /// The same where it failed at an instruction: its sizes and memory are there, and what `steps` gave; nothing is freed.
  void ran_native(const RegionInfo& region, const RegionPlan& plan, const RegionState& state, std::span<const RegionPlan::Step> steps, int32_t failed);

  /// The run has come to an instruction unseen: registers have what those gave them that have run for sure, as far as nothing that may have run since has done
  /// anything to it. Others are unset.
  void join(int32_t next);

  RegisterLook look(Reg r) const;
  Reg reused_from(Reg r) const;
  uint64_t clock() const { return clock_; }
  const std::vector<Reg>& written() const { return written_; }
  bool has_run(int32_t instruction) const { return ran_at_[static_cast<size_t>(instruction)] != 0; }
  /// Whether an instruction has read the register since it got its value.
  bool was_read(Reg r) const;

 private:
  struct Track {
    RegisterLook look;
    uint64_t defined = 0, written = 0;
  };
  Track& track(Reg r) { return tracks_[static_cast<size_t>(r)]; }
  const Track& track(Reg r) const { return tracks_[static_cast<size_t>(r)]; }
  bool is_tensor(Reg r) const { return slot(r) != kNoSlot; }
  Slot slot(Reg r) const;
  const TensorSlot& tensor(Reg r) const { return frame_.tensors[static_cast<size_t>(slot(r))]; }
  struct Bytes {
    const std::byte *begin = nullptr, *end = nullptr;
    bool overlaps(const Bytes& o) const { return begin < o.end && o.begin < end; }
    bool holds(const Bytes& o) const { return begin <= o.begin && o.end <= end; }
  };
  Bytes bytes(Reg r) const;

  void define(Reg r, RegisterState state, Reg root);
  void define_like(Reg r, Reg source);
  void write(Reg r);
  void take(Reg r, Reg by);
  void proved_whole(const Instr& i);
  void step();
  void ran_surely(BlockId block, int32_t end, const std::vector<uint8_t>& whole);
  void ran_maybe(BlockId block, int32_t begin);
  std::vector<uint8_t> whole_from_the_start() const;

  const Module& module_;
  const Frame& frame_;
  std::vector<Track> tracks_;
  std::vector<std::vector<Reg>> family_;  // by root: registers that look at its storage
  std::vector<uint64_t> ran_at_;          // by instruction; 0: not yet
  std::vector<Reg> written_;
  int32_t at_ = -1;
  uint64_t clock_ = 0;
  uint64_t joined_ = 0;  // the clock when it came
};

}  // namespace msvm::vm
