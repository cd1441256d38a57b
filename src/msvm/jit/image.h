// Native code as bytes, and as memory that runs.
//
//   "MVIM" | u16 version | u8 instruction set | u8 0 | u32 kernels | u32 code bytes | u32 offset into the code per kernel
//   zeros up to a multiple of 64 | code: instructions and their constants, runs at any address that is a multiple of 64
//
// Little-endian. Whoever maps an image trusts the code in it: its bytes come from the compiler process, or were checked by the disk cache.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/loops/loop_program.h"

namespace msvm::jit {

enum class ImageIsa : uint8_t { kAvx2 = 1, kAvx512 = 2 };  // a later one includes the earlier

inline constexpr size_t kMaxCodeBytes = size_t{64} << 20;
inline constexpr size_t kCodeAlignment = 64;

/// What the bytes of an image say.
struct ImageView {
  ImageIsa isa = ImageIsa::kAvx2;
  std::vector<uint32_t> offsets;  // one per kernel of the program, in its order, within `code`
  std::span<const std::byte> code;
};
std::vector<std::byte> encode_image(const ImageView& image);
/// Views into `bytes`.
Result<ImageView> decode_image(std::span<const std::byte> bytes);

/// Code in memory that can be run but no longer written. Immutable; the memory lives as long as anyone holds it.
class NativeImage {
 public:
  /// Checks the bytes, maps them. kUnsupported if it needs more than `best`, kResourceLimit if the system gives no memory.
  static Result<std::shared_ptr<const NativeImage>> load(std::span<const std::byte> bytes, ImageIsa best);
  ~NativeImage();
  NativeImage(const NativeImage&) = delete;
  NativeImage& operator=(const NativeImage&) = delete;

  size_t kernels() const { return offsets_.size(); }
  loops::KernelFn entry(size_t kernel) const;  // kernel < kernels()
  ImageIsa isa() const { return isa_; }
  size_t bytes() const { return size_; }       // of memory
  /// The bytes that load() would map once more.
  std::vector<std::byte> encode() const;

 private:
  NativeImage() = default;
  void* memory_ = nullptr;
  size_t size_ = 0, code_size_ = 0;
  std::vector<uint32_t> offsets_;
  ImageIsa isa_ = ImageIsa::kAvx2;
};

}  // namespace msvm::jit
