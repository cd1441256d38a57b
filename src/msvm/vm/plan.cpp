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

}  // namespace

// Largest first, each at the lowest offset that is free during its life.
Plan make_plan(const Function& f, std::vector<int64_t>& scalars) {
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

  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < n; ++i)
    if (!plan.in_place[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return bytes[a] > bytes[b]; });

  struct Placed {
    int64_t from, to;
    int32_t begin, end;
  };
  std::vector<Placed> placed;  // sorted by offset
  placed.reserve(n);
  for (uint32_t i : order) {
    if (bytes[i] < 0) continue;
    if (bytes[i] == 0) {
      plan.offsets[i] = 0;
      continue;
    }
    const int32_t begin = f.planned[i].begin, end = ends[i];
    int64_t at = 0;
    for (const Placed& p : placed) {
      if (p.begin > end || begin > p.end || p.to <= at) continue;
      if (p.from - at >= bytes[i]) break;
      at = p.to;
    }
    const auto to = checked_add(at, bytes[i]);
    if (!to) continue;
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, *to);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at, [](int64_t v, const Placed& p) { return v < p.from; }), {at, *to, begin, end});
  }
  for (size_t i = 0; i < n; ++i)
    if (plan.in_place[i]) plan.offsets[i] = plan.offsets[first[i]];
  return plan;
}

}  // namespace msvm::vm
