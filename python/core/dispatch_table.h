// What a dispatcher has: entries by key.
#pragma once
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "entry.h"

namespace msvm::python {

/// Under the GIL. Comparing keys and checking guards may run Python code, which may call the dispatcher.
class DispatchTable {
 public:
  explicit DispatchTable(size_t max_entries) : max_entries_(max_entries) {}

  /// A new reference to an entry that serves these arguments; null if there is none. Its inputs are in `s.inputs` then.
  nb::object find(Scratch& s);
  /// The newest is tried first. The least recently used goes when there are too many.
  void add(const Scratch& s, nb::object entry);
  void discard(PyObject* entry);
  nb::list entries() const;
  void clear();
  int visit(visitproc visit, void* arg) const;

 private:
  struct Record {
    explicit Record(const Scratch& s) : key(s) {}
    Key key;
    std::vector<nb::object> entries;   // newest first
  };
  using Records = std::vector<std::shared_ptr<Record>>;
  std::shared_ptr<Record> record(const Scratch& s) const;
  void evict();

  size_t max_entries_;
  size_t count_ = 0;
  uint64_t clock_ = 0;
  std::unordered_map<uint64_t, Records> by_hash_;
};

}  // namespace msvm::python
