// cache: native code that is kept on disk.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common.h"
#include "msvm/base/utc_text.h"
#include "msvm/jit/compile/find_compiler.h"
#include "msvm/jit/disk/build_id.h"
#include "msvm/jit/disk/disk_cache.h"
#include "msvm/jit/disk/private_folder.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using jit::DiskCache;

/// Null if there is no folder yet.
Result<std::unique_ptr<DiskCache>> open_cache(const std::string& folder) {
  const auto compiler = jit::find_compiler("");
  auto cache = DiskCache::open({.folder = folder, .build = jit::code_build(compiler.ok() ? *compiler : std::string()), .create = false});
  if (!cache.ok() && cache.status().code() == StatusCode::kNotFound) return std::unique_ptr<DiskCache>();
  return cache;
}

Result<std::string> folder_of(const std::string& given) { return given.empty() ? jit::code_folder() : Result<std::string>(given); }

Status list(const std::string& folder, bool json) {
  MSVM_ASSIGN_OR_RETURN(const auto cache, open_cache(folder));
  const auto entries = cache ? cache->list() : std::vector<DiskCache::EntryInfo>();
  if (json) {
    Json j = Json::array();
    for (const auto& e : entries) j.push_back({{"label", e.label}, {"bytes", e.bytes}, {"used", utc_text(e.used_ns, 0)}, {"same_build", e.same_build}, {"file", e.file}});
    fmt::print("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  Table t({"used last", "bytes", "build", "code"});
  uint64_t bytes = 0;
  for (const auto& e : entries) {
    t.row({utc_text(e.used_ns, 0), std::to_string(e.bytes), e.same_build ? "this" : "another", e.label});
    bytes += e.bytes;
  }
  if (!entries.empty()) fmt::print("{}", t.to_string());
  fmt::print("{} entr{}, {}\n", entries.size(), entries.size() == 1 ? "y" : "ies", format_bytes(static_cast<double>(bytes)));
  return {};
}

Status size(const std::string& folder) {
  MSVM_ASSIGN_OR_RETURN(const auto cache, open_cache(folder));
  fmt::print("{}\n", cache ? cache->size() : 0);
  return {};
}

Status clear(const std::string& folder) {
  MSVM_ASSIGN_OR_RETURN(const auto cache, open_cache(folder));
  const size_t n = cache ? cache->clear() : 0;
  fmt::print("{} entr{} removed\n", n, n == 1 ? "y" : "ies");
  return {};
}

Status path(const std::string& folder) {
  MSVM_ASSIGN_OR_RETURN(const std::string name, folder_of(folder));
  fmt::print("{}\n", printable(name));
  return {};
}

}  // namespace

void add_cache(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("cache", "Native code on disk: list it, its size, remove it, where it lies");
  c->require_subcommand(1);
  c->footer("Examples: msvm cache list;  msvm cache clear --folder /tmp/code");
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto add = [&](const char* name, const char* what, auto command) {
    auto* s = c->add_subcommand(name, what);
    s->add_option("--folder", *folder, "of the code; default: MSVM_CACHE_DIR, or the user's");
    s->callback([=, &code] { code = report(command()); });
    return s;
  };
  add("list", "Entries, the one used last first; removes what isn't this user's work", [=] { return list(*folder, *json); })->add_flag("--json", *json, "as JSON");
  add("size", "Bytes of all entries", [=] { return size(*folder); });
  add("clear", "Remove all entries", [=] { return clear(*folder); });
  add("path", "The folder", [=] { return path(*folder); });
}

}  // namespace msvm::cli
