// TensorProto -> constants: typed and raw data, data in files beside the model.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/proto.h"
#include "msvm/base/file.h"
#include "msvm/shape/dtype.h"

namespace msvm::onnx {

/// Elements known at import. `data` holds shape × dtype bytes, aligned to the element; strings stand in `strings`.
struct ConstTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  int64_t elements = 1;
  const std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> keep_alive;
  std::vector<std::string> strings;
  int32_t module_id = -1;  // in the module's constant pool, once something needs it there
};
using ConstPtr = std::shared_ptr<ConstTensor>;

/// A constant that owns `size` bytes of fresh, aligned memory, to be filled through `bytes`.
struct OwnedConst {
  ConstPtr tensor;
  std::byte* bytes = nullptr;
};
Result<OwnedConst> make_const(std::string name, DType dtype, std::vector<int64_t> shape);

std::string onnx_type_name(int32_t data_type);  // "FLOAT8E4M3FN"
/// kUnsupported with the name of the type.
Result<DType> dtype_of(int32_t data_type);

/// Reads the tensors of one model.
class TensorReader {
 public:
  /// `keep_alive` owns the model's bytes; `directory` is where external data may lie (empty: nowhere).
  TensorReader(std::shared_ptr<const void> keep_alive, std::string directory, bool copy)
      : keep_alive_(std::move(keep_alive)), directory_(std::move(directory)), copy_(copy) {}
  Result<ConstPtr> read(const TensorProto& t);

 private:
  Result<std::span<const std::byte>> external(const TensorProto& t, std::shared_ptr<const void>& keep_alive);

  std::shared_ptr<const void> keep_alive_;
  std::string directory_;
  bool copy_;
  std::map<std::string, std::shared_ptr<MappedFile>, std::less<>> files_;
};

}  // namespace msvm::onnx
