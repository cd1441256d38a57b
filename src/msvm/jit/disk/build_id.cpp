#include "msvm/jit/disk/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <span>

#include "msvm/base/bytes.h"
#include "msvm/base/file.h"

namespace msvm::jit {
namespace {

size_t padded(size_t n) { return (n + 3) & ~size_t{3}; }

/// The build id among the notes of one segment; empty if there is none.
std::string find_id(ByteReader notes) {
  while (notes.remaining() >= 12) {
    const size_t name_size = notes.u32(), id_size = notes.u32();
    const uint32_t type = notes.u32();
    if (name_size > notes.remaining() || id_size > notes.remaining()) return {};
    auto name = notes.bytes(padded(name_size));
    auto id = notes.bytes(padded(id_size));
    if (!notes.ok()) return {};
    if (type != NT_GNU_BUILD_ID || name_size != 4 || std::memcmp(name.data(), "GNU", 4) != 0) continue;
    std::string hex;
    for (std::byte b : id.first(id_size)) hex += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return hex;
  }
  return {};
}

std::string elf_id(std::span<const std::byte> file) {
  ByteReader whole(file);
  Elf64_Ehdr header{};
  auto bytes = whole.bytes(sizeof(header));
  if (!whole.ok()) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  ByteReader table = whole.section(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), "program headers");
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    auto b = table.bytes(sizeof(segment));
    if (!table.ok()) return {};
    std::memcpy(&segment, b.data(), sizeof(segment));
    if (segment.p_type != PT_NOTE) continue;
    std::string id = find_id(whole.section(segment.p_offset, segment.p_filesz, "notes"));
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace

std::string build_id_of_file(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return "none";
  if (std::string id = elf_id(file->data()); !id.empty()) return id;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "none";
  return fmt::format("{}-{}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string build_id_of_this_code() {
  static const std::string id = [] {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&build_id_of_this_code), &info) == 0 || info.dli_fname == nullptr)
      return std::string("none");
    // For the executable the name is what the program was called by, which may be relative.
    const bool absolute = info.dli_fname[0] == '/';
    return build_id_of_file(absolute ? info.dli_fname : "/proc/self/exe");
  }();
  return id;
}

std::string code_build(const std::string& compiler_path) {
  return fmt::format("{} {}", build_id_of_this_code(), build_id_of_file(compiler_path));
}

bool code_build_serves(std::string_view made_for, std::string_view here) {
  constexpr std::string_view kNoCompiler = " none";
  if (made_for == here) return true;
  if (!here.ends_with(kNoCompiler)) return false;
  const std::string_view caller = here.substr(0, here.size() - kNoCompiler.size() + 1);  // with the blank
  return made_for.starts_with(caller) && made_for.find(' ', caller.size()) == std::string_view::npos && made_for.size() > caller.size();
}

}  // namespace msvm::jit
