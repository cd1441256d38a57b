#include "msvm/base/file.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/file_decode.h"
#include "msvm/bytecode/file_paths.h"

namespace msvm {

Result<Module> read_module(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive) {
  return read_module(bytes, std::move(keep_alive), {});
}

Result<Module> read_module(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive, const ReadOptions& options) {
  return ModuleDecoder(bytes, std::move(keep_alive), options).decode();
}

Result<Module> read_module_file(const std::string& path, const ReadOptions& given) {
  ReadOptions options = given;
  if (options.directory.empty()) options.directory = parent_directory(path);
  auto read = [&](std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive) -> Result<Module> {
    auto module = read_module(bytes, std::move(keep_alive), options);
    if (!module.ok()) return module.status().with_context(path + ": ");
    return module;
  };
  if (options.copy) {  // not through a mapping: a file that shrinks meanwhile would end the process
    MSVM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read_file(path));
    return read(bytes, nullptr);
  }
  MSVM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  return read(file->data(), file);
}

}  // namespace msvm
