// Native code as bytes, and as memory that runs.
//
//   "MVIM" | u16 version | u8 instruction set | u8 parts | u32 kernels | u32 code bytes | u32 offset into the code per kernel
//   zeros up to a multiple of 64 | code: instructions and their constants, runs at any address that is a multiple of 64
//   if parts is 1, lines: u32 bytes of instructions per kernel | u32 rows | per row: varint step of the offset, zigzag varint step of the line
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

/// From this offset into the code on, up to the next row's: which line of the loop program's text (from 1) instructions come from; 0: of none.
struct LineRow {
  uint32_t offset = 0, line = 0;
  bool operator==(const LineRow&) const = default;
};
/// For people who read the code. Kernels that share code share its rows, which name the lines of the first of them.
struct LineTable {
  std::vector<uint32_t> sizes;  // bytes of instructions per kernel, from its offset on; empty: nothing is known
  std::vector<LineRow> rows;    // offsets ascend
  bool operator==(const LineTable&) const = default;
};

/// What the bytes of an image say.
struct ImageView {
  ImageIsa isa = ImageIsa::kAvx2;
  std::vector<uint32_t> offsets;  // one per kernel of the program, in its order, within `code`
  std::span<const std::byte> code;
  LineTable lines;
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
  // To read, not to run.
  std::span<const std::byte> code() const { return {static_cast<const std::byte*>(memory_), code_size_}; }
  const std::vector<uint32_t>& offsets() const { return offsets_; }  // by kernel, into code()
  const LineTable& lines() const { return lines_; }
  size_t bytes() const { return size_; }       // of memory
  /// The bytes that load() would map once more.
  std::vector<std::byte> encode() const;

 private:
  NativeImage() = default;
  void* memory_ = nullptr;
  size_t size_ = 0, code_size_ = 0;
  std::vector<uint32_t> offsets_;
  LineTable lines_;
  ImageIsa isa_ = ImageIsa::kAvx2;
};

}  // namespace msvm::jit
