#include "msvm/jit/image.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "msvm/base/bytes.h"

namespace msvm::jit {
namespace {

constexpr uint32_t kMagic = 0x4d49564d;  // "MVIM"
constexpr uint16_t kVersion = 1;

Status failed(std::string_view what) { return resource_limit(fmt::format("memory for native code: {}: {}", what, std::strerror(errno))); }

}  // namespace

std::vector<std::byte> encode_image(const ImageView& image) {
  ByteWriter w;
  w.u32(kMagic);
  w.u16(kVersion);
  w.u8(static_cast<uint8_t>(image.isa));
  w.u8(0);
  w.u32(static_cast<uint32_t>(image.offsets.size()));
  w.u32(static_cast<uint32_t>(image.code.size()));
  for (const uint32_t offset : image.offsets) w.u32(offset);
  w.align(kCodeAlignment);
  w.bytes(image.code);
  return w.take();
}

Result<ImageView> decode_image(std::span<const std::byte> bytes) {
  ByteReader r(bytes);
  ImageView image;
  if (r.u32() != kMagic) r.fail("not an image of native code");
  if (const uint16_t version = r.u16(); version != kVersion) r.fail(fmt::format("image version {}, known is {}", version, kVersion));
  const uint8_t isa = r.u8();
  if (isa != static_cast<uint8_t>(ImageIsa::kAvx2) && isa != static_cast<uint8_t>(ImageIsa::kAvx512)) r.fail(fmt::format("unknown instruction set {}", isa));
  image.isa = static_cast<ImageIsa>(isa);
  if (r.u8() != 0) r.fail("a reserved byte isn't 0");
  const uint32_t kernels = r.u32(), code_bytes = r.u32();
  if (kernels > loops::kMaxKernels || kernels > r.remaining() / 4) r.fail(fmt::format("{} kernels are more than follow", kernels));
  if (code_bytes > kMaxCodeBytes) r.fail(fmt::format("{} bytes of code, the limit is {}", code_bytes, kMaxCodeBytes));
  for (uint32_t i = 0; r.ok() && i < kernels; ++i) {
    image.offsets.push_back(r.u32());
    if (image.offsets.back() >= code_bytes) r.fail(fmt::format("kernel {} lies at {} of {} bytes of code", i, image.offsets.back(), code_bytes));
  }
  while (r.ok() && r.offset() % kCodeAlignment != 0)
    if (r.u8() != 0) r.fail("padding isn't 0");
  image.code = r.bytes(code_bytes);
  r.expect_end();
  if (!r.ok()) return r.status();
  return image;
}

Result<std::shared_ptr<const NativeImage>> NativeImage::load(std::span<const std::byte> bytes, ImageIsa best) {
  MSVM_ASSIGN_OR_RETURN(const ImageView view, decode_image(bytes));
  if (view.isa > best) return unsupported("native code for AVX-512 on a machine without it");
  std::shared_ptr<NativeImage> image(new NativeImage);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = (view.code.size() + page) / page * page;  // at least one page
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failed("mmap");
  image->memory_ = memory;
  image->size_ = size;
  image->code_size_ = view.code.size();
  std::memset(memory, 0xcc, size);  // what is no code traps
  if (!view.code.empty()) std::memcpy(memory, view.code.data(), view.code.size());
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) return failed("mprotect");
  image->offsets_ = view.offsets;
  image->isa_ = view.isa;
  return std::shared_ptr<const NativeImage>(std::move(image));
}

NativeImage::~NativeImage() {
  if (memory_) munmap(memory_, size_);
}

std::vector<std::byte> NativeImage::encode() const { return encode_image({isa_, offsets_, {static_cast<const std::byte*>(memory_), code_size_}}); }

loops::KernelFn NativeImage::entry(size_t kernel) const {
  return reinterpret_cast<loops::KernelFn>(static_cast<std::byte*>(memory_) + offsets_[kernel]);
}

}  // namespace msvm::jit
