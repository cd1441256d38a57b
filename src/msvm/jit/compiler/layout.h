// From an object file of the code generator to one piece of memory without references to anything outside.
#pragma once
#include <llvm/ADT/ArrayRef.h>

#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/image.h"

namespace msvm::compiler {

struct Layout {
  std::vector<std::byte> code;    // instructions and constants, for an address that is a multiple of 64
  std::vector<uint32_t> offsets;  // of `names`, in their order
  jit::LineTable lines;           // as the debug locations say
};

/// Places all sections that are loaded and resolves what refers from one to another. Fails, with the symbol's name, if anything
/// outside is needed.
Result<Layout> lay_out(llvm::ArrayRef<char> object, const std::vector<std::string>& names);

}  // namespace msvm::compiler
