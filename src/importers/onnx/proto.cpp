#include "importers/onnx/proto.h"

#include <bit>
#include <protozero/pbf_reader.hpp>

namespace msvm::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Thrown within this file only, beside protozero's own exceptions.
struct TooDeep {};
struct TooMany {};

/// Empty messages take two bytes in a file and a hundred times that here: their number is limited.
class Budget {
 public:
  void take() {
    if (left_-- <= 0) throw TooMany{};
  }

 private:
  int64_t left_ = kMaxMessages;
};

std::string_view text(pbf_reader& r) {
  auto v = r.get_view();
  return {v.data(), v.size()};
}

/// A field of a wire type that its declaration doesn't have is skipped, as protobuf does with unknown fields.
bool is(const pbf_reader& r, pbf_wire_type type) {
  return r.wire_type() == type;
}
bool is_bytes(const pbf_reader& r) { return is(r, pbf_wire_type::length_delimited); }
bool is_varint(const pbf_reader& r) { return is(r, pbf_wire_type::varint); }

void read_int64s(pbf_reader& r, std::vector<int64_t>& out) {
  if (is_bytes(r)) {
    for (int64_t v : r.get_packed_int64()) out.push_back(v);
  } else if (is_varint(r)) {
    out.push_back(r.get_int64());
  } else {
    r.skip();
  }
}

void read_floats(pbf_reader& r, std::vector<double>& out) {
  if (is_bytes(r)) {
    for (float v : r.get_packed_float()) out.push_back(v);
  } else if (is(r, pbf_wire_type::fixed32)) {
    out.push_back(r.get_float());
  } else {
    r.skip();
  }
}

void read_chunk(pbf_reader& r, std::vector<TensorProto::Chunk>& out) {
  switch (r.wire_type()) {
    case pbf_wire_type::length_delimited: out.push_back({text(r)}); break;
    case pbf_wire_type::varint: out.push_back({{}, false, r.get_uint64()}); break;
    case pbf_wire_type::fixed32: out.push_back({{}, false, r.get_fixed32()}); break;
    case pbf_wire_type::fixed64: out.push_back({{}, false, r.get_fixed64()}); break;
    default: r.skip();
  }
}

std::pair<std::string_view, std::string_view> read_entry(pbf_reader r) {
  std::pair<std::string_view, std::string_view> e;
  while (r.next()) {
    if (r.tag() == 1 && is_bytes(r)) e.first = text(r);
    else if (r.tag() == 2 && is_bytes(r)) e.second = text(r);
    else r.skip();
  }
  return e;
}

TensorProto read_tensor(pbf_reader r, Budget& budget) {
  budget.take();
  TensorProto t;
  while (r.next()) switch (r.tag()) {
      case 1: read_int64s(r, t.dims); break;
      case 2: if (is_varint(r)) t.data_type = r.get_int32(); else r.skip(); break;
      case 3: t.segmented = true; r.skip(); break;
      case 4: read_chunk(r, t.float_data); break;
      case 5: read_chunk(r, t.int32_data); break;
      case 6: if (is_bytes(r)) t.string_data.push_back(text(r)); else r.skip(); break;
      case 7: read_chunk(r, t.int64_data); break;
      case 8: if (is_bytes(r)) t.name = text(r); else r.skip(); break;
      case 9: if (is_bytes(r)) t.raw_data = text(r); else r.skip(); break;
      case 10: read_chunk(r, t.double_data); break;
      case 11: read_chunk(r, t.uint64_data); break;
      case 13: if (is_bytes(r)) t.external_data.insert(read_entry(r.get_message())); else r.skip(); break;
      case 14: if (is_varint(r)) t.external = r.get_int32() == 1; else r.skip(); break;
      default: r.skip();
    }
  return t;
}

Dimension read_dimension(pbf_reader r) {
  Dimension d;
  while (r.next()) {
    if (r.tag() == 1 && is_varint(r)) d.value = r.get_int64();
    else if (r.tag() == 2 && is_bytes(r)) d.param = text(r);
    else r.skip();
  }
  return d;
}

void read_tensor_type(pbf_reader r, TypeProto& t) {
  while (r.next()) {
    if (r.tag() == 1 && is_varint(r)) {
      t.elem_type = r.get_int32();
    } else if (r.tag() == 2 && is_bytes(r)) {
      t.shape.emplace();
      pbf_reader shape = r.get_message();
      while (shape.next()) {
        if (shape.tag() == 1 && is_bytes(shape)) t.shape->push_back(read_dimension(shape.get_message()));
        else shape.skip();
      }
    } else {
      r.skip();
    }
  }
}

TypeProto read_type(pbf_reader r, int depth) {
  if (depth <= 0) throw TooDeep{};
  TypeProto t;
  while (r.next()) {
    if (!is_bytes(r)) { r.skip(); continue; }
    switch (r.tag()) {
      case 1: t.kind = TypeProto::Kind::kTensor; read_tensor_type(r.get_message(), t); break;
      case 4:
      case 9: {
        TypeProto::Kind kind = r.tag() == 4 ? TypeProto::Kind::kSequence : TypeProto::Kind::kOptional;
        pbf_reader inner = r.get_message();
        while (inner.next()) {
          if (inner.tag() == 1 && is_bytes(inner)) t = read_type(inner.get_message(), depth - 1);
          else inner.skip();
        }
        t.kind = t.kind == TypeProto::Kind::kTensor ? kind : TypeProto::Kind::kOther;
        break;
      }
      case 5:
      case 8: t.kind = TypeProto::Kind::kOther; r.skip(); break;
      default: r.skip();
    }
  }
  return t;
}

ValueInfo read_value_info(pbf_reader r, Budget& budget) {
  budget.take();
  ValueInfo v;
  while (r.next()) {
    if (r.tag() == 1 && is_bytes(r)) v.name = text(r);
    else if (r.tag() == 2 && is_bytes(r)) v.type = read_type(r.get_message(), 8);
    else r.skip();
  }
  return v;
}

Graph read_graph(pbf_reader r, int depth, Budget& budget);

Attribute read_attribute(pbf_reader r, int depth, Budget& budget) {
  budget.take();
  Attribute a;
  while (r.next()) switch (r.tag()) {
      case 1: if (is_bytes(r)) a.name = text(r); else r.skip(); break;
      case 2: if (is(r, pbf_wire_type::fixed32)) a.f = r.get_float(); else r.skip(); break;
      case 3: if (is_varint(r)) a.i = r.get_int64(); else r.skip(); break;
      case 4: if (is_bytes(r)) a.s = text(r); else r.skip(); break;
      case 5: if (is_bytes(r)) a.tensor = std::make_shared<TensorProto>(read_tensor(r.get_message(), budget)); else r.skip(); break;
      case 6: if (is_bytes(r)) a.graph = std::make_shared<Graph>(read_graph(r.get_message(), depth - 1, budget)); else r.skip(); break;
      case 7: read_floats(r, a.floats); break;
      case 8: read_int64s(r, a.ints); break;
      case 9: if (is_bytes(r)) a.strings.push_back(text(r)); else r.skip(); break;
      case 14: if (is_bytes(r)) a.type = read_type(r.get_message(), 8); else r.skip(); break;
      case 20: if (is_varint(r)) a.kind = static_cast<AttributeKind>(r.get_int32()); else r.skip(); break;
      case 21: if (is_bytes(r)) a.reference = text(r); else r.skip(); break;
      default: r.skip();
    }
  return a;
}

Node read_node(pbf_reader r, int depth, Budget& budget) {
  budget.take();
  Node n;
  while (r.next()) {
    if (!is_bytes(r)) { r.skip(); continue; }
    switch (r.tag()) {
      case 1: n.inputs.push_back(text(r)); break;
      case 2: n.outputs.push_back(text(r)); break;
      case 3: n.name = text(r); break;
      case 4: n.op_type = text(r); break;
      case 5: n.attributes.push_back(read_attribute(r.get_message(), depth, budget)); break;
      case 7: n.domain = text(r); break;
      case 8: n.overload = text(r); break;
      default: r.skip();
    }
  }
  if (n.domain == "ai.onnx") n.domain = "";
  return n;
}

std::string_view read_sparse_name(pbf_reader r, Budget& budget) {
  while (r.next()) {
    if (r.tag() == 1 && is_bytes(r)) return read_tensor(r.get_message(), budget).name;
    r.skip();
  }
  return {};
}

Graph read_graph(pbf_reader r, int depth, Budget& budget) {
  if (depth <= 0) throw TooDeep{};
  budget.take();
  Graph g;
  while (r.next()) {
    if (!is_bytes(r)) { r.skip(); continue; }
    switch (r.tag()) {
      case 1: g.nodes.push_back(read_node(r.get_message(), depth, budget)); break;
      case 2: g.name = text(r); break;
      case 5: g.initializers.push_back(read_tensor(r.get_message(), budget)); break;
      case 11: g.inputs.push_back(read_value_info(r.get_message(), budget)); break;
      case 12: g.outputs.push_back(read_value_info(r.get_message(), budget)); break;
      case 13: g.value_info.push_back(read_value_info(r.get_message(), budget)); break;
      case 15: g.sparse_initializers.push_back(read_sparse_name(r.get_message(), budget)); break;
      default: r.skip();
    }
  }
  return g;
}

OpsetImport read_opset(pbf_reader r) {
  OpsetImport o;
  while (r.next()) {
    if (r.tag() == 1 && is_bytes(r)) o.domain = text(r);
    else if (r.tag() == 2 && is_varint(r)) o.version = r.get_int64();
    else r.skip();
  }
  if (o.domain == "ai.onnx") o.domain = "";
  return o;
}

FunctionProto read_function(pbf_reader r, Budget& budget) {
  budget.take();
  FunctionProto f;
  while (r.next()) {
    if (!is_bytes(r)) { r.skip(); continue; }
    switch (r.tag()) {
      case 1: f.name = text(r); break;
      case 4: f.inputs.push_back(text(r)); break;
      case 5: f.outputs.push_back(text(r)); break;
      case 6: f.attributes.push_back(text(r)); break;
      case 7: f.body.nodes.push_back(read_node(r.get_message(), kMaxGraphDepth, budget)); break;
      case 9: f.opsets.push_back(read_opset(r.get_message())); break;
      case 10: f.domain = text(r); break;
      case 11: f.attribute_defaults.push_back(read_attribute(r.get_message(), kMaxGraphDepth, budget)); break;
      case 12: f.body.value_info.push_back(read_value_info(r.get_message(), budget)); break;
      case 13: f.overload = text(r); break;
      default: r.skip();
    }
  }
  if (f.domain == "ai.onnx") f.domain = "";
  f.body.name = f.name;
  return f;
}

Model read(pbf_reader r) {
  Budget budget;
  Model m;
  while (r.next()) switch (r.tag()) {
      case 1: if (is_varint(r)) m.ir_version = r.get_int64(); else r.skip(); break;
      case 2: if (is_bytes(r)) m.producer_name = text(r); else r.skip(); break;
      case 3: if (is_bytes(r)) m.producer_version = text(r); else r.skip(); break;
      case 4: if (is_bytes(r)) m.domain = text(r); else r.skip(); break;
      case 7: if (is_bytes(r)) m.graph = read_graph(r.get_message(), kMaxGraphDepth, budget); else r.skip(); break;
      case 8: if (is_bytes(r)) m.opsets.push_back(read_opset(r.get_message())); else r.skip(); break;
      case 14: if (is_bytes(r)) m.metadata.push_back(read_entry(r.get_message())); else r.skip(); break;
      case 25: if (is_bytes(r)) m.functions.push_back(read_function(r.get_message(), budget)); else r.skip(); break;
      default: r.skip();
    }
  return m;
}

}  // namespace

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute) return &a;
  return nullptr;
}

Result<Model> read_model(std::span<const std::byte> bytes) {
  try {
    Model m = read(pbf_reader(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (!m.graph) return malformed("not an ONNX model: it holds no graph");
    return m;
  } catch (const protozero::exception& e) {
    return malformed(std::string("not an ONNX model: the protocol buffer is broken (") + e.what() + ")");
  } catch (const TooMany&) {
    return malformed("the model has too many parts (limit " + std::to_string(kMaxMessages) + ")");
  } catch (const TooDeep&) {
    return malformed("graphs or types of the model are nested too deeply (limit " + std::to_string(kMaxGraphDepth) + ")");
  }
}

}  // namespace msvm::onnx
