#include "msvm/vm/regions.h"

#include <fmt/core.h>

#include <algorithm>

#include "msvm/vm/decode.h"

namespace msvm {
namespace {

uint64_t next_version() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::unique_ptr<const RegionSnapshot> make_snapshot(std::vector<std::shared_ptr<const RegionEntry>> entries) {
  auto s = std::make_unique<RegionSnapshot>();
  s->version = next_version();
  s->entries = std::move(entries);
  return s;
}

}  // namespace

RegionTable::~RegionTable() = default;

Result<std::unique_ptr<RegionTable>> RegionTable::create(const Program& program, int32_t function, std::vector<RegionSpec> regions) {
  std::unique_ptr<RegionTable> table(new RegionTable);
  table->regions_ = std::move(regions);
  MSVM_ASSIGN_OR_RETURN(vm::Function code, vm::decode_function(program.verified(), function, table->regions_));
  const vm::Function& plain = program.impl().functions[static_cast<size_t>(function)];
  // Frames are made for the plain form; they go on with this one, with fresh scalars.
  if (code.num_tensors != plain.num_tensors || code.num_lists != plain.num_lists || code.calls.size() != plain.calls.size())
    return internal_error(fmt::format("@{}: with regions {} tensors, {} lists, {} calls; without {}, {}, {}", program.module().functions[static_cast<size_t>(function)].name,
                                      code.num_tensors, code.num_lists, code.calls.size(), plain.num_tensors, plain.num_lists, plain.calls.size()));
  table->code_ = std::make_unique<vm::Function>(std::move(code));
  table->slots_ = std::vector<std::atomic<const RegionSnapshot*>>(table->regions_.size());
  for (size_t r = 0; r < table->regions_.size(); ++r) {
    table->current_.push_back(make_snapshot({}));
    table->slots_[r].store(table->current_[r].get(), std::memory_order_release);
  }
  return table;
}

void RegionTable::publish(size_t region, std::vector<std::shared_ptr<const RegionEntry>> entries) {
  auto fresh = make_snapshot(std::move(entries));
  std::lock_guard lock(mutex_);
  // Sequentially consistent, like a session's look at its hazard word: either it sees this one, or reclaim sees its word.
  slots_[region].store(fresh.get(), std::memory_order_seq_cst);
  std::swap(current_[region], fresh);
  retired_.push_back(std::move(fresh));
  reclaim();
}

// With the lock held: frees what no session names any more.
void RegionTable::reclaim() {
  std::erase_if(retired_, [&](const auto& s) {
    return std::none_of(hazards_.begin(), hazards_.end(), [&](const RegionHazard* h) { return h->snapshot.load(std::memory_order_seq_cst) == s.get(); });
  });
}

const RegionSnapshot* RegionTable::enter(size_t region, RegionHazard& hazard) const {
  const RegionSnapshot* seen = slots_[region].load(std::memory_order_acquire);
  for (;;) {
    hazard.snapshot.store(seen, std::memory_order_seq_cst);
    const RegionSnapshot* now = slots_[region].load(std::memory_order_seq_cst);
    if (now == seen) return seen;
    seen = now;
  }
}

void RegionTable::join(RegionHazard* hazard) {
  std::lock_guard lock(mutex_);
  hazards_.push_back(hazard);
}
void RegionTable::leave(RegionHazard* hazard) {
  std::lock_guard lock(mutex_);
  std::erase(hazards_, hazard);
}

}  // namespace msvm
