#include "npy.h"

#include <fmt/core.h>
#include <zip.h>

#include <cstring>

#include "common.h"
#include "msvm/base/checked.h"
#include "msvm/shape/npy.h"
#include "zip_file.h"

namespace msvm::cli {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};

std::optional<DType> dtype_from_descr(std::string_view d) {
  if (d == "|b1" || d == "?") return DType::kBool;
  if (d.size() < 3 || d[0] == '>') return std::nullopt;
  int bytes = std::atoi(std::string(d.substr(2)).c_str());
  for (int i = 0; i < kNumDTypes; ++i) {
    const DTypeInfo& t = dtype_info(static_cast<DType>(i));
    char kind = t.kind == DTypeKind::kFloat ? 'f' : t.kind == DTypeKind::kSigned ? 'i' : t.kind == DTypeKind::kUnsigned ? 'u' : 0;
    if (kind == d[1] && t.bits == bytes * 8 && t.dtype != DType::kBF16) return t.dtype;
  }
  return std::nullopt;
}

/// The text after `'key':` up to `end`.
std::string_view field(std::string_view header, std::string_view key, char end) {
  auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  at = header.find(':', at);
  if (at == std::string_view::npos) return {};
  auto stop = header.find(end, at);
  return stop == std::string_view::npos ? std::string_view() : header.substr(at + 1, stop - at - 1);
}

Result<TensorValue> parse(const std::string& bytes, const std::string& name, Engine& engine) {
  auto bad = [&](const std::string& what) { return malformed(fmt::format("{}: {}", name, what)); };
  if (bytes.size() < 10 || std::string_view(bytes).substr(0, 6) != kMagic) return bad("it isn't an .npy file");
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  size_t start = bytes[6] == 1 ? 10 : 12;
  if (bytes.size() < start) return bad("truncated header");
  size_t length = byte(8) | byte(9) << 8;
  if (start == 12) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) return bad("truncated header");
  std::string_view header = std::string_view(bytes).substr(start, length);
  if (header.find("'shape'") == std::string_view::npos) return bad("no shape");
  std::string_view d = field(header, "'descr'", ','), order = field(header, "'fortran_order'", ','), shape = field(header, "'shape'", ')');
  auto first = d.find('\''), last = d.rfind('\'');
  if (first == std::string_view::npos || last == first) return bad("no dtype");
  auto dtype = dtype_from_descr(d.substr(first + 1, last - first - 1));
  if (!dtype) return bad(fmt::format("dtype {} is not taken", d));
  if (order.find("True") != std::string_view::npos) return bad("Fortran order is not taken; save numpy.ascontiguousarray(x)");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '-') return bad("a size is negative");
    if (!std::isdigit(static_cast<unsigned char>(shape[i]))) continue;
    char* end = nullptr;
    dims.push_back(std::strtoll(shape.data() + i, &end, 10));
    i = static_cast<size_t>(end - shape.data());
  }
  auto n = checked_product(dims);
  auto need = n ? checked_mul(*n, dtype_bytes(*dtype)) : std::nullopt;
  if (!need || static_cast<size_t>(*need) > bytes.size() - start - length) return bad("its header promises more data than the file holds");
  MSVM_ASSIGN_OR_RETURN(TensorValue t, engine.allocate(*dtype, dims));
  if (*need) std::memcpy(t.meta.data, bytes.data() + start + length, static_cast<size_t>(*need));
  if (*dtype == DType::kBool)
    for (int64_t i = 0; i < *need; ++i) t.meta.as<uint8_t>()[i] = t.meta.as<uint8_t>()[i] != 0;
  return t;
}

std::string serialize(const TensorMeta& t) {
  std::string out = npy_header(t.dtype, t.dims());
  if (t.elements()) out.append(reinterpret_cast<const char*>(t.data), static_cast<size_t>(t.elements() * dtype_bytes(t.dtype)));
  return out;
}

}  // namespace

Result<TensorValue> read_npy(const std::string& path, Engine& engine) {
  MSVM_ASSIGN_OR_RETURN(std::string bytes, read_text(path));
  return parse(bytes, path, engine);
}

Result<std::map<std::string, TensorValue>> read_npz(const std::string& path, Engine& engine) {
  int code = 0;
  std::unique_ptr<zip_t, decltype(&zip_discard)> z(zip_open(path.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (!z) {
    if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ) return Status(StatusCode::kIo, fmt::format("{}: can't be opened", path));
    return malformed(fmt::format("{}: it isn't an .npz file", path));
  }
  std::map<std::string, TensorValue> out;
  for (zip_int64_t i = 0; i < zip_get_num_entries(z.get(), 0); ++i) {
    zip_stat_t info;
    std::unique_ptr<zip_file_t, decltype(&zip_fclose)> f(zip_fopen_index(z.get(), static_cast<zip_uint64_t>(i), 0), zip_fclose);
    if (!f || zip_stat_index(z.get(), static_cast<zip_uint64_t>(i), 0, &info) != 0) return malformed(fmt::format("{}: entry {} can't be read", path, i));
    std::string name = info.name, bytes, block(1 << 16, 0);
    for (zip_int64_t n; bytes.size() <= info.size && (n = zip_fread(f.get(), block.data(), block.size())) > 0;) bytes.append(block.data(), static_cast<size_t>(n));
    if (bytes.size() != info.size) return malformed(fmt::format("{}: {} hasn't the size that the archive states", path, name));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    MSVM_ASSIGN_OR_RETURN(out[name], parse(bytes, path + ":" + name, engine));
  }
  return out;
}

Status write_npy(const std::string& path, const TensorMeta& t) { return write_text(path, serialize(t)); }

Status write_npz(const std::string& path, const std::map<std::string, TensorMeta>& tensors) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, t] : tensors) files.emplace_back(name + ".npy", serialize(t));
  return write_zip(path, files);
}

}  // namespace msvm::cli
