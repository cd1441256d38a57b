// Where a JIT looks for code before it compiles: bundles that were loaded, then the user's folder, opened at the first look.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "msvm/jit/disk/bundle.h"
#include "msvm/jit/disk/disk_cache.h"

namespace msvm::jit {

class KeptCode final : public CodeStore {
 public:
  /// `use_disk` false: bundles only. `folder` empty: the user's.
  KeptCode(std::string compiler, std::string folder, bool use_disk) : compiler_(std::move(compiler)), folder_(std::move(folder)), use_disk_(use_disk) {}
  Image load(std::span<const std::byte> request) override;
  void store(std::span<const std::byte> request, std::span<const std::byte> image, std::string_view label) override;
  /// From any thread. The images serve all programs of the JIT.
  Status add_bundle(const std::string& path, bool trust_native);
  /// The request behind each label of the bundles' images.
  std::map<std::string, std::string> in_bundles() const;
  Status write(const std::string& path, const std::vector<BundleEntry>& entries);

 private:
  DiskCache* disk();

  const std::string compiler_, folder_;
  const bool use_disk_;
  mutable std::mutex mutex_;  // of what follows; never held while a file is read or written
  std::unique_ptr<DiskCache> disk_;
  bool opened_ = false;
  BundleStore bundles_{nullptr};
  std::map<std::string, std::string> labels_;  // of bundles' images to their requests
};

}  // namespace msvm::jit
