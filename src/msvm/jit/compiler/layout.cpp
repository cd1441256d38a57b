#include "msvm/jit/compiler/layout.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
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

}  // namespace

Result<Layout> lay_out(llvm::ArrayRef<char> bytes, const std::vector<std::string>& names) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "code");
  MSVM_LLVM_OR_RETURN(const auto object, ELF64LEObjectFile::create(buffer));
  Placer placer{object, {}, {}};
  MSVM_RETURN_IF_ERROR(placer.place());
  for (const SectionRef& section : object.sections()) MSVM_RETURN_IF_ERROR(placer.resolve(section));
  std::map<std::string, uint64_t, std::less<>> found;
  for (const auto& symbol : object.symbols()) {
    MSVM_LLVM_OR_RETURN(const llvm::StringRef name, symbol.getName());
    MSVM_LLVM_OR_RETURN(const auto section, symbol.getSection());
    if (section == object.section_end() || !section->isText()) continue;
    MSVM_ASSIGN_OR_RETURN(found[name.str()], placer.address(symbol));
  }
  for (const std::string& name : names) {
    const auto place = found.find(name);
    if (place == found.end()) return internal_error(fmt::format("the object file lacks {}", name));
    placer.out.offsets.push_back(static_cast<uint32_t>(place->second));
  }
  return std::move(placer.out);
}

}  // namespace msvm::compiler
