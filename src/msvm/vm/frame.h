// What a session holds while it runs a function. Private to the room.
#pragma once
#include <memory>
#include <vector>

#include "msvm/vm/code.h"
#include "msvm/vm/interfaces.h"
#include "msvm/vm/session.h"

namespace msvm::vm {

/// A tensor register. `owned`: it holds a counted reference. Registers on borrowed storage and in the arena, and views of them, hold
/// none: inputs, constants and the arena outlive the run.
struct TensorSlot {
  TensorMeta meta;
  Storage* storage = nullptr;
  bool owned = false;
};

/// A list register: shared, copied when appended to while shared.
struct ListSlot {
  std::shared_ptr<std::vector<TensorValue>> items;
};

struct Plan {
  uint64_t id = 0;                // none is given twice in a session
  std::vector<int64_t> key;       // values of Function::plan_key
  std::vector<int64_t> offsets;   // by planned alloc; -1 = from the pool
  std::vector<int64_t> sizes;     // by planned alloc: bytes that are its own
  std::vector<uint8_t> in_place;  // by planned alloc: lies where the one lies that it writes over
  int64_t bytes = 0;
  uint64_t last_used = 0;
};

/// What one size vector needs to run a region in native code: steps, metadata, memory. Made by a dry run.
struct RegionPlan {
  struct View {
    Slot to, from;
    int64_t offset;  // bytes
  };
  struct Step {
    const Code* code;      // kCall or kCopy; of a group the last call
    int32_t group = -1;
    int32_t sizes = 0;     // first one in `sizes`
    int64_t rows = 0, columns = 0;
  };
  // What it was made for.
  std::vector<int64_t> values;
  uint64_t version = 0, plan = 0;
  const std::byte* arena = nullptr;
  const RegionEntry* entry = nullptr;   // null: no entry holds the values
  bool repeatable = false;              // else it serves the run that it was made for
  bool takes_away = false;              // its dry run may have moved tensors or lists from outside into PHIs
  double operations = 0, bytes = 0;     // of its groups: one an element and member; pointers' tensors, each once

  std::vector<Step> steps;
  std::vector<int64_t> sizes;                            // arguments of the groups' kernels
  struct Pooled {
    Slot slot;
    Slot over = kNoSlot;                                 // whose buffer it takes if nobody else has it
  };
  std::vector<Pooled> pool;                              // taken from the allocator at each run
  std::vector<View> views;                               // of what isn't always at one place
  std::vector<Slot> frees;                               // dropped at the end
  std::vector<std::pair<Slot, TensorMeta>> tensors;      // everything that the region's instructions set
  std::vector<std::pair<Slot, int64_t>> scalars;
  uint64_t last_used = 0;
};

/// Of a group's kernel: one for each element and each call that it stands for.
inline double operations_of(const RegionGroup& group, const RegionPlan::Step& step) {
  return static_cast<double>(step.rows) * static_cast<double>(step.columns) * static_cast<double>(group.members.size());
}

struct RegionState {
  std::vector<std::unique_ptr<RegionPlan>> plans;
  std::unique_ptr<RegionPlan> once;  // the last one that served a single run
  RegionPlan* in_place = nullptr;    // whose metadata lie in the slots
  std::vector<Slot> scalars, tensors;  // that the last dry run set
  std::vector<std::pair<int32_t, BlockId>> edges;  // that it took: by which instruction, to where (-1: a stub)
  std::vector<int64_t> values;     // of the run: entry symbols, then RegionInfo::further
  int64_t started = 0;             // of an interpreted one
};

struct Frame {
  const Function* function = nullptr;
  std::vector<int64_t> scalars;
  std::vector<TensorSlot> tensors;
  std::vector<ListSlot> lists;
  std::vector<std::unique_ptr<CallState>> call_states;  // made at the first call
  // Pointer arrays of the calls without lists: fixed for the frame's life.
  std::vector<std::vector<const TensorMeta*>> call_inputs;
  std::vector<std::vector<TensorMeta*>> call_outputs;
  std::vector<int64_t> args;
  std::vector<Plan> plans;
  const Plan* plan = nullptr;
  StorageRef arena;
  std::vector<InstrProfile> profile;
  std::vector<RegionState> regions;
  std::vector<uint64_t> fixed_in;          // by tensor slot: the dry run in which it got a place that stays
  std::vector<void*> pointers;             // of one kernel
  uint64_t clock = 0;
};

/// Lifetimes and sizes -> offsets, greedy by size. A pure function of numbers; `scalars` needs the values of plan_key, temporaries
/// of plan_code are written. `thorough` never needs more bytes, and some ten times as long.
Plan make_plan(const Function& f, std::vector<int64_t>& scalars, bool thorough = false);

}  // namespace msvm::vm
