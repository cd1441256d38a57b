// A module as the sections of a file, apart from the constants' bytes.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "msvm/base/bytes.h"
#include "msvm/base/status.h"
#include "msvm/bytecode/dim_table.h"
#include "msvm/bytecode/file_format.h"
#include "msvm/bytecode/module.h"

namespace msvm {

/// A constant's place: in the file's data section, or in a file beside it.
struct ConstantPlace {
  std::string external_file;  // empty: in the data section
  uint64_t offset = 0;
};

class ModuleEncoder {
 public:
  explicit ModuleEncoder(const Module& module);

  /// Code alone; instruction offsets are known afterwards.
  void encode_code();
  /// Everything else. `places` is parallel to the constants.
  void encode_rest(const std::vector<ConstantPlace>& places);

  /// Byte offsets of all instructions in order: functions, blocks, instructions.
  const std::vector<uint32_t>& instruction_offsets() const { return offsets_; }
  /// OK, or the first reason why the module can't be written.
  Status status() const { return problem_.empty() ? Status() : invalid_argument("module can't be written: " + problem_); }
  std::vector<std::pair<format::Section, std::vector<std::byte>>> take_sections();

 private:
  void fail(const std::string& why);
  uint64_t string_index(std::string_view s);
  uint64_t type_index(const RegType& t);
  void check_owner(Dim canonical);
  void put_string(ByteWriter& w, std::string_view s) { w.varint(string_index(s)); }
  void put_dim(ByteWriter& w, Dim d);
  void put_count(ByteWriter& w, size_t n, size_t limit, const char* what);
  void put_operand_count(ByteWriter& w, size_t n, const Range& range, const Instr& i, const char* what);
  void put_instr(ByteWriter& w, const Function& f, const Instr& i);
  void put_attributes(ByteWriter& w, const Attributes& attrs);
  void put_type(ByteWriter& w, const RegType& t);
  void put_debug_info(ByteWriter& w, const DebugInfo& d);
  void put_params(ByteWriter& w, const std::vector<Param>& params);

  void encode_meta();
  void encode_symbols();
  void encode_dims();
  void encode_constants(const std::vector<ConstantPlace>& places);
  void encode_functions();
  void encode_debug();
  void encode_strings();

  const Module& module_;
  DimTable dims_;
  std::string problem_;
  int32_t function_ = DimTable::kNoOwner;                        // whose dims are being written
  std::unordered_map<std::string_view, uint64_t> string_index_;  // views into the module
  std::vector<std::string_view> strings_;
  std::unordered_map<std::string, uint64_t> type_index_;
  ByteWriter types_;
  std::vector<uint32_t> offsets_;
  std::vector<size_t> code_sizes_;  // per function
  ByteWriter code_;
  std::vector<std::pair<format::Section, std::vector<std::byte>>> sections_;
};

}  // namespace msvm
