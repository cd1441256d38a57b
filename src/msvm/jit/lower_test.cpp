// tests/lower: NAME.msasm in value form, NAME.txt what becomes of its regions. MSVM_UPDATE_LOWER=1 writes the latter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "msvm/base/file.h"
#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/text.h"
#include "msvm/jit/lower.h"

namespace msvm::jit {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs() {
  std::vector<fs::path> out;
  for (const auto& e : fs::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/lower"))
    if (e.path().extension() == ".msasm") out.push_back(e.path());
  std::sort(out.begin(), out.end());
  return out;
}

class Lowered : public ::testing::TestWithParam<fs::path> {};

TEST_P(Lowered, AsWritten) {
  auto text = read_text_file(GetParam().string());
  ASSERT_TRUE(text.ok()) << text.status().message();
  AssembleResult a = assemble(*text, GetParam().filename());
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  for (size_t f = 0; f < a.module.functions.size(); ++f) ASSERT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
  VerifyResult v = verify(std::move(a.module));
  ASSERT_TRUE(v.module) << format_diagnostics(v.errors);

  std::string found;
  for (size_t f = 0; f < v.module->module().functions.size(); ++f) {
    const FunctionView view(*v.module, static_cast<int32_t>(f));
    found += "== " + view.f.name + "\n";
    for (const Region& r : find_regions(view).regions) {
      const LoweredRegion lowered = lower_region(view, r);
      ASSERT_EQ(lowered.groups.size(), lowered.program.kernels.size());
      ASSERT_EQ(lowered.groups.size(), lowered.notes.size());
      Status checked = loops::check(lowered.program);
      EXPECT_TRUE(checked.ok()) << checked.message();
      found += to_string(lowered, view);
      if (r.symbols.empty()) continue;
      Box box;
      for (size_t k = 0; k < r.symbols.size(); ++k) box.extents.push_back(Extent::value(5 + static_cast<int64_t>(k)));
      const loops::Program special = specialise(lowered, view, r, box);
      checked = loops::check(special);
      EXPECT_TRUE(checked.ok()) << checked.message() << loops::print(special);
    }
  }
  fs::path name = GetParam();
  name.replace_extension(".txt");
  if (std::getenv("MSVM_UPDATE_LOWER")) { ASSERT_TRUE(write_file_atomically(name.string(), found).ok()); }
  auto expected = read_text_file(name.string());
  ASSERT_TRUE(expected.ok()) << expected.status().message() << found;
  EXPECT_EQ(found, *expected) << "MSVM_UPDATE_LOWER=1 writes the new text";
}

INSTANTIATE_TEST_SUITE_P(Files, Lowered, ::testing::ValuesIn(inputs()), [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace msvm::jit
