// The arguments of a call, flattened: leaves that are inputs, and the key that says which program serves them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tensor.h"

namespace msvm::python {

enum class LeafKind : uint8_t { kTensor, kI64, kF64, kBool, kConst };

/// A leaf of the arguments.
struct Leaf {
  PyObject* object = nullptr;  // lives as long as the call
  LeafKind kind = LeafKind::kConst;
  DType dtype{};
  uint8_t rank = 0;
  int32_t view = -1;           // of `Scratch::views`; -1: a Tensor
  int64_t i = 0;
  double d = 0;
};

/// A container of the arguments, in the order in which they are met: a node, then its children.
struct Node {
  enum Kind : uint8_t { kLeaf, kTuple, kList, kDict, kSlice, kTupleType } kind = kLeaf;
  int32_t count = 0;   // children; kLeaf: the leaf
  nb::object extra;    // kDict: tuple of the keys; kTupleType: the type
};

/// What a parameter's leaves are taken as.
struct Parameter {
  nb::object name;
  bool size = false;      // plain ints >= 0 are inputs
  bool number = false;    // plain floats are inputs
  bool is_static = false; // everything is part of the key
  std::vector<uint32_t> inputs;    // leaves (by place within the parameter) whose ints had too many values: inputs from then on
  std::vector<uint32_t> constant;  // leaves that stay constants, however many values they have
};

/// Space for one call, used again and again.
struct Scratch {
  std::vector<uint64_t> words;        // kinds and structure
  std::vector<PyObject*> constants;   // compared one by one; borrowed
  std::vector<Leaf> leaves;
  std::vector<PyObject*> objects;     // of the leaves
  std::vector<ArrayView> views;
  std::vector<nb::object> keep;       // what isn't sure to live as long as the call
  std::vector<PyObject*> slots;       // arguments by parameter
  std::vector<Value> inputs, results;
  std::vector<StorageRef> borrowed;   // one per array or number among the inputs
  std::vector<double> numbers;        // memory of those that go in as tensors of rank 0
  uint64_t hash = 0;
  void clear();
};

/// A leaf's place, for names and for what is known about it.
struct Place {
  uint32_t parameter = 0, ordinal = 0;
};

/// Appends the leaves of `o`, an argument of parameter `p`. `nodes` and `places`: where wanted, their structure. Raises for what
/// can't be an argument.
class Flattener {
 public:
  Flattener(Scratch& scratch, std::vector<Node>* nodes, std::vector<Place>* places) : s_(scratch), nodes_(nodes), places_(places) {}
  void begin(const Parameter& p, uint32_t index) {
    p_ = &p;
    parameter_ = index;
    ordinal_ = 0;
  }
  void add(PyObject* o, bool sure_to_live = true);

 private:
  void container(Node::Kind kind, PyObject* o, Py_ssize_t count);
  void children(PyObject* o, bool mutable_one);
  void constant(PyObject* o, bool sure_to_live);
  void array(PyObject* o, bool sure_to_live);
  void number(LeafKind kind, PyObject* o, bool sure_to_live);
  Leaf& leaf(LeafKind kind, PyObject* o, bool sure_to_live);
  void key_object(PyObject* o, bool sure_to_live);
  bool other(PyObject* o, bool sure_to_live);

  Scratch& s_;
  std::vector<Node>* nodes_;
  std::vector<Place>* places_;
  const Parameter* p_ = nullptr;
  uint32_t parameter_ = 0, ordinal_ = 0;
  int depth_ = 0;
};

/// A key that is kept: owns its objects.
struct Key {
  explicit Key(const Scratch& s);
  bool matches(const Scratch& s) const;
  uint64_t hash;
  std::vector<uint64_t> words;
  std::vector<nb::object> constants;
};

}  // namespace msvm::python
