// .npy and .npz: numpy's array files.
#pragma once
#include <map>
#include <string>

#include "msvm/engine/engine.h"

namespace msvm::cli {

/// C order, native byte order, version 1 to 3; sizes are compared with what the file holds.
Result<TensorValue> read_npy(const std::string& path, Engine& engine);
Result<std::map<std::string, TensorValue>> read_npz(const std::string& path, Engine& engine);
Status write_npy(const std::string& path, const TensorMeta& dense);
Status write_npz(const std::string& path, const std::map<std::string, TensorMeta>& dense);

}  // namespace msvm::cli
