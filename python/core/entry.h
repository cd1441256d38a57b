// A program that a dispatcher calls: where its inputs come from, when it may serve, what becomes of its results.
#pragma once
#include "access.h"
#include "executable.h"
#include "key.h"

namespace msvm::python {

/// One value of the results, or a container of them.
struct Output {
  enum Kind : uint8_t { kTensor, kInt, kFloat, kBool, kConst, kTuple, kList, kDict, kMade } kind = kConst;
  size_t result = 0;
  nb::object constant;   // kConst: it; kDict: tuple of keys; kMade: what makes it of the list of its items
  std::vector<Output> items;
};

struct InputSource {
  int leaf = -1;                       // or
  std::unique_ptr<AccessPath> path;
};

struct PyEntry {
  /// InputError for descriptions that don't fit the program.
  PyEntry(nb::handle executable, nb::handle inputs, nb::handle guards, nb::handle outputs);

  PyEntry(const PyEntry&) = delete;
  PyEntry& operator=(const PyEntry&) = delete;

  bool guards_hold(std::span<PyObject* const> leaves) const;
  /// Fills `s.inputs`; false if a value isn't of the kind that the program takes.
  bool take_inputs(Scratch& s) const;
  nb::object give_outputs(Scratch& s) const;
  int visit(visitproc visit, void* arg) const;
  void clear();

  nb::object executable, info;
  nb::object inputs, guards, outputs;  // as they were described
  std::vector<InputSource> sources;
  std::vector<Guard> conditions;
  Output result;
  int last_leaf = -1;
  int64_t calls = 0;
  uint64_t last_used = 0;
};

void bind_entry(nb::module_& m);

}  // namespace msvm::python
