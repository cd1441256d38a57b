// `.msbc`: the binary form of a module. docs/format.md is the specification.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/base/status.h"
#include "msvm/bytecode/module.h"

namespace msvm {

constexpr uint16_t kFormatMajor = 1;
constexpr uint16_t kFormatMinor = 0;

/// Assigns Instr::offset of every instruction: what the writer will produce. verify() and diagnostics need it. Modules that
/// were read from a file have theirs. Works for modules that can't be written, too.
void assign_offsets(Module& module);

/// Bytes of the whole file; constants 64-byte aligned. Equal modules give equal bytes, however they were made. Fails for what
/// the reader would refuse: operands that don't fit the instruction's row, registers and blocks that don't exist, sizes that
/// overflowed, limits. Constants in a file beside the module stay there.
Result<std::vector<std::byte>> write_module(const Module& module);

struct WriteOptions {
  std::string weights_file;  // non-empty: constants of `min_external_bytes` and more go there, beside the module
  size_t min_external_bytes = 4096;
  bool embed = false;  // bring constants from files beside the module into it
};
/// Streams to a file (written beside it, then renamed): constants are not copied through memory first.
Status write_module_file(const Module& module, const std::string& path);
Status write_module_file(const Module& module, const std::string& path, const WriteOptions& options);

/// Hash (XXH64) of everything in the module; constants count through their digests.
Result<uint64_t> content_hash(const Module& module);

struct ReadOptions {
  bool copy = false;        // copy constants too, for files that others may write or truncate
  bool check_data = false;  // recompute the constants' digests
  std::string directory;    // of the files beside the module; read_module_file sets it
};
/// Reads the structure; `bytes` must stay alive as long as `keep_alive` does (constants point into it). Every offset,
/// index, enum and length that reading itself needs is checked; whether the program makes sense is verify()'s matter.
/// Constants of at most 4 KiB, and i32 and i64 ones of at most 1 MiB, are copied always: they may decide shapes. Files beside
/// the module are refused if `directory` is empty.
Result<Module> read_module(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive);
Result<Module> read_module(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive, const ReadOptions& options);
Result<Module> read_module_file(const std::string& path, const ReadOptions& options = {});

/// Limits on what a file or text may hold; exceeding one is an error of its own. Expressions have the limits of DimContext,
/// ranks kMaxRank.
struct FileLimits {
  static constexpr size_t kFunctions = 1 << 12, kBlocks = 1 << 20, kInstructions = 1 << 20, kRegisters = 1 << 20,
                          kSymbols = 1 << 20, kConstants = 1 << 20, kOperands = 1 << 16, kNameBytes = 1 << 16, kTextBytes = 1 << 28;
};

}  // namespace msvm
