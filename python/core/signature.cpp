#include "signature.h"

namespace msvm::python {
namespace {

nb::object build(const std::vector<Node>& nodes, size_t& at, nb::handle leaves) {
  const Node& n = nodes[at++];
  if (n.kind == Node::kLeaf) return leaves[static_cast<size_t>(n.count)];
  if (n.kind == Node::kDict) {
    nb::dict d;
    for (int32_t i = 0; i < n.count; ++i) {
      nb::object v = build(nodes, at, leaves);
      d[nb::handle(n.extra)[static_cast<size_t>(i)]] = v;
    }
    return d;
  }
  nb::list items;
  for (int32_t i = 0; i < n.count; ++i) items.append(build(nodes, at, leaves));
  switch (n.kind) {
    case Node::kList: return items;
    case Node::kSlice: return nb::steal(PySlice_New(nb::object(items[0]).ptr(), nb::object(items[1]).ptr(), nb::object(items[2]).ptr()));
    case Node::kTupleType: return nb::hasattr(n.extra, "_make") ? nb::object(n.extra.attr("_make")(items)) : nb::object(n.extra(items));
    default: return nb::tuple(items);
  }
}

}  // namespace

nb::tuple PySignature::rebuild(nb::handle values) const {
  if (nb::len(values) != nb::len(leaves)) raise(invalid_argument("rebuild: expected " + std::to_string(nb::len(leaves)) + " leaves, found " + std::to_string(nb::len(values))));
  nb::list out;
  for (size_t at = 0; at < nodes.size();) out.append(build(nodes, at, values));
  return nb::tuple(out);
}

nb::object make_signature(nb::handle parameters, Scratch& s, std::vector<Node> nodes, std::vector<Place> places) {
  PySignature sig;
  sig.parameters = nb::borrow(parameters);
  sig.nodes = std::move(nodes);
  sig.places = std::move(places);
  std::vector<uint32_t> count(nb::len(parameters));
  for (const Place& p : sig.places) ++count[p.parameter];
  for (size_t k = 0; k < s.leaves.size(); ++k) {
    const Leaf& l = s.leaves[k];
    sig.leaves.append(nb::handle(l.object));
    switch (l.kind) {
      case LeafKind::kTensor: sig.kinds.append(nb::make_tuple("tensor", dtype_object(l.dtype), l.rank)); break;
      case LeafKind::kI64: sig.kinds.append(nb::make_tuple("i64")); break;
      case LeafKind::kF64: sig.kinds.append(nb::make_tuple("f64")); break;
      case LeafKind::kBool: sig.kinds.append(nb::make_tuple("bool")); break;
      case LeafKind::kConst: sig.kinds.append(nb::make_tuple("const", nb::handle(l.object))); break;
    }
    const Place& p = sig.places[k];
    const std::string name = nb::cast<std::string>(parameters[p.parameter]);
    sig.names.append(nb::str((count[p.parameter] == 1 ? name : name + "_" + std::to_string(p.ordinal)).c_str()));
  }
  return nb::cast(std::move(sig));
}

void bind_signature(nb::module_& m) {
  nb::class_<PySignature>(m, "Signature")
      .def_ro("parameters", &PySignature::parameters, "Names.")
      .def_ro("leaves", &PySignature::leaves, "The leaves of the arguments, in order.")
      .def_ro("kinds", &PySignature::kinds, "Of each leaf: (\"tensor\", dtype, rank), (\"i64\",), (\"f64\",), (\"bool\",), (\"const\", value).")
      .def_ro("names", &PySignature::names, "Of each leaf: its parameter's, with a number where that holds several.")
      .def_prop_ro("args", [](const PySignature& s) { return s.rebuild(s.leaves); }, "The arguments, a value per parameter.")
      .def("rebuild", &PySignature::rebuild, nb::arg("leaves"), "The arguments, a value per parameter, with these in the places of the leaves.");
}

}  // namespace msvm::python
