#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "msvm/base/file.h"
#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/file_encode.h"
#include "msvm/bytecode/file_paths.h"

namespace msvm {
namespace {

using Parts = std::vector<std::span<const std::byte>>;

constexpr std::byte kZeros[kConstantAlignment] = {};

uint64_t align_up(uint64_t n, uint64_t a) { return (n + a - 1) / a * a; }

// The bytes of constants one after the other, each aligned; parts point to the constants themselves.
struct DataLayout {
  Parts parts;
  uint64_t size = 0;
  uint64_t add(std::span<const std::byte> bytes) {
    uint64_t offset = align_up(size, kConstantAlignment);
    if (offset != size) parts.push_back({kZeros, static_cast<size_t>(offset - size)});
    if (!bytes.empty()) parts.push_back(bytes);
    size = offset + bytes.size();
    return offset;
  }
};

struct FileImage {
  std::vector<std::byte> head;  // header, section table and all sections but the data
  DataLayout data;              // follows the head, which ends aligned
  DataLayout weights;           // of the file beside the module, if asked for
};

Result<FileImage> make_image(const Module& module, const WriteOptions& options) {
  FileImage image;
  std::vector<ConstantPlace> places;
  for (const Constant& c : module.constants) {
    std::span<const std::byte> bytes(c.data, c.data ? c.bytes : 0);
    if (c.type.dtype == DType::kString)
      places.push_back({});
    else if (!c.external_file.empty() && !options.embed && options.weights_file.empty())
      places.push_back({c.external_file, c.external_offset});
    else if (!options.weights_file.empty() && c.bytes >= options.min_external_bytes)
      places.push_back({options.weights_file, image.weights.add(bytes)});
    else
      places.push_back({"", image.data.add(bytes)});
  }
  ModuleEncoder encoder(module);
  encoder.encode_code();
  encoder.encode_rest(places);
  MSVM_RETURN_IF_ERROR(encoder.status());
  auto sections = encoder.take_sections();

  ByteWriter w;
  w.bytes(std::as_bytes(std::span(format::kMagic)));
  w.u16(kFormatMajor);
  w.u16(kFormatMinor);
  w.u32(0);  // flags
  w.u32(static_cast<uint32_t>(sections.size()) + 1);
  w.u32(0);
  uint64_t offset = format::kHeaderBytes + (sections.size() + 1) * format::kSectionEntryBytes;
  for (const auto& [kind, bytes] : sections) {
    w.u32(static_cast<uint32_t>(kind));
    w.u32(kind == format::Section::kDebug ? format::kSectionOptional : 0);
    w.u64(offset);
    w.u64(bytes.size());
    offset += bytes.size();
  }
  w.u32(static_cast<uint32_t>(format::Section::kData));
  w.u32(0);
  w.u64(align_up(offset, kConstantAlignment));
  w.u64(image.data.size);
  for (const auto& section : sections) w.bytes(section.second);
  w.align(kConstantAlignment);
  image.head = w.take();
  return image;
}

Status io_status(const char* what, const std::string& path) {
  return {StatusCode::kIo, std::string(what) + " " + path + ": " + std::strerror(errno)};
}

// All parts, in few system calls. No fsync: a module can be made again, and waiting for a disk costs more than writing it.
Status write_parts(int fd, const Parts& parts, const std::string& path) {
  std::vector<iovec> left;
  for (auto p : parts) left.push_back({const_cast<std::byte*>(p.data()), p.size()});
  for (size_t at = 0; at < left.size();) {
    ssize_t n = ::writev(fd, &left[at], static_cast<int>(std::min<size_t>(left.size() - at, 512)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_status("can't write", path);
    auto done = static_cast<size_t>(n);
    while (at < left.size() && done >= left[at].iov_len) done -= left[at++].iov_len;
    if (at < left.size()) {
      left[at].iov_base = static_cast<std::byte*>(left[at].iov_base) + done;
      left[at].iov_len -= done;
    }
  }
  return {};
}

Status write_parts_atomically(const std::string& path, const Parts& parts) {
  static std::atomic<uint32_t> counter{0};
  const std::string temporary = path + "." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1)) + ".tmp";
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return io_status("can't create", temporary);
  Status status = write_parts(fd, parts, path);
  if (::close(fd) != 0 && status.ok()) status = io_status("can't write", path);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) status = io_status("can't write", path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

// References into files beside the module must hold where it is written to.
Status check_references(const Module& module, const std::string& directory) {
  for (const Constant& c : module.constants) {
    if (c.external_file.empty() || c.type.dtype == DType::kString) continue;
    auto file = MappedFile::open_beneath(directory, c.external_file);
    if (!file.ok()) return file.status().with_context("constant " + c.name + " lies in a file beside the module (embed it?): ");
    if (c.external_offset > file->data().size() || c.bytes > file->data().size() - c.external_offset)
      return malformed("constant " + c.name + " lies outside " + c.external_file);
  }
  return {};
}

}  // namespace

void assign_offsets(Module& module) {
  ModuleEncoder encoder(module);
  encoder.encode_code();
  size_t k = 0;
  for (Function& f : module.functions)
    for (Block& b : f.blocks)
      for (Instr& i : b.instrs) i.offset = encoder.instruction_offsets()[k++];
}

Result<std::vector<std::byte>> write_module(const Module& module) {
  MSVM_ASSIGN_OR_RETURN(FileImage image, make_image(module, {}));
  std::vector<std::byte> out = std::move(image.head);
  out.reserve(out.size() + image.data.size);
  for (auto p : image.data.parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}

Status write_module_file(const Module& module, const std::string& path) { return write_module_file(module, path, {}); }

Status write_module_file(const Module& module, const std::string& path, const WriteOptions& options) {
  const std::string directory = parent_directory(path);
  if (!options.weights_file.empty()) {
    MSVM_RETURN_IF_ERROR(check_beside_path(options.weights_file));
  } else if (!options.embed) {
    MSVM_RETURN_IF_ERROR(check_references(module, directory));
  }
  MSVM_ASSIGN_OR_RETURN(FileImage image, make_image(module, options));
  if (!options.weights_file.empty())
    MSVM_RETURN_IF_ERROR(write_parts_atomically(directory + "/" + options.weights_file, image.weights.parts));
  Parts parts = {image.head};
  parts.insert(parts.end(), image.data.parts.begin(), image.data.parts.end());
  return write_parts_atomically(path, parts);
}

Result<uint64_t> content_hash(const Module& module) {
  MSVM_ASSIGN_OR_RETURN(FileImage image, make_image(module, {}));
  return data_digest(image.head);
}

}  // namespace msvm
