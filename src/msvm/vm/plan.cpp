#include <algorithm>
#include <numeric>

#include "msvm/base/checked.h"
#include "msvm/vm/interpreter.h"

namespace msvm::vm {
namespace {

constexpr int64_t kAlign = 64;

/// Bytes in steps of kAlign, or -1: such a tensor stays unplanned, and its ALLOC reports what is wrong if it is ever reached.
int64_t planned_bytes(const PlannedAlloc& p, const std::vector<int64_t>& scalars) {
  int64_t bytes = p.element_bytes;
  for (Slot s : p.dims) {
    const int64_t size = scalars[static_cast<size_t>(s)];
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  if (__builtin_add_overflow(bytes, kAlign - 1, &bytes)) return -1;
  return bytes / kAlign * kAlign;
}

struct Life {
  int64_t bytes;
  int32_t begin, end;
};

struct Placement {
  std::vector<int64_t> offsets;  // -1: none
  int64_t bytes = 0;
};

/// Each in `order` where it is free during its life: at the lowest offset, or, if `tight`, in the smallest gap that holds it.
Placement place(const std::vector<Life>& lives, const std::vector<uint32_t>& order, bool tight) {
  struct Placed {
    int64_t from, to;
    int32_t begin, end;
  };
  Placement out;
  out.offsets.assign(lives.size(), -1);
  std::vector<Placed> placed;  // sorted by offset
  placed.reserve(order.size());
  for (uint32_t i : order) {
    const Life& l = lives[i];
    int64_t at = 0, gap_at = -1, gap = INT64_MAX;
    for (const Placed& p : placed) {
      if (p.begin > l.end || l.begin > p.end || p.to <= at) continue;
      if (const int64_t room = p.from - at; room >= l.bytes && room < gap) {
        gap_at = at;
        gap = room;
        if (!tight) break;
      }
      at = p.to;
    }
    if (gap_at >= 0) at = gap_at;
    const auto to = checked_add(at, l.bytes);
    if (!to) continue;
    out.offsets[i] = at;
    out.bytes = std::max(out.bytes, *to);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at, [](int64_t v, const Placed& p) { return v < p.from; }), {at, *to, l.begin, l.end});
  }
  return out;
}

/// No placement can need less.
int64_t most_alive(const std::vector<Life>& lives, const std::vector<uint32_t>& order) {
  std::vector<std::pair<int32_t, int64_t>> changes;
  for (uint32_t i : order) {
    changes.emplace_back(lives[i].begin, lives[i].bytes);
    changes.emplace_back(lives[i].end + 1, -lives[i].bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t alive = 0, most = 0;
  for (const auto& [at, bytes] : changes) most = std::max(most, alive += bytes);
  return most;
}

}  // namespace

// Largest first, each at the lowest offset that is free during its life; if `thorough`, the best of several orders.
Plan make_plan(const Function& f, std::vector<int64_t>& scalars, bool thorough) {
  const size_t n = f.planned.size();
  Plan plan;
  for (Slot s : f.plan_key) plan.key.push_back(scalars[static_cast<size_t>(s)]);
  for (const Code& c : f.plan_code)
    if (!run_scalar(c, scalars.data()).ok()) scalars[static_cast<size_t>(c.a)] = -1;
  plan.offsets.assign(n, -1);
  plan.sizes.resize(n);
  for (size_t i = 0; i < n; ++i) plan.sizes[i] = planned_bytes(f.planned[i], scalars);
  const std::vector<int64_t>& bytes = plan.sizes;

  // What lies over another one shares its place; the first of them is placed, for the life of all.
  plan.in_place.assign(n, 0);
  std::vector<uint32_t> first(n);
  std::iota(first.begin(), first.end(), 0);
  std::vector<int32_t> ends(n);
  for (size_t i = 0; i < n; ++i) {
    ends[i] = f.planned[i].end;
    const int32_t over = f.planned[i].over;
    if (over < 0 || static_cast<size_t>(over) >= i || bytes[i] <= 0 || bytes[i] != bytes[static_cast<size_t>(over)]) continue;
    plan.in_place[i] = 1;
    first[i] = first[static_cast<size_t>(over)];
    ends[first[i]] = std::max(ends[first[i]], ends[i]);
  }

  std::vector<Life> lives(n);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < n; ++i) {
    lives[i] = {bytes[i], f.planned[i].begin, ends[i]};
    if (!plan.in_place[i] && bytes[i] > 0) order.push_back(i);
    if (bytes[i] == 0) plan.offsets[i] = 0;
  }
  auto sorted = [&](auto&& key) {
    std::vector<uint32_t> o = order;
    std::stable_sort(o.begin(), o.end(), [&](uint32_t x, uint32_t y) { return key(lives[x]) > key(lives[y]); });
    return o;
  };
  Placement best = place(lives, sorted([](const Life& l) { return l.bytes; }), false);
  if (thorough) {
    const int64_t least = most_alive(lives, order);
    const std::vector<uint32_t> others[] = {
        sorted([](const Life& l) { return l.bytes; }),
        sorted([](const Life& l) { return static_cast<double>(l.bytes) * (l.end - l.begin + 1); }),
        sorted([](const Life& l) { return l.end - l.begin; }),
        sorted([](const Life& l) { return -l.begin; }),
        sorted([](const Life& l) { return l.end; }),
    };
    for (const auto& o : others)
      for (const bool tight : {false, true}) {
        if (best.bytes <= least) break;
        if (Placement other = place(lives, o, tight); other.bytes < best.bytes) best = std::move(other);
      }
  }
  plan.bytes = best.bytes;
  for (uint32_t i : order) plan.offsets[i] = best.offsets[i];
  for (size_t i = 0; i < n; ++i)
    if (plan.in_place[i]) plan.offsets[i] = plan.offsets[first[i]];
  return plan;
}

}  // namespace msvm::vm
