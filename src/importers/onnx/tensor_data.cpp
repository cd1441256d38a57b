#include "importers/onnx/tensor_data.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <new>
#include <protozero/varint.hpp>

#include "msvm/base/checked.h"
#include "msvm/base/file.h"
#include "msvm/base/file_copy.h"
#include "msvm/shape/tensor_type.h"

namespace msvm::onnx {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kOwnPages = 64 << 10;  // copies of so many bytes have pages of their own

constexpr std::string_view kTypeNames[] = {"UNDEFINED", "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4", "INT4", "FLOAT4E2M1", "FLOAT8E8M0", "UINT2", "INT2"};

std::string label(const TensorProto& t) { return "tensor " + (t.name.empty() ? std::string("of an attribute") : "'" + std::string(t.name) + "'"); }

/// Feeds the values of a varint field to `use` until it says stop; false for a broken varint.
bool for_each_varint(const std::vector<TensorProto::Chunk>& chunks, const std::function<bool(uint64_t)>& use) {
  for (const auto& c : chunks) {
    if (!c.packed) {
      if (!use(c.value)) return true;
      continue;
    }
    const char* p = c.bytes.data();
    const char* end = p + c.bytes.size();
    while (p != end) {
      uint64_t v;
      try {
        v = protozero::decode_varint(&p, end);
      } catch (const protozero::exception&) {
        return false;
      }
      if (!use(v)) return true;
    }
  }
  return true;
}

/// The low `size` bytes of each varint, one after another.
Status fill_from_varints(const std::vector<TensorProto::Chunk>& chunks, size_t size, std::span<std::byte> out, const std::string& who) {
  size_t at = 0;
  bool too_many = false;
  bool intact = for_each_varint(chunks, [&](uint64_t v) {
    if (at == out.size()) { too_many = true; return false; }
    std::memcpy(out.data() + at, &v, size);
    at += size;
    return true;
  });
  if (!intact) return malformed(who + ": a number of its data is broken");
  if (too_many || at != out.size()) return malformed(who + ": its data has " + (too_many ? "more" : "fewer") + " elements than its shape");
  return {};
}

Status fill_from_fixed(const std::vector<TensorProto::Chunk>& chunks, size_t size, std::span<std::byte> out, const std::string& who) {
  size_t at = 0;
  for (const auto& c : chunks) {
    std::string_view bytes = c.packed ? c.bytes : std::string_view(reinterpret_cast<const char*>(&c.value), size);
    if (bytes.size() > out.size() - at) return malformed(who + ": its data has more elements than its shape");
    if (!bytes.empty()) std::memcpy(out.data() + at, bytes.data(), bytes.size());
    at += bytes.size();
  }
  return at == out.size() ? Status() : malformed(who + ": its data has fewer elements than its shape");
}

Status fill_typed(const TensorProto& t, DType dtype, std::span<std::byte> out, const std::string& who) {
  switch (dtype) {
    case DType::kF32: return fill_from_fixed(t.float_data, 4, out, who);
    case DType::kF64: return fill_from_fixed(t.double_data, 8, out, who);
    case DType::kI64: return fill_from_varints(t.int64_data, 8, out, who);
    case DType::kU32:
    case DType::kU64: return fill_from_varints(t.uint64_data, static_cast<size_t>(dtype_bytes(dtype)), out, who);
    case DType::kF16:
    case DType::kBF16:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kU8:
    case DType::kU16:
    case DType::kBool: return fill_from_varints(t.int32_data, static_cast<size_t>(dtype_bytes(dtype)), out, who);
    case DType::kString: break;
  }
  return internal_error("typed data of strings");
}

bool has_typed_data(const TensorProto& t) {
  return !(t.float_data.empty() && t.int32_data.empty() && t.int64_data.empty() && t.double_data.empty() && t.uint64_data.empty());
}

Result<uint64_t> parse_size(std::string_view text, const std::string& who, const char* what) {
  uint64_t v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return malformed(who + ": the " + what + " of its external data is no number");
  return v;
}

}  // namespace

std::string onnx_type_name(int32_t data_type) {
  if (data_type < 0 || static_cast<size_t>(data_type) >= std::size(kTypeNames)) return "type " + std::to_string(data_type);
  return std::string(kTypeNames[data_type]);
}

Result<DType> dtype_of(int32_t data_type) {
  if (auto d = dtype_from_onnx(data_type)) return *d;
  return unsupported("element type " + onnx_type_name(data_type) + " isn't supported");
}

Result<OwnedConst> make_const(std::string name, DType dtype, std::vector<int64_t> shape) {
  auto n = checked_product(shape);
  auto bytes = n ? checked_mul(*n, dtype_bytes(dtype)) : std::nullopt;
  if (!bytes) return overflow_error("constant '" + name + "': its size doesn't fit 64 bits");
  auto* p = static_cast<std::byte*>(::operator new(static_cast<size_t>(*bytes) + 1, kAlignment, std::nothrow));
  if (!p) return resource_limit("constant '" + name + "': no memory for " + std::to_string(*bytes) + " bytes");
  auto t = std::make_shared<ConstTensor>();
  t->keep_alive = std::shared_ptr<std::byte>(p, [](std::byte* q) { ::operator delete(q, kAlignment); });
  t->name = std::move(name);
  t->dtype = dtype;
  t->shape = std::move(shape);
  t->elements = *n;
  t->data = p;
  t->bytes = static_cast<size_t>(*bytes);
  return OwnedConst{std::move(t), p};
}

Result<ConstPtr> TensorReader::read(const TensorProto& t) {
  std::string who = label(t);
  auto dtype = dtype_of(t.data_type);
  if (!dtype.ok()) return dtype.status().with_context(who + ": ");
  if (t.segmented) return unsupported(who + ": segmented tensors aren't supported");
  if (t.dims.size() > static_cast<size_t>(kMaxRank)) return unsupported(who + ": has " + std::to_string(t.dims.size()) + " axes (limit " + std::to_string(kMaxRank) + ")");
  auto n = checked_product(t.dims);
  auto size = n ? checked_mul(*n, dtype_bytes(*dtype)) : std::nullopt;
  if (!size) return malformed(who + ": its shape has a negative size or too many elements");

  auto c = std::make_shared<ConstTensor>();
  c->name = std::string(t.name);
  c->dtype = *dtype;
  c->shape = t.dims;
  c->elements = *n;
  if (*dtype == DType::kString) {
    if (t.string_data.size() != static_cast<size_t>(*n)) return malformed(who + ": its data has " + std::to_string(t.string_data.size()) + " strings, its shape " + std::to_string(*n));
    c->strings.assign(t.string_data.begin(), t.string_data.end());
    return c;
  }
  c->bytes = static_cast<size_t>(*size);

  std::span<const std::byte> stored;
  std::shared_ptr<const void> owner = keep_alive_;
  if (t.external) {
    MSVM_ASSIGN_OR_RETURN(stored, external(t, owner));
  } else if (t.raw_data) {
    stored = std::as_bytes(std::span(t.raw_data->data(), t.raw_data->size()));
  } else if (t.float_data.size() == 1 && *dtype == DType::kF32 && t.float_data[0].packed) {
    stored = std::as_bytes(std::span(t.float_data[0].bytes.data(), t.float_data[0].bytes.size()));
  } else if (has_typed_data(t)) {
    // What is decoded has at least one byte per element in the file, so the file bounds this allocation.
    size_t in_file = 0;
    for (const auto* field : {&t.float_data, &t.int32_data, &t.int64_data, &t.double_data, &t.uint64_data})
      for (const auto& chunk : *field) in_file += chunk.packed ? chunk.bytes.size() : 1;
    if (static_cast<uint64_t>(*n) > in_file) return malformed(who + ": its data has fewer elements than its shape");
    MSVM_ASSIGN_OR_RETURN(OwnedConst owned, make_const(c->name, *dtype, t.dims));
    MSVM_RETURN_IF_ERROR(fill_typed(t, *dtype, {owned.bytes, c->bytes}, who));
    return owned.tensor;
  }
  if (stored.size() != c->bytes)
    return malformed(who + ": its data has " + std::to_string(stored.size()) + " bytes, its shape and type need " + std::to_string(c->bytes));
  bool aligned = reinterpret_cast<uintptr_t>(stored.data()) % static_cast<uintptr_t>(dtype_bytes(*dtype)) == 0;
  if (!copy_ && !aligned && owner && stored.size() >= kOwnPages) {
    // Its memory can be given back once kernels have packed it.
    auto copied = copy_of_file(stored, std::move(owner));
    if (!copied) return resource_limit(who + ": no memory for " + std::to_string(c->bytes) + " bytes");
    c->data = copied.get();
    c->keep_alive = std::move(copied);
    return c;
  }
  if (copy_ || !aligned) {
    MSVM_ASSIGN_OR_RETURN(OwnedConst owned, make_const(c->name, *dtype, t.dims));
    if (!stored.empty()) std::memcpy(owned.bytes, stored.data(), stored.size());
    drop_mapped_pages(stored);  // one copy in memory is enough
    return owned.tensor;
  }
  c->data = stored.data();
  c->keep_alive = std::move(owner);
  return c;
}

Result<std::span<const std::byte>> TensorReader::external(const TensorProto& t, std::shared_ptr<const void>& keep_alive) {
  std::string who = label(t);
  auto field = [&](std::string_view key) -> std::optional<std::string_view> {
    auto it = t.external_data.find(key);
    return it == t.external_data.end() ? std::nullopt : std::optional(it->second);
  };
  auto location = field("location");
  if (!location || location->empty()) return malformed(who + ": its external data has no location");
  if (directory_.empty()) return invalid_argument(who + ": lies in the file '" + std::string(*location) + "', but the model's folder isn't known");
  auto it = files_.find(*location);
  if (it == files_.end()) {
    auto file = MappedFile::open_beneath(directory_, std::string(*location));
    if (!file.ok()) return file.status().with_context(who + ": external data: ");
    it = files_.emplace(std::string(*location), std::make_shared<MappedFile>(std::move(*file))).first;
  }
  std::span<const std::byte> data = it->second->data();
  uint64_t offset = 0;
  if (auto v = field("offset")) { MSVM_ASSIGN_OR_RETURN(offset, parse_size(*v, who, "offset")); }
  if (offset > data.size()) return malformed(who + ": its external data begins behind the end of '" + std::string(*location) + "'");
  uint64_t length = data.size() - offset;
  if (auto v = field("length")) {
    MSVM_ASSIGN_OR_RETURN(uint64_t wanted, parse_size(*v, who, "length"));
    if (wanted > length) return malformed(who + ": its external data reaches behind the end of '" + std::string(*location) + "'");
    length = wanted;
  }
  keep_alive = it->second;
  return data.subspan(offset, length);
}

}  // namespace msvm::onnx
