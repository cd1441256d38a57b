#include "zip_file.h"

#include <fmt/core.h>
#include <zip.h>

namespace msvm::cli {

Status write_zip(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files) {
  int code = 0;
  zip_t* z = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!z) return {StatusCode::kIo, fmt::format("{}: can't be written", path)};
  for (const auto& [name, content] : files) {  // libzip reads them when it closes
    zip_source_t* s = zip_source_buffer(z, content.data(), content.size(), 0);
    if (!s || zip_file_add(z, name.c_str(), s, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8) < 0) {
      if (s) zip_source_free(s);
      zip_discard(z);
      return {StatusCode::kIo, fmt::format("{}: {} can't be added", path, name)};
    }
  }
  if (zip_close(z) != 0) {
    zip_discard(z);
    return {StatusCode::kIo, fmt::format("{}: can't be written", path)};
  }
  return {};
}

}  // namespace msvm::cli
