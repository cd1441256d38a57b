// A module: functions, constants, symbols, debug information. A plain value; nothing in it has been checked until
// verify() says so.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/bytecode/instruction.h"
#include "msvm/shape/tensor_type.h"

namespace msvm {

/// Where an instruction comes from.
struct DebugInfo {
  std::string file;
  int32_t line = 0, column = 0;
  std::vector<std::string> origins;  // operators of the source, e.g. node names of an ONNX graph
  bool operator==(const DebugInfo&) const = default;
};

struct Register {
  RegType type;
  std::string name;  // source name; may be empty
};

struct Block {
  std::vector<Instr> instrs;  // the last one is the terminator
};

struct Param {
  std::string name;
  RegType type;           // shapes of inputs hold constants, named symbols or expressions of them
  bool donated = false;   // inputs only
};

struct Function {
  std::string name;
  std::vector<Param> inputs;
  std::vector<Param> outputs;
  std::vector<Register> regs;
  std::vector<Block> blocks;        // blocks[0] is the entry and has no predecessors
  std::vector<DebugInfo> debug{1};  // [0] is "unknown"
};

/// Bytes of a constant: owned, or mapped from a file that `keep_alive` holds open.
struct Constant {
  std::string name;
  TensorType type;                   // constant dims, row-major, dense
  const std::byte* data = nullptr;   // 64-byte aligned when built or read; may be null if empty
  size_t bytes = 0;
  std::shared_ptr<const void> keep_alive;
  std::vector<std::string> strings;  // elements of a string constant; `data` is then null
  uint64_t digest = 0;               // of the bytes (XXH64); 0 = not computed yet
  std::string external_file;         // non-empty: the bytes lie in that file beside the module (relative, '/'), mapped
  uint64_t external_offset = 0;
};

struct OpsetVersion {
  std::string domain;  // "" = ONNX, "msvm"
  int64_t version = 0;
};

/// Which symbol belongs to which register: a cache of register_dim(), brought up to date when symbols were added.
struct RegisterSymbols {
  std::unordered_map<uint64_t, SymbolId> ids;
  const DimContext* context = nullptr;
  size_t seen = 0;
};

struct Module {
  std::string name;
  std::string producer;
  std::vector<OpsetVersion> opsets;
  int32_t opt_level = 0;
  std::map<std::string, std::string> metadata;
  std::shared_ptr<DimContext> dims = std::make_shared<DimContext>();  // symbols and expressions of all functions
  std::vector<Constant> constants;
  std::vector<Function> functions;
  RegisterSymbols register_symbols;

  const Function* find_function(std::string_view name) const;
};

/// The symbol of i64 register `reg` of function `function`; made on first use. Its name is "R<reg>"; nothing is declared of its
/// value, it may be negative.
Dim register_dim(Module& module, int32_t function, Reg reg);

/// The newest ONNX operator set that operators of this build follow.
constexpr int64_t kOnnxOpset = 28;
constexpr int64_t kMsvmOpset = 1;

}  // namespace msvm
