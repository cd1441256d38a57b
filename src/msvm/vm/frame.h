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
  std::vector<int64_t> key;       // values of Function::plan_key
  std::vector<int64_t> offsets;   // by planned alloc; -1 = from the pool
  std::vector<int64_t> sizes;     // by planned alloc: bytes that are its own
  std::vector<uint8_t> in_place;  // by planned alloc: lies where the one lies that it writes over
  int64_t bytes = 0;
  uint64_t last_used = 0;
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
};

/// Lifetimes and sizes -> offsets, greedy by size. A pure function of numbers; `scalars` needs the values of plan_key, temporaries
/// of plan_code are written.
Plan make_plan(const Function& f, std::vector<int64_t>& scalars);

}  // namespace msvm::vm
