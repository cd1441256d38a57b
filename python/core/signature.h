// What a dispatcher asks Python for: the leaves of a call's arguments, their kinds, and how to put others in their places.
#pragma once
#include "key.h"

namespace msvm::python {

struct PySignature {
  nb::object parameters;   // tuple of names
  nb::list leaves, kinds, names;
  std::vector<Node> nodes;
  std::vector<Place> places;

  /// The arguments by parameter, with these in the places of the leaves.
  nb::tuple rebuild(nb::handle leaves) const;
};

/// `kinds` as ("tensor", dtype, rank), ("i64",), ("f64",), ("bool",), ("const", value); `names` as "x", "size_0".
nb::object make_signature(nb::handle parameters, Scratch& s, std::vector<Node> nodes, std::vector<Place> places);
void bind_signature(nb::module_& m);

}  // namespace msvm::python
