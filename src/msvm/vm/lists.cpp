// Lists are shared and copied when appended to while shared. They are outside of the steady path: they may call malloc.
#include <fmt/core.h>

#include "msvm/vm/machine.h"

namespace msvm::vm {

using Items = std::vector<TensorValue>;

void Machine::drop_list(ListSlot& l) {
  if (l.items && l.items.use_count() == 1)
    for (TensorValue& t : *l.items)
      if (t.storage && t.storage->unique()) x_.live_bytes -= counted_bytes(t.storage.get());
  l.items.reset();
}

void Machine::list_make(const Code& c) {
  auto items = std::make_shared<Items>();
  items->reserve(c.n);
  for (size_t i = 0; i < c.n; ++i) items->push_back(take(slot(extra(c)[i])));
  list(c.a).items = std::move(items);
}

void Machine::list_append(const Code& c) {
  auto items = std::move(list(c.b).items);
  if (!items) items = std::make_shared<Items>();
  else if (items.use_count() > 1) items = std::make_shared<Items>(*items);
  items->push_back(take(slot(c.c)));
  list(c.a).items = std::move(items);
}

Status Machine::list_get(const Code& c) {
  const int64_t n = list_length(c.b), at = v_[c.c] < 0 ? v_[c.c] + n : v_[c.c];
  if (at < 0 || at >= n) return out_of_range(fmt::format("element {} of a list of {}", v_[c.c], n));
  const TensorValue& item = (*list(c.b).items)[static_cast<size_t>(at)];
  TensorSlot& t = slot(c.a);
  drop(t);
  t.meta = item.meta;
  t.storage = item.storage.get();
  t.owned = t.storage != nullptr;
  if (t.owned) t.storage->references.fetch_add(1, std::memory_order_relaxed);
  return {};
}

std::vector<const TensorMeta*> Machine::expand_lists(const CallSite& site) {
  std::vector<const TensorMeta*> inputs;
  for (Slot s : site.inputs) {
    if (s == kNoSlot) inputs.push_back(nullptr);
    else if (s >= 0) inputs.push_back(&slot(s).meta);
    else if (auto& items = list(-2 - s).items)
      for (TensorValue& t : *items) inputs.push_back(&t.meta);
  }
  return inputs;
}

}  // namespace msvm::vm
