// Images beside a module: what `msvm compile` writes for chosen shapes.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/compile/code_store.h"
#include "msvm/jit/disk/disk_cache.h"

namespace msvm::jit {

struct BundleEntry {
  std::vector<std::byte> request;
  std::string label;
  Image image;
};

/// Signed with the user's key, for the build of `cache`.
Status write_bundle(const std::string& path, const std::vector<BundleEntry>& entries, const DiskCache& cache);

/// Native code is run as it is, so it must come from this user: the MAC is checked, with `cache` null there is none that is right.
/// `trust_native` is the caller's word for a file from elsewhere. It must have been made for `build` (code_build_serves()) either way.
Result<std::vector<BundleEntry>> read_bundle(const std::string& path, const DiskCache* cache, std::string_view build,
                                             bool trust_native);

/// Entries of bundles before a store (or before none). Used on the JIT thread only: add() is posted to it.
class BundleStore final : public CodeStore {
 public:
  explicit BundleStore(std::shared_ptr<CodeStore> below) : below_(std::move(below)) {}
  void add(const std::vector<BundleEntry>& entries) {
    for (const BundleEntry& e : entries) images_[text(e.request)] = e.image;
  }
  Image load(std::span<const std::byte> request) override {
    if (auto it = images_.find(text(request)); it != images_.end()) return it->second;
    return below_ ? below_->load(request) : nullptr;
  }
  void store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) override {
    if (below_) below_->store(request, image, label);
  }

 private:
  static std::string text(std::span<const std::byte> b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }
  std::shared_ptr<CodeStore> below_;
  std::unordered_map<std::string, Image> images_;
};

}  // namespace msvm::jit
