// tests/golden: NAME.in.msasm as a person writes it, NAME.msasm its canonical text. MSVM_UPDATE_GOLDEN=1 writes the latter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "msvm/base/file.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/test_files.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

namespace fs = std::filesystem;

bool update() { return std::getenv("MSVM_UPDATE_GOLDEN") != nullptr; }

std::vector<fs::path> golden(const std::string& ending) {
  std::vector<fs::path> out;
  for (const auto& e : fs::directory_iterator(golden_directory())) {
    EXPECT_TRUE(e.path().string().ends_with(".msasm")) << e.path() << " doesn't belong here";  // e.g. a fuzzer's finds
    if (e.path().string().ends_with(ending)) out.push_back(e.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Golden, HandWrittenTextBecomesCanonical) {
  auto inputs = golden(".in.msasm");
  ASSERT_GE(inputs.size(), 3u);
  for (const fs::path& path : inputs) {
    SCOPED_TRACE(path.filename());
    AssembleResult a = assemble(text_of(path), path.filename());
    ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
    std::string canonical = disassemble(a.module);
    std::string name = path.string();
    name.erase(name.size() - std::string(".in.msasm").size());
    if (update()) { ASSERT_TRUE(write_file_atomically(name + ".msasm", canonical).ok()); }
    EXPECT_EQ(canonical, text_of(name + ".msasm")) << "MSVM_UPDATE_GOLDEN=1 writes the new text";
  }
}

// Text -> module -> text, text -> module -> file -> module -> text, and the files of both are one.
TEST(Golden, CanonicalTextRoundTrips) {
  auto files = golden(".msasm");
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.filename());
    std::string text = text_of(path);
    AssembleResult a = assemble(text, path.filename());
    ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
    if (!path.string().ends_with(".in.msasm")) { EXPECT_EQ(disassemble(a.module), text); }

    auto bytes = write_module(a.module);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    auto read = read_module(*bytes, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(disassemble(*read), disassemble(a.module));
    auto again = write_module(*read);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(*again == *bytes);

    AssembleResult b = assemble(disassemble(*read));
    ASSERT_TRUE(b.errors.empty()) << format_diagnostics(b.errors);
    auto third = write_module(b.module);
    ASSERT_TRUE(third.ok());
    EXPECT_TRUE(*third == *bytes);
  }
}

TEST(Golden, EveryInstructionAndVariantOccurs) {
  std::set<std::pair<Opcode, int>> seen;
  for (const fs::path& path : golden(".in.msasm")) {
    AssembleResult a = assemble(text_of(path));
    for (const Function& f : a.module.functions)
      for (const Block& b : f.blocks)
        for (const Instr& i : b.instrs) seen.emplace(i.op, i.sub);
  }
  for (const InstrInfo* info : all_instructions())
    for (int sub = 0; sub < sub_count(info->subs); ++sub)
      EXPECT_TRUE(seen.contains({info->op, sub}))
          << info->mnemonic << " " << sub_name(info->subs, static_cast<uint8_t>(sub)) << " is in no golden file";
}

}  // namespace
}  // namespace msvm
