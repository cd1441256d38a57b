#include "dispatch_table.h"

#include <algorithm>

namespace msvm::python {
namespace {

PyEntry& entry_of(const nb::object& o) { return *nb::inst_ptr<PyEntry>(o); }

}  // namespace

std::shared_ptr<DispatchTable::Record> DispatchTable::record(const Scratch& s) const {
  auto found = by_hash_.find(s.hash);
  if (found == by_hash_.end()) return nullptr;
  if (found->second.size() == 1) {
    auto r = found->second[0];
    return r->key.matches(s) ? r : nullptr;
  }
  const Records records = found->second;
  for (const auto& r : records)
    if (r->key.matches(s)) return r;
  return nullptr;
}

nb::object DispatchTable::find(Scratch& s) {
  auto r = record(s);
  if (!r) return {};
  for (size_t i = 0; i < r->entries.size(); ++i) {
    nb::object o = r->entries[i];
    PyEntry& e = entry_of(o);
    if (!e.conditions.empty() && !e.guards_hold(s.objects)) continue;
    if (!e.take_inputs(s)) continue;
    ++e.calls;
    e.last_used = ++clock_;
    return o;
  }
  return {};
}

void DispatchTable::add(const Scratch& s, nb::object entry) {
  entry_of(entry).last_used = ++clock_;
  auto r = record(s);
  if (!r) {
    r = std::make_shared<Record>(s);
    by_hash_[s.hash].push_back(r);
  }
  r->entries.insert(r->entries.begin(), std::move(entry));
  if (++count_ > max_entries_) evict();
}

void DispatchTable::discard(PyObject* entry) {
  std::vector<nb::object> gone;  // destroyed last: that may run Python code
  for (auto& [h, records] : by_hash_)
    for (auto& r : records)
      for (size_t i = r->entries.size(); i-- > 0;)
        if (r->entries[i].ptr() == entry) {
          gone.push_back(std::move(r->entries[i]));
          r->entries.erase(r->entries.begin() + static_cast<ptrdiff_t>(i));
          --count_;
        }
}

void DispatchTable::evict() {
  uint64_t oldest = UINT64_MAX;
  uint64_t hash = 0;
  std::shared_ptr<Record> from;
  size_t at = 0;
  for (const auto& [h, records] : by_hash_)
    for (const auto& r : records)
      for (size_t i = 0; i < r->entries.size(); ++i)
        if (entry_of(r->entries[i]).last_used < oldest) {
          oldest = entry_of(r->entries[i]).last_used;
          hash = h;
          from = r;
          at = i;
        }
  if (!from) return;
  --count_;
  const nb::object gone = from->entries[at];  // its end may run Python code: after the table is whole again
  from->entries.erase(from->entries.begin() + static_cast<std::ptrdiff_t>(at));
  if (!from->entries.empty()) return;
  Records& records = by_hash_[hash];
  std::erase(records, from);
  if (records.empty()) by_hash_.erase(hash);
}

nb::list DispatchTable::entries() const {
  std::vector<nb::object> all;
  for (const auto& [h, records] : by_hash_)
    for (const auto& r : records) all.insert(all.end(), r->entries.begin(), r->entries.end());
  std::sort(all.begin(), all.end(), [](const nb::object& a, const nb::object& b) { return entry_of(a).last_used > entry_of(b).last_used; });
  nb::list out;
  for (const nb::object& e : all) out.append(e);
  return out;
}

void DispatchTable::clear() {
  std::unordered_map<uint64_t, Records> gone;
  std::swap(gone, by_hash_);
  count_ = 0;
}

int DispatchTable::visit(visitproc visit, void* arg) const {
  for (const auto& [h, records] : by_hash_)
    for (const auto& r : records) {
      for (const nb::object& o : r->key.constants) Py_VISIT(o.ptr());
      for (const nb::object& o : r->entries) Py_VISIT(o.ptr());
    }
  return 0;
}

}  // namespace msvm::python
