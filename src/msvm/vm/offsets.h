// Where the instructions of a program lie in its code section.
#pragma once
#include <cstdint>
#include <vector>

#include "msvm/bytecode/module.h"

namespace msvm {

/// By function and instruction: the offsets of the module's file, or what writing it would give.
std::vector<std::vector<uint32_t>> code_offsets(const Module& module);

}  // namespace msvm
