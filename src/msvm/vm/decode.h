// Verified bytecode -> decoded functions.
#pragma once
#include "msvm/vm/code.h"
#include "msvm/vm/session.h"

namespace msvm {

struct Program::Impl {
  std::vector<vm::Function> functions;
  std::vector<TensorMeta> constants;   // metadata of each module constant
  std::vector<StorageRef> constant_storage;
  mutable std::vector<std::atomic<RegionTable*>> regions;          // by function
  mutable std::vector<std::unique_ptr<RegionTable>> region_tables;
  mutable std::mutex mutex;                                        // of region_tables
  mutable std::once_flag offsets_made;
  mutable std::vector<std::vector<uint32_t>> offsets;              // code_offsets(), once a run has failed
};

namespace vm {
/// With the borders of `regions` marked, which must outlive the result. Slots of tensors and lists are numbered alike with and without.
Result<Function> decode_function(const VerifiedModule& module, int32_t index, std::span<const RegionSpec> regions = {});
}

}  // namespace msvm
