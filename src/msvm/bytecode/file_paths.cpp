#include "msvm/bytecode/file_paths.h"

namespace msvm {

std::string parent_directory(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status check_beside_path(std::string_view name) {
  auto bad = [&] { return malformed("the file name \"" + std::string(name) + "\" leads out of the module's folder"); };
  if (name.empty() || name.find('\0') != std::string_view::npos) return bad();
  for (size_t from = 0; from <= name.size();) {
    size_t to = std::min(name.find('/', from), name.size());
    std::string_view part = name.substr(from, to - from);
    if (part.empty() || part == "..") return bad();
    from = to + 1;
  }
  return {};
}

}  // namespace msvm
