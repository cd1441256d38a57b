// The messages of onnx.proto as plain structs. Text and tensor bytes are views into the model's bytes.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::onnx {

struct Graph;

/// TensorProto. Typed data fields stay undecoded: one view per chunk of the repeated field.
struct TensorProto {
  struct Chunk {
    std::string_view bytes;  // packed values
    bool packed = true;      // else `value` is the one value
    uint64_t value = 0;      // bits of an unpacked varint or fixed value
  };
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  std::optional<std::string_view> raw_data;
  std::vector<Chunk> float_data, int32_data, int64_data, double_data, uint64_data;
  std::vector<std::string_view> string_data;
  bool external = false, segmented = false;
  std::map<std::string_view, std::string_view> external_data;
};

enum class AttributeKind : int32_t { kUndefined = 0, kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kGraph = 5, kFloats = 6, kInts = 7, kStrings = 8, kTensors = 9, kGraphs = 10, kSparseTensor = 11, kSparseTensors = 12, kType = 13, kTypes = 14 };

/// ValueInfoProto's type; of sequences and optionals only what the importer asks.
struct Dimension {
  std::optional<int64_t> value;
  std::string_view param;
};
struct TypeProto {
  enum class Kind { kNone, kTensor, kSequence, kOptional, kOther };
  Kind kind = Kind::kNone;
  int32_t elem_type = 0;                        // of the tensor, or of the sequence's or optional's tensors
  std::optional<std::vector<Dimension>> shape;  // absent: rank unknown
};
struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct Attribute {
  std::string_view name, reference;  // reference: an attribute of the enclosing function
  AttributeKind kind = AttributeKind::kUndefined;
  double f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::shared_ptr<TensorProto> tensor;
  std::shared_ptr<Graph> graph;
  TypeProto type;
};

struct Node {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;
  const Attribute* find(std::string_view attribute) const;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;
  std::vector<std::string_view> sparse_initializers;  // names: not supported
  std::vector<ValueInfo> inputs, outputs, value_info;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> attribute_defaults;
  std::vector<OpsetImport> opsets;
  Graph body;  // nodes only
};

struct Model {
  int64_t ir_version = 0;
  std::string_view producer_name, producer_version, domain;
  std::vector<OpsetImport> opsets;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  std::optional<Graph> graph;
  std::vector<FunctionProto> functions;
};

/// Nesting of graphs within graphs that a file may have.
constexpr int kMaxGraphDepth = 48;
/// Nodes, attributes, tensors, declared values and graphs together.
constexpr int64_t kMaxMessages = 1 << 21;

/// Reads the structure; whatever it returns points into `bytes`.
Result<Model> read_model(std::span<const std::byte> bytes);

}  // namespace msvm::onnx
