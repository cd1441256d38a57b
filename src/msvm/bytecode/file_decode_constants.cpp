// Constants: where their bytes lie, which of them are copied.
#include <cstring>

#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/file_decode.h"
#include "msvm/bytecode/file_paths.h"

namespace msvm {
namespace {

// What may decide shapes or prove a value hazard must not change after it was verified.
bool must_copy(const Constant& c) {
  constexpr uint64_t kSmall = 4096, kSizes = 1 << 20;
  if (c.bytes <= kSmall) return true;
  return (c.type.dtype == DType::kI64 || c.type.dtype == DType::kI32) && c.bytes <= kSizes;
}

}  // namespace

std::span<const std::byte> ModuleDecoder::external_bytes(ByteReader& r, const std::string& name,
                                                         std::shared_ptr<const void>& keep_alive) {
  auto it = external_.find(name);
  if (it == external_.end()) {
    if (options_.directory.empty()) {
      r.fail("weights lie in the file \"" + name + "\" beside the module: read it from its file, not from memory");
      return {};
    }
    if (Status s = check_beside_path(name); !s.ok()) {
      r.fail(s.message());
      return {};
    }
    auto file = MappedFile::open_beneath(options_.directory, name);
    if (!file.ok()) {
      r.fail("file beside the module: " + file.status().message());
      return {};
    }
    it = external_.emplace(name, std::make_shared<const MappedFile>(std::move(file).value())).first;
  }
  keep_alive = it->second;
  return it->second->data();
}

void ModuleDecoder::constant_bytes(ByteReader& r, Constant& c, uint64_t size) {
  uint8_t storage = r.u8();
  bool external = storage == static_cast<uint8_t>(format::Storage::kExternal);
  if (!external && storage != static_cast<uint8_t>(format::Storage::kInline))
    r.fail("constant " + c.name + " has an unknown kind of storage");
  std::span<const std::byte> all;
  std::string from = "the data section";
  if (external) {
    c.external_file = string(r);
    if (!r.ok()) return;
    from = c.external_file;
    all = external_bytes(r, c.external_file, c.keep_alive);
  } else {
    const auto& s = sections_[static_cast<size_t>(format::Section::kData)];
    if (s) all = bytes_.subspan(s->offset, s->size);
    c.keep_alive = keep_alive_;
  }
  uint64_t offset = r.varint(), bytes = r.varint();
  if (!r.ok()) return;
  if (external) c.external_offset = offset;
  if (bytes != size)
    r.fail("constant " + c.name + " has " + std::to_string(bytes) + " bytes, its type needs " + std::to_string(size));
  else if (offset > all.size() || bytes > all.size() - offset)
    r.fail("constant " + c.name + " lies outside " + from);
  if (!r.ok()) return;
  c.bytes = static_cast<size_t>(bytes);
  c.data = all.data() + offset;
  bool aligned = reinterpret_cast<uintptr_t>(c.data) % kConstantAlignment == 0;
  if (c.bytes == 0) {
    c.data = nullptr;
    c.keep_alive.reset();
  } else if (options_.copy || !aligned || must_copy(c)) {
    auto copy = allocate_constant_bytes(c.bytes);
    std::memcpy(copy.get(), c.data, c.bytes);
    c.data = copy.get();
    c.keep_alive = copy;
  }
}

void ModuleDecoder::decode_constants(ByteReader& r) {
  size_t n = r.count(FileLimits::kConstants, "constants", 12);
  for (size_t k = 0; k < n && r.ok(); ++k) {
    Constant c;
    c.name = string(r);
    const RegType& t = type(r);
    c.type = t.tensor;
    c.digest = r.u64();
    auto size = t.kind == RegKind::kTensor ? constant_size(t.tensor) : std::nullopt;
    if (!r.ok()) return;
    if (!size) {
      r.fail("constant " + c.name + " hasn't the type of a constant");
      return;
    }
    if (c.type.dtype == DType::kString) {
      if (r.u8() != static_cast<uint8_t>(format::Storage::kStrings))
        r.fail("constant " + c.name + " has strings, but isn't stored as such");
      size_t count = r.count(UINT32_MAX, "strings");
      if (r.ok() && count != *size)
        r.fail("constant " + c.name + " has " + std::to_string(count) + " strings, its type needs " + std::to_string(*size));
      for (size_t i = 0; i < count && r.ok(); ++i) c.strings.emplace_back(r.string(FileLimits::kTextBytes));
    } else {
      constant_bytes(r, c, *size);
    }
    if (r.ok() && options_.check_data) {
      uint64_t stated = std::exchange(c.digest, 0);
      c.digest = constant_digest(c);
      if (c.digest != stated) r.fail("constant " + c.name + " has been altered: its bytes don't match their digest");
    }
    if (r.ok()) module_.constants.push_back(std::move(c));
  }
}

}  // namespace msvm
