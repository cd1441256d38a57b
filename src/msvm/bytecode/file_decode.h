// Sections of a file to a module. The bytes are foreign: each is looked at once, in a copy that nobody else can change.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "msvm/base/bytes.h"
#include "msvm/base/file.h"
#include "msvm/base/status.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/file_format.h"
#include "msvm/bytecode/module.h"

namespace msvm {

class ModuleDecoder {
 public:
  ModuleDecoder(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive, const ReadOptions& options)
      : bytes_(bytes), keep_alive_(std::move(keep_alive)), options_(options) {}
  Result<Module> decode();

 private:
  using Decode = void (ModuleDecoder::*)(ByteReader&);
  Status decode_header();
  Status decode_section(format::Section kind, const char* name, Decode method, bool required = true);

  void decode_strings(ByteReader& r);
  void decode_meta(ByteReader& r);
  void decode_symbols(ByteReader& r);
  void decode_dims(ByteReader& r);
  void decode_types(ByteReader& r);
  void decode_functions(ByteReader& r);
  void decode_code(ByteReader& r);
  void decode_debug(ByteReader& r);
  void decode_constants(ByteReader& r);
  Status check_register_symbols() const;

  const std::string& string(ByteReader& r);
  Dim dim(ByteReader& r);
  const RegType& type(ByteReader& r);
  SymbolInfo symbol_info(ByteReader& r);
  Dim sum(ByteReader& r, int32_t& owner);
  Dim part(ByteReader& r, int32_t& owner);
  std::vector<Param> params(ByteReader& r);
  void instruction(ByteReader& r, const Function& f, Instr& i);
  Attributes attributes(ByteReader& r);
  AttrValue attribute_value(ByteReader& r);
  DType dtype(ByteReader& r);
  void constant_bytes(ByteReader& r, Constant& c, uint64_t size);
  std::span<const std::byte> external_bytes(ByteReader& r, const std::string& name, std::shared_ptr<const void>& keep_alive);
  void debug_of(ByteReader& r, Function& f);

  struct SectionSpan {
    uint64_t offset = 0, size = 0;
  };

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keep_alive_;
  const ReadOptions& options_;
  uint16_t minor_ = 0;
  std::array<std::optional<SectionSpan>, format::kLastSection + 1> sections_;
  Module module_;
  std::vector<std::string> strings_;
  std::vector<Dim> dims_;
  std::vector<RegType> types_;
  std::vector<int32_t> dim_owners_, type_owners_;  // whose registers they mention
  int32_t function_ = -1;                          // whose sizes are being read
  std::vector<std::vector<size_t>> instructions_;  // per function, per block
  std::vector<size_t> code_sizes_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> external_;
};

}  // namespace msvm
