// Which constants of a program may lose their raw bytes once kernels have packed them. Private to the room.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "msvm/verify/verify.h"

namespace msvm {

/// Constants that are copies of a file (base/file_copy.h), that nobody but `module` holds, and that the program only gives to calls in
/// places where some kernel of the operator packs what it gets. Takes the last pointer to a module, before anything copies it.
class RawConstants {
 public:
  RawConstants() = default;
  explicit RawConstants(const Module& module);
  bool may_go(const std::byte* data) const { return instances_.contains(data); }
  /// Bit i: input i of the call is such a constant.
  uint64_t inputs_of(const Module& module, const Function& function, const Instr& call) const;

 private:
  std::map<const std::byte*, long> instances_;         // constants of the module with these bytes
  std::vector<std::vector<const std::byte*>> values_;  // by function and register; null: no constant
};

}  // namespace msvm
