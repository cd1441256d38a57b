#include "msvm/jit/compiler/layout.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>

#include <cstring>
#include <map>

namespace msvm::compiler {
namespace {

using llvm::object::ELF64LEObjectFile;
using llvm::object::ELFRelocationRef;
using llvm::object::ELFSectionRef;
using llvm::object::SectionRef;

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

#define MSVM_LLVM_OR_RETURN(lhs, expr)                                                              \
  auto MSVM_CONCAT(expected_, __LINE__) = (expr);                                                   \
  if (!MSVM_CONCAT(expected_, __LINE__)) return internal_error("object file: " + text_of(MSVM_CONCAT(expected_, __LINE__).takeError())); \
  lhs = std::move(*MSVM_CONCAT(expected_, __LINE__))

struct Placer {
  const ELF64LEObjectFile& object;
  Layout out;
  std::map<uint64_t, uint64_t> places;  // by index of the section

  Status place() {
    // Instructions first, so that entries keep their alignment; then constants.
    for (const bool code : {true, false})
      for (const ELFSectionRef section : object.sections()) {
        if (!(section.getFlags() & llvm::ELF::SHF_ALLOC) || section.isText() != code) continue;
        if (section.getFlags() & llvm::ELF::SHF_WRITE && section.getSize() > 0) return internal_error("the code has writable data");
        MSVM_LLVM_OR_RETURN(const llvm::StringRef bytes, section.getContents());
        const uint64_t alignment = std::max<uint64_t>(section.getAlignment().value(), 16);
        if (alignment > 64) return internal_error(fmt::format("a section wants an alignment of {}", alignment));
        out.code.resize((out.code.size() + alignment - 1) / alignment * alignment);
        places[section.getIndex()] = out.code.size();
        const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
        out.code.insert(out.code.end(), begin, begin + bytes.size());
      }
    return {};
  }

  /// Where a symbol lies in the code.
  Result<uint64_t> address(const llvm::object::SymbolRef& symbol) const {
    MSVM_LLVM_OR_RETURN(const llvm::StringRef name, symbol.getName());
    MSVM_LLVM_OR_RETURN(const auto section, symbol.getSection());
    const auto found = section == object.section_end() ? places.end() : places.find(section->getIndex());
    if (found == places.end()) return internal_error(fmt::format("the code refers to \"{}\", which is outside of it", name.str()));
    MSVM_LLVM_OR_RETURN(const uint64_t value, symbol.getValue());
    return found->second + value;
  }

  Status resolve(const SectionRef& relocations) {
    MSVM_LLVM_OR_RETURN(const auto target, relocations.getRelocatedSection());
    const auto place = target == object.section_end() ? places.end() : places.find(target->getIndex());
    if (place == places.end()) return {};  // not loaded
    for (const ELFRelocationRef r : relocations.relocations()) {
      if (r.getType() != llvm::ELF::R_X86_64_PC32 && r.getType() != llvm::ELF::R_X86_64_PLT32) return internal_error(fmt::format("a reference of type {}", r.getType()));
      if (r.getSymbol() == object.symbol_end()) return internal_error("a reference to no symbol");
      MSVM_ASSIGN_OR_RETURN(const uint64_t symbol, address(*r.getSymbol()));
      MSVM_LLVM_OR_RETURN(const int64_t addend, r.getAddend());
      const uint64_t at = place->second + r.getOffset();
      const int64_t value = static_cast<int64_t>(symbol) + addend - static_cast<int64_t>(at);
      const auto word = static_cast<int32_t>(value);
      if (at > out.code.size() || out.code.size() - at < 4 || word != value) return internal_error("a reference reaches too far");
      std::memcpy(out.code.data() + at, &word, 4);
    }
    return {};
  }
};

/// Rows of the only section of instructions, whose place is that of the code.
Result<std::vector<jit::LineRow>> line_rows(const ELF64LEObjectFile& object) {
  std::string why;
  auto note = [&](llvm::Error error) { why = text_of(std::move(error)); };
  const auto context = llvm::DWARFContext::create(object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", note, note);
  llvm::DWARFDataExtractor data(context->getDWARFObj(), context->getDWARFObj().getLineSection(), true, 8);
  llvm::DWARFDebugLine::SectionParser parser(data, *context, context->normal_units());
  std::vector<jit::LineRow> rows;
  while (!parser.done()) {
    const auto table = parser.parseNext(note, note);
    for (const auto& row : table.Rows) {
      if (row.EndSequence) continue;  // the sizes of kernels say it
      const jit::LineRow next{static_cast<uint32_t>(row.Address.Address), row.Line};
      if (!rows.empty() && rows.back().offset > next.offset) return internal_error("object file: lines out of order");
      if (!rows.empty() && rows.back().offset == next.offset) rows.pop_back();  // of no instruction
      if (rows.empty() || rows.back().line != next.line) rows.push_back(next);
    }
  }
  if (!why.empty()) return internal_error("object file: " + why);
  return rows;
}

}  // namespace

Result<Layout> lay_out(llvm::ArrayRef<char> bytes, const std::vector<std::string>& names) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "code");
  MSVM_LLVM_OR_RETURN(const auto object, ELF64LEObjectFile::create(buffer));
  Placer placer{object, {}, {}};
  MSVM_RETURN_IF_ERROR(placer.place());
  for (const SectionRef& section : object.sections()) MSVM_RETURN_IF_ERROR(placer.resolve(section));
  struct Function {
    uint64_t place = 0, size = 0;
  };
  std::map<std::string, Function, std::less<>> found;
  for (const llvm::object::ELFSymbolRef symbol : object.symbols()) {
    MSVM_LLVM_OR_RETURN(const llvm::StringRef name, symbol.getName());
    MSVM_LLVM_OR_RETURN(const auto section, symbol.getSection());
    if (section == object.section_end() || !section->isText()) continue;
    MSVM_ASSIGN_OR_RETURN(const uint64_t place, placer.address(symbol));
    found[name.str()] = {place, symbol.getSize()};
  }
  for (const std::string& name : names) {
    const auto place = found.find(name);
    if (place == found.end()) return internal_error(fmt::format("the object file lacks {}", name));
    placer.out.offsets.push_back(static_cast<uint32_t>(place->second.place));
    placer.out.lines.sizes.push_back(static_cast<uint32_t>(place->second.size));
  }
  MSVM_ASSIGN_OR_RETURN(placer.out.lines.rows, line_rows(object));
  return std::move(placer.out);
}

}  // namespace msvm::compiler
