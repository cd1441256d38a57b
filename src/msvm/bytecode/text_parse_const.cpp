// Constants: readable elements, bytes in hexadecimal, or a file beside the module.
#include <cstring>

#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/file_paths.h"
#include "msvm/bytecode/text_items.h"
#include "msvm/bytecode/text_parse.h"
#include "msvm/bytecode/text_values.h"

namespace msvm {
namespace {

constexpr size_t kMaxFillBytes = 16 << 20;  // of a whole text: a short line must not ask for much memory

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Assembler::const_line() {
  at_.take_word();
  Constant c;
  expect("%");
  c.name = expect_name("the constant's name");
  at_.take(":");
  at_.blanks();
  size_t type_start = at_.position();
  c.type = tensor_type();
  size_t size = 0;
  if (auto s = failed_ ? std::nullopt : constant_size(c.type))
    size = *s;
  else
    fail_at(type_start, DiagCode::kTypeMismatch, "a constant can't have this type", "a dense tensor of constant sizes on CPU(0)");
  expect("=");
  if (failed_) return;
  if (at_.take("["))
    constant_elements(c, size);
  else if (at_.take_word("data"))
    constant_data(c, size);
  else if (at_.take_word("fill"))
    constant_fill(c, size);
  else
    fail(DiagCode::kSyntax, "the constant's value is missing",
         "[elements], data(0x...), data(\"file\", offset, size) or fill(element)");
  if (failed_) return;
  if (module_.constants.size() >= FileLimits::kConstants)
    return fail_at(statement_start_, DiagCode::kLimitExceeded, "too many constants");
  auto [it, fresh] = constant_ids_.try_emplace(c.name, static_cast<int64_t>(module_.constants.size()));
  if (!fresh) it->second = -1;
  module_.constants.push_back(std::move(c));
}

void Assembler::set_bytes(Constant& c, const std::vector<std::byte>& bytes) {
  c.bytes = bytes.size();
  if (bytes.empty()) return;
  auto memory = allocate_constant_bytes(bytes.size());
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  c.data = memory.get();
  c.keep_alive = memory;
}

void Assembler::constant_elements(Constant& c, size_t size) {
  std::vector<std::byte> bytes;
  const bool half = c.type.dtype == DType::kF16 || c.type.dtype == DType::kBF16;
  at_.blanks();
  size_t start = at_.position();
  auto element = [&] {
    if (c.type.dtype == DType::kString) {
      c.strings.push_back(expect_string("an element"));
      return;
    }
    at_.blanks();
    size_t at = at_.position();
    std::string_view text = c.type.dtype == DType::kBool ? at_.take_word() : at_.take_number_text();
    if (!append_element(c.type.dtype, text, bytes))
      fail_at(at, DiagCode::kSyntax, "not an element of this dtype",
              half ? "data(0x...): f16 and bf16 have no readable elements" : std::string(dtype_name(c.type.dtype)));
  };
  items("]", element, SIZE_MAX);
  if (failed_) return;
  size_t given = c.type.dtype == DType::kString ? c.strings.size() : bytes.size() / static_cast<size_t>(dtype_bytes(c.type.dtype));
  size_t needed = c.type.dtype == DType::kString ? size : size / static_cast<size_t>(dtype_bytes(c.type.dtype));
  if (given != needed)
    return fail_at(start, DiagCode::kTypeMismatch, "the constant has " + std::to_string(given) + " elements",
                   std::to_string(needed) + " elements, as its type says");
  set_bytes(c, bytes);
}

void Assembler::constant_fill(Constant& c, size_t size) {
  expect("(");
  at_.blanks();
  size_t start = at_.position();
  std::vector<std::byte> one, bytes;
  std::string_view text = c.type.dtype == DType::kBool ? at_.take_word() : at_.take_number_text();
  if (!failed_ && !append_element(c.type.dtype, text, one))
    fail_at(start, DiagCode::kSyntax, "not an element of this dtype", std::string(dtype_name(c.type.dtype)));
  expect(")");
  if (failed_) return;
  if (size > kMaxFillBytes - fill_bytes_)
    return fail_at(start, DiagCode::kLimitExceeded, "filled constants have more than 16 MiB in all",
                   "data(\"file\", offset, size)");
  fill_bytes_ += size;
  bytes.reserve(size);
  while (bytes.size() < size) bytes.insert(bytes.end(), one.begin(), one.end());
  set_bytes(c, bytes);
}

void Assembler::constant_data(Constant& c, size_t size) {
  expect("(");
  if (failed_) return;
  if (c.type.dtype == DType::kString) return fail(DiagCode::kTypeMismatch, "strings are written as elements", "[\"a\", ...]");
  if (at_.peek("\"")) return constant_file(c, size);
  if (at_.take_word("elided")) return constant_elided(c);
  std::vector<std::byte> bytes;
  at_.blanks_and_lines();
  size_t start = at_.position();
  while (at_.take("0x")) {
    std::string_view text = at_.text();
    size_t at = at_.position();
    while (at + 1 < text.size() && hex(text[at]) >= 0 && hex(text[at + 1]) >= 0) {
      bytes.push_back(static_cast<std::byte>(hex(text[at]) * 16 + hex(text[at + 1])));
      at += 2;
    }
    at_.set_position(at);
    if (at < text.size() && hex(text[at]) >= 0)
      return fail(DiagCode::kSyntax, "an odd number of hexadecimal digits", "two digits for each byte");
    at_.blanks_and_lines();
  }
  expect(")");
  if (failed_) return;
  if (bytes.size() != size)
    return fail_at(start, DiagCode::kTypeMismatch, "the constant has " + std::to_string(bytes.size()) + " bytes",
                   std::to_string(size) + " bytes, as its type says");
  set_bytes(c, bytes);
}

void Assembler::constant_elided(Constant& c) {
  expect(")");
  if (failed_) return;
  if (!elided_)
    return fail_at(statement_start_, DiagCode::kSyntax, "the bytes were left out when this text was written", "data(0x...)",
                   "disassemble again without a limit on inline bytes, or name the program that holds them");
  const Constant* from = elided(c);
  if (!from)
    return fail_at(statement_start_, DiagCode::kUnknownName, "the program that holds the constants has none of this name and type", "a constant of that program",
                   "leave name and type of elided constants as they are");
  c.data = from->data;
  c.bytes = from->bytes;
  c.keep_alive = from->keep_alive;
  c.digest = from->digest;
}

void Assembler::constant_file(Constant& c, size_t size) {
  at_.blanks();
  size_t start = at_.position();
  c.external_file = expect_string("the file's name");
  expect(",");
  int64_t offset = expect_int("the offset");
  expect(",");
  int64_t bytes = expect_int("the number of bytes");
  expect(")");
  if (failed_) return;
  if (Status s = check_beside_path(c.external_file); !s.ok())
    return fail_at(start, DiagCode::kBadFile, s.message(), "a file in the folder of this one");
  if (offset < 0 || bytes < 0 || static_cast<size_t>(bytes) != size)
    return fail_at(start, DiagCode::kTypeMismatch, "the offset is negative, or the number of bytes isn't that of the type",
                   std::to_string(size) + " bytes");
  if (directory_.empty())
    return fail_at(start, DiagCode::kBadFile, "this text has no folder in which the file could be", "data(0x...)");
  auto it = files_.find(c.external_file);
  if (it == files_.end()) {
    auto file = MappedFile::open_beneath(directory_, c.external_file);
    if (!file.ok()) return fail_at(start, DiagCode::kBadFile, file.status().message(), "a readable file in the folder of this one");
    it = files_.emplace(c.external_file, std::make_shared<const MappedFile>(std::move(file).value())).first;
  }
  auto all = it->second->data();
  if (static_cast<uint64_t>(offset) > all.size() || size > all.size() - static_cast<uint64_t>(offset))
    return fail_at(start, DiagCode::kBadFile, "the file has " + std::to_string(all.size()) + " bytes",
                   std::to_string(size) + " bytes from " + std::to_string(offset) + " on");
  c.external_offset = static_cast<uint64_t>(offset);
  c.bytes = size;
  if (size == 0) return;
  c.data = all.data() + offset;
  c.keep_alive = it->second;
  if (reinterpret_cast<uintptr_t>(c.data) % kConstantAlignment == 0) return;
  std::vector<std::byte> copy(c.data, c.data + size);
  set_bytes(c, copy);
}

// "%name" or "%3".
int64_t Assembler::constant_reference() {
  expect("%");
  if (failed_) return 0;
  size_t start = at_.position();
  if (auto index = at_.take_int()) {
    if (*index < 0 || static_cast<size_t>(*index) >= module_.constants.size())
      fail_at(start, DiagCode::kUnknownName, "there is no such constant above", "the number of one of the " + std::to_string(module_.constants.size()) + " constants");
    return *index;
  }
  std::string name = expect_name("the constant's name");
  if (failed_) return 0;
  auto it = constant_ids_.find(name);
  if (it == constant_ids_.end())
    fail_at(start, DiagCode::kUnknownName, "there is no constant of this name above", "the name of a constant");
  else if (it->second < 0)
    fail_at(start, DiagCode::kUnknownName, "several constants have this name", "the constant's number, %0 for the first");
  return failed_ ? 0 : it->second;
}

}  // namespace msvm
