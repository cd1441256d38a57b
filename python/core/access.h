// Where values outside of a call's arguments are read: globals, cells, attributes.
#pragma once
#include <memory>
#include <span>

#include "common.h"

namespace msvm::python {

/// A value that is read anew at every call:
///   ("global", dict, name)   of the module, else of the builtins
///   ("cell", cell)           ("value", object)
///   ("leaf", k)              argument leaf k
///   ("attr", object, name)   ("item", object, key)
///   ("attr_of", path, name)  ("item_of", path, key)
class AccessPath {
 public:
  /// InputError unless `description` is one of these.
  explicit AccessPath(nb::handle description);
  /// A new reference; null, without an exception, where nothing is there.
  PyObject* read(std::span<PyObject* const> leaves) const;
  int visit(visitproc visit, void* arg) const;
  void clear();
  /// The highest leaf it reads; -1: none.
  int last_leaf() const;

 private:
  enum class Kind : uint8_t { kGlobal, kCell, kValue, kLeaf, kAttr, kItem };
  Kind kind_;
  nb::object object_, name_;
  int leaf_ = -1;
  std::unique_ptr<AccessPath> base_;
};

/// What a path must give for an entry to serve. Numbers, str, None and tuples of them by value and exact type, others by identity.
class Guard {
 public:
  Guard(nb::handle path, nb::handle expected) : path_(path), expected_(nb::borrow(expected)) {}
  bool holds(std::span<PyObject* const> leaves) const;
  int visit(visitproc visit, void* arg) const;
  void clear();
  int last_leaf() const { return path_.last_leaf(); }

 private:
  AccessPath path_;
  nb::object expected_;
};

/// By value and exact type for bool, int, float (bits), str, bytes, None and tuples; else by identity.
bool same_constant(PyObject* a, PyObject* b);

}  // namespace msvm::python
