// For tests: small ONNX models, written with protozero.
#pragma once
#include <cstring>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "importers/onnx/import.h"

namespace msvm::onnx_test {

using protozero::pbf_writer;

enum Type : int { kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kBool = 9, kHalf = 10, kFloat8 = 17 };

/// An attribute, as the bytes of an AttributeProto.
std::string attribute(const std::string& name, int kind, const auto& fill) {
  std::string out;
  pbf_writer w(out);
  w.add_string(1, name);
  fill(w);
  w.add_int32(20, kind);
  return out;
}
inline std::string attr_int(const std::string& name, int64_t v) { return attribute(name, 2, [&](pbf_writer& w) { w.add_int64(3, v); }); }
inline std::string attr_float(const std::string& name, float v) { return attribute(name, 1, [&](pbf_writer& w) { w.add_float(2, v); }); }
inline std::string attr_string(const std::string& name, const std::string& v) { return attribute(name, 3, [&](pbf_writer& w) { w.add_bytes(4, v); }); }
inline std::string attr_ints(const std::string& name, const std::vector<int64_t>& v) {
  return attribute(name, 7, [&](pbf_writer& w) { w.add_packed_int64(8, v.begin(), v.end()); });
}
inline std::string attr_graph(const std::string& name, const std::string& graph) { return attribute(name, 5, [&](pbf_writer& w) { w.add_message(6, graph); }); }
inline std::string attr_tensor(const std::string& name, const std::string& tensor) { return attribute(name, 4, [&](pbf_writer& w) { w.add_message(5, tensor); }); }
inline std::string attr_reference(const std::string& name, const std::string& of, int kind) { return attribute(name, kind, [&](pbf_writer& w) { w.add_string(21, of); }); }

inline std::string tensor(const std::string& name, int type, const std::vector<int64_t>& dims, const std::string& raw) {
  std::string out;
  pbf_writer w(out);
  w.add_packed_int64(1, dims.begin(), dims.end());
  w.add_int32(2, type);
  w.add_string(8, name);
  w.add_bytes(9, raw);
  return out;
}
template <class T>
std::string raw(const std::vector<T>& v) { return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)}; }
inline std::string ints(const std::string& name, const std::vector<int64_t>& v) { return tensor(name, kInt64, {static_cast<int64_t>(v.size())}, raw(v)); }
inline std::string int_scalar(const std::string& name, int64_t v) { return tensor(name, kInt64, {}, raw(std::vector{v})); }
inline std::string floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& v) { return tensor(name, kFloat, dims, raw(v)); }

struct Size {
  int64_t value = -1;
  std::string param;
  Size(int v) : value(v) {}                                // NOLINT(google-explicit-constructor)
  Size(const char* name) : param(name) {}                  // NOLINT(google-explicit-constructor)
};

inline std::string value_info(const std::string& name, int type, const std::vector<Size>* shape) {
  std::string out, type_proto, tensor_type;
  {
    pbf_writer w(tensor_type);
    w.add_int32(1, type);
    if (shape) {
      std::string dims;
      pbf_writer d(dims);
      for (const Size& s : *shape) {
        std::string dim;
        pbf_writer one(dim);
        if (!s.param.empty()) one.add_string(2, s.param);
        else if (s.value >= 0) one.add_int64(1, s.value);
        d.add_message(1, dim);
      }
      w.add_message(2, dims);
    }
    pbf_writer t(type_proto);
    t.add_message(1, tensor_type);
  }
  pbf_writer w(out);
  w.add_string(1, name);
  w.add_message(2, type_proto);
  return out;
}

/// A GraphProto under construction.
class GraphWriter {
 public:
  GraphWriter() : w_(bytes_) { w_.add_string(2, "g"); }
  GraphWriter(const GraphWriter&) = delete;
  GraphWriter& input(const std::string& name, int type, const std::vector<Size>& shape) { return field(11, value_info(name, type, &shape)); }
  GraphWriter& input_of_unknown_rank(const std::string& name, int type) { return field(11, value_info(name, type, nullptr)); }
  GraphWriter& output(const std::string& name, int type = kFloat) { return field(12, value_info(name, type, nullptr)); }
  GraphWriter& weight(const std::string& tensor) { return field(5, tensor); }
  GraphWriter& node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out, const std::vector<std::string>& attributes = {},
                    const std::string& domain = "") {
    std::string n;
    pbf_writer w(n);
    for (const auto& name : in) w.add_string(1, name);
    for (const auto& name : out) w.add_string(2, name);
    w.add_string(3, "n_" + out[0]);
    w.add_string(4, op);
    for (const auto& a : attributes) w.add_message(5, a);
    if (!domain.empty()) w.add_string(7, domain);
    return field(1, n);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  GraphWriter& field(uint32_t tag, const std::string& message) {
    w_.add_message(tag, message);
    return *this;
  }
  std::string bytes_;
  pbf_writer w_;
};

inline std::string opset_import(const std::string& domain, int64_t version) {
  std::string o;
  pbf_writer w(o);
  w.add_string(1, domain);
  w.add_int64(2, version);
  return o;
}

inline std::string model(const GraphWriter& g, int64_t opset = 18, const std::vector<std::string>& functions = {}) {
  std::string out;
  pbf_writer w(out);
  w.add_int64(1, 8);
  w.add_message(8, opset_import("", opset));
  w.add_message(7, g.bytes());
  for (const auto& f : functions) {
    w.add_message(25, f);
    w.add_message(8, opset_import("local", 1));
  }
  return out;
}

inline OnnxImportResult import_bytes(const std::string& bytes, OnnxImportOptions options = {}) {
  auto owner = std::make_shared<std::string>(bytes);
  return import_onnx(std::as_bytes(std::span(owner->data(), owner->size())), owner, options);
}

}  // namespace msvm::onnx_test
