// Verified bytecode -> decoded functions.
#pragma once
#include "msvm/vm/code.h"
#include "msvm/vm/session.h"

namespace msvm {

struct Program::Impl {
  std::vector<vm::Function> functions;
  std::vector<TensorMeta> constants;   // metadata of each module constant
  std::vector<StorageRef> constant_storage;
};

namespace vm {
Result<Function> decode_function(const VerifiedModule& module, int32_t index);
}

}  // namespace msvm
