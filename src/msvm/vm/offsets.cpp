#include "msvm/vm/offsets.h"

#include <algorithm>
#include <functional>

#include "msvm/bytecode/file.h"

namespace msvm {

std::vector<std::vector<uint32_t>> code_offsets(const Module& module) {
  auto read = [](const Module& m) {
    std::vector<std::vector<uint32_t>> out;
    for (const Function& f : m.functions) {
      auto& list = out.emplace_back();
      for (const Block& b : f.blocks)
        for (const Instr& i : b.instrs) list.push_back(i.offset);
    }
    return out;
  };
  auto out = read(module);
  // Those of a module that came from no file are 0, as are those of what the optimiser has put in.
  std::vector<uint32_t> all;
  for (const auto& f : out) all.insert(all.end(), f.begin(), f.end());
  if (std::adjacent_find(all.begin(), all.end(), std::greater_equal<>()) == all.end()) return out;
  Module copy = module;
  assign_offsets(copy);
  return read(copy);
}

}  // namespace msvm
