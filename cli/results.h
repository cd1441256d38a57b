// What a run gave: as a line, as a file.
#pragma once
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::cli {

/// "f32[2, 3] = [0, 1, 2, 3, 4, 5]"; of large tensors the first elements.
std::string describe(const Value& v);
/// .npz, or .npy for one output.
Status write_outputs(const std::string& path, const Function& f, const std::vector<Value>& values);

}  // namespace msvm::cli
