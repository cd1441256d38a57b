#include "msvm/bytecode/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/file_format.h"
#include "msvm/bytecode/test_files.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Module golden_module(const std::string& name) {
  AssembleResult a = assemble(text_of(golden_directory() + "/" + name));
  EXPECT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  return std::move(a.module);
}

Bytes golden_bytes(const std::string& name) {
  auto bytes = write_module(golden_module(name));
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : Bytes();
}

Status read_status(const Bytes& bytes) {
  auto m = read_module(bytes, nullptr);
  return m.ok() ? Status() : m.status();
}

// The first line in which two texts differ.
std::string difference(const std::string& a, const std::string& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  if (at == a.size() && at == b.size()) return "the texts are equal";
  size_t start = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  auto line = [&](const std::string& s) {
    return s.substr(std::min(start, s.size()), s.find('\n', std::min(at, s.size())) - start);
  };
  return line(a) + "\n" + line(b);
}

// What was read can be written, printed, read back as text, and is the same file all the way.
void expect_round_trip(Module m) {
  for (Constant& c : m.constants) c.digest = 0;  // a wrong one would be kept by files, but not by text
  auto bytes = write_module(m);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  auto read = read_module(*bytes, nullptr);
  ASSERT_TRUE(read.ok()) << read.status().message();
  auto again = write_module(*read);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(*again == *bytes);
  std::string text = disassemble(m);
  AssembleResult a = assemble(text);
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  auto third = write_module(a.module);
  ASSERT_TRUE(third.ok()) << third.status().message();
  ASSERT_TRUE(*third == *bytes) << difference(text, disassemble(a.module));
}

template <class T>
void put(Bytes& b, size_t at, T v) {
  std::memcpy(b.data() + at, &v, sizeof v);
}
template <class T>
T get(const Bytes& b, size_t at) {
  T v;
  std::memcpy(&v, b.data() + at, sizeof v);
  return v;
}

TEST(File, TruncationIsRefusedAtEveryByte) {
  Bytes bytes = golden_bytes("every_instruction.msasm");
  for (size_t n = 0; n < bytes.size(); ++n) {
    Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));  // of its own size, so that ASan sees the end
    ASSERT_FALSE(read_status(part).ok()) << n;
  }
}

TEST(File, FlippedBitsAreReadOrRefused) {
  for (const char* name : {"neck.msasm", "decode_loop.msasm"}) {
    Bytes bytes = golden_bytes(name);
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      auto m = read_module(flipped, nullptr);
      if (!m.ok()) continue;
      ++accepted;
      SCOPED_TRACE(bit);
      expect_round_trip(*m);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(accepted, 100u);  // names, numbers: not everything is a structure error
  }
}

TEST(File, RandomChangesOfALargerFileNeverCrash) {
  Bytes bytes = golden_bytes("every_instruction.msasm");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    Bytes changed = bytes;
    for (int k = 0; k < 1 + round % 4; ++k) changed[random() % changed.size()] = static_cast<std::byte>(random());
    auto m = read_module(changed, nullptr);
    if (m.ok() && round % 8 == 0) {
      SCOPED_TRACE(round);
      expect_round_trip(*m);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(File, VersionsAndFlags) {
  const Bytes bytes = golden_bytes("neck.msasm");
  EXPECT_TRUE(read_status(bytes).ok());

  Bytes b = bytes;
  put<uint16_t>(b, 8, 2);
  EXPECT_EQ(read_status(b).code(), StatusCode::kUnsupported);
  EXPECT_THAT(read_status(b).message(), HasSubstr("format version 2.0"));
  EXPECT_THAT(read_status(b).message(), HasSubstr("newer MSVM"));

  b = bytes;
  put<uint16_t>(b, 10, 9);  // a newer minor version is read
  EXPECT_TRUE(read_status(b).ok());

  b = bytes;
  put<uint32_t>(b, 12, 1);
  EXPECT_EQ(read_status(b).code(), StatusCode::kUnsupported);
  put<uint32_t>(b, 12, 0x10000);  // may be ignored
  EXPECT_TRUE(read_status(b).ok());

  b = bytes;
  b[0] = std::byte{0};
  EXPECT_THAT(read_status(b).message(), HasSubstr("not a .msbc file"));
  EXPECT_FALSE(read_status({}).ok());
}

// The first section's entry, turned into another one.
TEST(File, UnknownSections) {
  const Bytes bytes = golden_bytes("neck.msasm");
  const size_t debug = [&] {
    for (size_t at = format::kHeaderBytes;; at += format::kSectionEntryBytes)
      if (get<uint32_t>(bytes, at) == static_cast<uint32_t>(format::Section::kDebug)) return at;
  }();
  EXPECT_EQ(get<uint32_t>(bytes, debug + 4), format::kSectionOptional);
  Bytes b = bytes;
  put<uint32_t>(b, debug, 99);
  auto m = read_module(b, nullptr);
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_EQ(m->functions[0].debug.size(), 1u);
  put<uint32_t>(b, debug + 4, 0);
  EXPECT_EQ(read_status(b).code(), StatusCode::kUnsupported);
  b = bytes;
  put<uint32_t>(b, debug, static_cast<uint32_t>(format::Section::kCode));
  EXPECT_THAT(read_status(b).message(), HasSubstr("twice"));
  b = bytes;
  put<uint64_t>(b, debug + 8, UINT64_MAX - 4);
  EXPECT_THAT(read_status(b).message(), HasSubstr("outside the file"));
}

TEST(File, OffsetsNameInstructions) {
  Module m = golden_module("every_instruction.msasm");
  auto bytes = write_module(m);
  ASSERT_TRUE(bytes.ok());
  auto read = read_module(*bytes, nullptr);
  ASSERT_TRUE(read.ok());
  assign_offsets(m);
  uint32_t last = 0;
  for (size_t f = 0; f < m.functions.size(); ++f)
    for (size_t b = 0; b < m.functions[f].blocks.size(); ++b)
      for (size_t i = 0; i < m.functions[f].blocks[b].instrs.size(); ++i) {
        const Instr& instr = m.functions[f].blocks[b].instrs[i];
        EXPECT_EQ(instr.offset, read->functions[f].blocks[b].instrs[i].offset);
        EXPECT_TRUE(instr.offset > last || (f + b + i == 0 && instr.offset == 0));
        last = instr.offset;
      }
}

// Equal content, made in different orders.
TEST(File, BytesDependOnContentOnly) {
  auto build = [](bool early) {
    ModuleBuilder mb("m");
    Dim n = mb.symbol("N"), h = mb.symbol("H");
    if (early) mb.dims().mul(h, mb.dims().add(n, h));
    FunctionBuilder f = mb.function("f");
    Reg x = f.input("x", TensorType{.shape = {n, h}});
    Dim a, b;
    if (early) mb.dims().symbol(mb.dims().add_symbol({.name = "R2", .min = INT64_MIN, .function = 0, .reg = 2}));
    a = f.propagate(x, 0);
    b = f.propagate(x, 1);
    f.alloc(TensorType{.shape = {mb.dims().add(mb.dims().mul(a, b), h), n}});
    f.ret({});
    EXPECT_TRUE(f.finish().ok());
    return mb.take();
  };
  auto one = write_module(build(false)), two = write_module(build(true));
  ASSERT_TRUE(one.ok()) << one.status().message();
  ASSERT_TRUE(two.ok());
  EXPECT_TRUE(*one == *two);
}

TEST(File, WhatCantBeReadIsntWritten) {
  auto refused = [](const char* why, auto change) {
    Module m = golden_module("neck.msasm");
    change(m);
    auto bytes = write_module(m);
    ASSERT_FALSE(bytes.ok()) << why;
    EXPECT_THAT(bytes.status().message(), HasSubstr(why));
    assign_offsets(m);  // must do something sensible nevertheless
    disassemble(m);
  };
  auto first = [](Module& m) -> Instr& { return m.functions[0].blocks[0].instrs[0]; };
  refused("2 results", [&](Module& m) { first(m).defs.push_back(0); });
  refused("doesn't exist", [&](Module& m) { first(m).defs[0] = 4000; });
  refused("overflowed", [&](Module& m) { first(m).dims[0] = Dim(); });
  refused("unknown opcode", [&](Module& m) { first(m).op = static_cast<Opcode>(0xff); });
  refused("second opcode", [&](Module& m) { first(m).sub = 9; });
  refused("has attributes", [&](Module& m) { first(m).attrs.set("a", int64_t{1}); });
  refused("axis name", [&](Module& m) { first(m).axis_names.push_back("more"); });
  refused("b77", [&](Module& m) { m.functions[0].blocks[0].instrs.back() = {.op = Opcode::kJump, .targets = {77}}; });
  refused("two symbols", [&](Module& m) { m.dims->add_symbol({.name = "N"}); });
  refused("reserved", [&](Module& m) { m.dims->add_symbol({.name = "R7"}); });
  refused("another function", [&](Module& m) {
    m.functions.push_back(m.functions[0]);
    first(m).dims[0] = register_dim(m, 1, 0);
  });
  refused("bytes of its type", [&](Module& m) { m.constants.push_back({.name = "c", .type = {.shape = {m.dims->constant(3)}}}); });
}

TEST(File, ConstantsAreAlignedAndMapped) {
  ModuleBuilder mb("weights");
  std::vector<float> small(3, 1.5f), large(100000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  mb.add_constant("small", DType::kF32, {3}, small.data(), 12);
  mb.add_constant("large", DType::kF32, {1000, 100}, large.data(), 400000);
  Module m = mb.take();
  ScratchDirectory dir;
  ASSERT_TRUE(write_module_file(m, dir / "w.msbc").ok());
  auto bytes = write_module(m);
  auto file = read_file(dir / "w.msbc");
  ASSERT_TRUE(bytes.ok() && file.ok());
  EXPECT_TRUE(*bytes == *file);

  for (bool copy : {false, true}) {
    auto read = read_module_file(dir / "w.msbc", {.copy = copy, .check_data = true});
    ASSERT_TRUE(read.ok()) << read.status().message();
    for (const Constant& c : read->constants) EXPECT_EQ(reinterpret_cast<uintptr_t>(c.data) % 64, 0u);
    EXPECT_EQ(std::memcmp(read->constants[1].data, large.data(), 400000), 0);
    EXPECT_NE(read->constants[1].digest, 0u);
  }

  // Of unaligned memory, constants are copied.
  std::vector<std::byte> shifted(file->size() + 1);
  std::memcpy(shifted.data() + 1, file->data(), file->size());
  auto read = read_module({shifted.data() + 1, file->size()}, nullptr);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->constants[1].data) % 64, 0u);

  // A changed weight is found when asked for.
  (*file)[file->size() - 1] ^= std::byte{1};
  ASSERT_TRUE(write_file_atomically(dir / "bad.msbc", *file).ok());
  EXPECT_TRUE(read_module_file(dir / "bad.msbc").ok());
  auto checked = read_module_file(dir / "bad.msbc", {.check_data = true});
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.status().message(), HasSubstr("constant large has been altered"));
}

TEST(File, ContentHash) {
  Module m = golden_module("every_instruction.msasm");
  auto hash = content_hash(m);
  ASSERT_TRUE(hash.ok());
  EXPECT_EQ(*content_hash(golden_module("every_instruction.in.msasm")), *hash);
  auto changed = allocate_constant_bytes(m.constants[0].bytes);
  std::memset(changed.get(), 0, m.constants[0].bytes);
  m.constants[0].data = changed.get();
  EXPECT_NE(*content_hash(m), *hash);
}

TEST(File, MissingAndForeignFiles) {
  ScratchDirectory dir;
  EXPECT_EQ(read_module_file(dir / "none.msbc").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(read_module_file(dir.path()).ok());
  ASSERT_TRUE(write_file_atomically(dir / "text.msbc", std::string_view("hello")).ok());
  EXPECT_THAT(read_module_file(dir / "text.msbc").status().message(), HasSubstr("text.msbc"));
  EXPECT_FALSE(write_module_file(golden_module("neck.msasm"), dir / "no/such/folder.msbc").ok());
}

}  // namespace
}  // namespace msvm
