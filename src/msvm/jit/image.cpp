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
constexpr uint16_t kVersion = 2;
constexpr uint8_t kHasLines = 1;
constexpr size_t kLastLine = loops::kMaxText;  // a line has a byte at least

Status failed(std::string_view what) { return resource_limit(fmt::format("memory for native code: {}: {}", what, std::strerror(errno))); }

void write_lines(ByteWriter& w, const LineTable& lines) {
  for (const uint32_t size : lines.sizes) w.u32(size);
  w.u32(static_cast<uint32_t>(lines.rows.size()));
  LineRow last;
  for (const LineRow& row : lines.rows) {
    w.varint(row.offset - last.offset);
    w.svarint(int64_t{row.line} - last.line);
    last = row;
  }
}

LineTable read_lines(ByteReader& r, const ImageView& image) {
  LineTable lines;
  for (size_t k = 0; r.ok() && k < image.offsets.size(); ++k) {
    lines.sizes.push_back(r.u32());
    if (lines.sizes.back() > image.code.size() - image.offsets[k]) r.fail(fmt::format("kernel {} has {} bytes of instructions, {} follow", k, lines.sizes.back(), image.code.size() - image.offsets[k]));
  }
  const uint32_t rows = r.u32();
  if (rows > r.remaining() / 2) r.fail(fmt::format("{} rows of lines are more than follow", rows));
  uint64_t offset = 0;
  int64_t line = 0;
  for (uint32_t k = 0; r.ok() && k < rows; ++k) {
    const uint64_t step = r.varint();
    const int64_t move = r.svarint();
    if (!r.ok()) break;
    if ((k > 0 && step == 0) || step >= image.code.size() - offset) {
      r.fail(fmt::format("row {} of lines lies outside of the code or out of order", k));
    } else if (move < -line || move > static_cast<int64_t>(kLastLine) - line) {
      r.fail(fmt::format("row {} names a line that can't be", k));
    } else {
      offset += step;
      line += move;
      lines.rows.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(line)});
    }
  }
  return lines;
}

}  // namespace

std::vector<std::byte> encode_image(const ImageView& image) {
  ByteWriter w;
  w.u32(kMagic);
  w.u16(kVersion);
  w.u8(static_cast<uint8_t>(image.isa));
  w.u8(image.lines.sizes.empty() ? 0 : kHasLines);
  w.u32(static_cast<uint32_t>(image.offsets.size()));
  w.u32(static_cast<uint32_t>(image.code.size()));
  for (const uint32_t offset : image.offsets) w.u32(offset);
  w.align(kCodeAlignment);
  w.bytes(image.code);
  if (!image.lines.sizes.empty()) write_lines(w, image.lines);
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
  const uint8_t parts = r.u8();
  if (parts > kHasLines) r.fail(fmt::format("unknown parts {}", parts));
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
  if (r.ok() && parts == kHasLines) image.lines = read_lines(r, image);
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
  image->lines_ = view.lines;
  image->isa_ = view.isa;
  return std::shared_ptr<const NativeImage>(std::move(image));
}

NativeImage::~NativeImage() {
  if (memory_) munmap(memory_, size_);
}

std::vector<std::byte> NativeImage::encode() const { return encode_image({isa_, offsets_, code(), lines_}); }

loops::KernelFn NativeImage::entry(size_t kernel) const {
  return reinterpret_cast<loops::KernelFn>(static_cast<std::byte*>(memory_) + offsets_[kernel]);
}

}  // namespace msvm::jit
