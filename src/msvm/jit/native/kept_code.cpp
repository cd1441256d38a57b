#include "msvm/jit/native/kept_code.h"

#include "msvm/jit/compile/find_compiler.h"
#include "msvm/jit/disk/build_id.h"

namespace msvm::jit {
namespace {

Result<std::unique_ptr<DiskCache>> open_cache(const std::string& compiler, const std::string& folder) {
  MSVM_ASSIGN_OR_RETURN(std::string path, find_compiler(compiler));
  return DiskCache::open({.folder = folder, .build = code_build(path)});
}

}  // namespace

DiskCache* KeptCode::disk() {
  {
    std::lock_guard lock(mutex_);
    if (opened_) return disk_.get();
  }
  auto opened = open_cache(compiler_, folder_);
  std::lock_guard lock(mutex_);
  if (!opened_ && opened.ok()) disk_ = std::move(*opened);
  opened_ = true;
  return disk_.get();
}

Image KeptCode::load(std::span<const std::byte> request) {
  {
    std::lock_guard lock(mutex_);
    if (Image image = bundles_.load(request)) return image;
  }
  DiskCache* cache = use_disk_ ? disk() : nullptr;
  return cache ? cache->load(request) : nullptr;
}

void KeptCode::store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) {
  if (DiskCache* cache = use_disk_ ? disk() : nullptr) cache->store(request, image, label);
}

Status KeptCode::add_bundle(const std::string& path, bool trust_native) {
  // Without a compiler, too: a bundle is for machines that have none. The folder only lends its key.
  const auto compiler = find_compiler(compiler_);
  const std::string build = code_build(compiler.ok() ? *compiler : std::string());
  const auto folder = DiskCache::open({.folder = folder_, .build = build, .create = false});
  if (!folder.ok() && !trust_native && folder.status().code() != StatusCode::kNotFound)
    return folder.status().with_context(path + ": the signature can't be checked: ");
  MSVM_ASSIGN_OR_RETURN(auto entries, read_bundle(path, folder.ok() ? folder->get() : nullptr, build, trust_native));
  std::lock_guard lock(mutex_);
  bundles_.add(entries);
  for (const BundleEntry& e : entries) labels_[e.label] = std::string(reinterpret_cast<const char*>(e.request.data()), e.request.size());
  return {};
}

std::map<std::string, std::string> KeptCode::in_bundles() const {
  std::lock_guard lock(mutex_);
  return labels_;
}

Status KeptCode::write(const std::string& path, const std::vector<BundleEntry>& entries) {
  DiskCache* cache = disk();
  if (!cache) {
    auto why = open_cache(compiler_, folder_);
    return why.ok() ? internal_error("the folder of code could not be opened") : why.status();
  }
  return write_bundle(path, entries, *cache);
}

}  // namespace msvm::jit
