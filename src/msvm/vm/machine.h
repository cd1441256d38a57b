// What instructions do to registers and memory. The loop (loop.h) decides which. Private to the room.
//   memory.cpp   allocation, RESIZE, views
//   calls.cpp    OP_CALL, sizes of results
//   lists.cpp    lists
#pragma once
#include "msvm/vm/interpreter.h"

namespace msvm::vm {

class Machine {
 public:
  Machine(RunContext& context, Frame& frame) : x_(context), frame_(frame), f_(*frame.function), v_(frame.scalars.data()) {}

 protected:
  TensorSlot& slot(Slot s) { return frame_.tensors[static_cast<size_t>(s)]; }
  ListSlot& list(Slot s) { return frame_.lists[static_cast<size_t>(s)]; }
  const int32_t* extra(const Code& c) const { return f_.extra.data() + c.c; }
  const TensorType& type_of(Slot tensor) const { return f_.source->regs[static_cast<size_t>(f_.tensor_reg[static_cast<size_t>(tensor)])].type.tensor; }

  // --- references ------------------------------------------------------------------------------------------------------
  static int64_t counted_bytes(const Storage* s) { return s->pooled ? static_cast<int64_t>(s->bytes) : 0; }
  void release(Storage* s) {
    if (s->unique()) {
      x_.live_bytes -= counted_bytes(s);
      s->release(s);
    } else {
      StorageRef::adopt(s).reset();
    }
  }
  void drop(TensorSlot& t) {
    if (t.owned) release(t.storage);
    t.storage = nullptr;
    t.owned = false;
  }
  /// One more reference for `to`, which holds none.
  static void share(TensorSlot& to, const TensorSlot& from) {
    to.storage = from.storage;
    to.owned = from.owned;
    if (to.owned) to.storage->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void move(TensorSlot& to, TensorSlot& from) {
    to = from;
    from.storage = nullptr;
    from.owned = false;
  }
  TensorValue take(TensorSlot& t);
  void drop_all();

  // --- memory ----------------------------------------------------------------------------------------------------------
  /// Sizes, dtype, layout and device of t.meta are set; strides and memory come.
  Status allocate(TensorSlot& t, MemoryUse use);
  Status allocate_bytes(TensorSlot& t, int64_t bytes, MemoryUse use);
  /// Shares the buffer of `from` if nobody else holds it and both lie alike; false otherwise.
  bool take_buffer(TensorSlot& t, const TensorSlot& from);
  Status alloc(const Code& c, bool may_take = true);  // whether it may take a buffer over
  Status resize(const Code& c);
  Status view(const Code& c);
  Status read(const Code& c);

  // --- calls -----------------------------------------------------------------------------------------------------------
  Status call(const Code& c);
  Status match(const Code& c);
  Status give_results(const Code& c, std::vector<Value>& results);

  // --- lists -----------------------------------------------------------------------------------------------------------
  void list_make(const Code& c);
  void list_append(const Code& c);
  Status list_get(const Code& c);
  int64_t list_length(Slot s) { return list(s).items ? static_cast<int64_t>(list(s).items->size()) : 0; }
  void drop_list(ListSlot& l);
  std::vector<const TensorMeta*> expand_lists(const CallSite& site);

  RunContext& x_;
  Frame& frame_;
  const Function& f_;
  int64_t* const v_;

 private:
  class Sink;
};

}  // namespace msvm::vm
