// A program's listing, each line with what it is.
#pragma once
#include "msvm/engine/engine.h"

namespace msvm::observe {

struct BytecodeLine {
  std::string text;
  int32_t function = -1, instruction = -1;  // -1: none stands on it
  int32_t region = -1;                      // of the function
  std::string place;                        // "model.py:47"
};

std::vector<BytecodeLine> bytecode_lines(const Executable& program);
std::string bytecode_json(const Executable& program);

}  // namespace msvm::observe
