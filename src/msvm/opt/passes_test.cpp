// tests/opt: NAME.in.msasm in value form, NAME.msasm what the passes of its first line make of it.  ; passes: copies, fold
// MSVM_UPDATE_OPT=1 writes the latter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "msvm/base/file.h"
#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/text.h"
#include "msvm/opt/optimize.h"

namespace msvm {
namespace {

namespace fs = std::filesystem;

/// Adds f32 constants of one shape; the engine's evaluator knows all operators.
class Adder final : public Evaluator {
 public:
  Result<Constant> evaluate(const Instr& call, std::span<const Constant* const> inputs, const TensorType& output) override {
    if (call.text != "Add" || inputs[0]->bytes != inputs[1]->bytes) return unsupported("not here");
    Constant c;
    c.type = output;
    c.bytes = inputs[0]->bytes;
    auto memory = allocate_constant_bytes(c.bytes);
    for (size_t k = 0; k < c.bytes / sizeof(float); ++k)
      reinterpret_cast<float*>(memory.get())[k] = reinterpret_cast<const float*>(inputs[0]->data)[k] + reinterpret_cast<const float*>(inputs[1]->data)[k];
    c.data = memory.get();
    c.keep_alive = memory;
    return c;
  }
};

std::vector<fs::path> inputs() {
  std::vector<fs::path> out;
  for (const auto& e : fs::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/opt"))
    if (e.path().string().ends_with(".in.msasm")) out.push_back(e.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> passes_of(const std::string& text) {
  constexpr std::string_view kMark = "; passes:";
  EXPECT_TRUE(text.starts_with(kMark)) << "the first line names the passes";
  std::istringstream line(text.substr(kMark.size(), text.find('\n') - kMark.size()));
  std::vector<std::string> names;
  for (std::string name; line >> name;) {
    if (name.back() == ',') name.pop_back();
    names.push_back(name);
  }
  return names;
}

class Passes : public ::testing::TestWithParam<fs::path> {};

TEST_P(Passes, MakeWhatIsWritten) {
  auto text = read_text_file(GetParam().string());
  ASSERT_TRUE(text.ok()) << text.status().message();
  AssembleResult a = assemble(*text, GetParam().filename());
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  for (size_t f = 0; f < a.module.functions.size(); ++f) ASSERT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
  VerifyResult given = verify(std::move(a.module));
  ASSERT_TRUE(given.module) << format_diagnostics(given.errors);

  Adder adder;
  auto made = optimize(*given.module, {.passes = passes_of(*text)}, &adder);
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::string found = disassemble(*made);
  VerifyResult checked = verify(std::move(*made));
  ASSERT_TRUE(checked.module) << format_diagnostics(checked.errors) << found;

  // Its text is the same module.
  AssembleResult again = assemble(found);
  ASSERT_TRUE(again.errors.empty()) << format_diagnostics(again.errors) << found;
  EXPECT_EQ(disassemble(again.module), found);

  std::string name = GetParam().string();
  name.replace(name.size() - std::string(".in.msasm").size(), std::string::npos, ".msasm");
  if (std::getenv("MSVM_UPDATE_OPT")) { ASSERT_TRUE(write_file_atomically(name, found).ok()); }
  auto expected = read_text_file(name);
  ASSERT_TRUE(expected.ok()) << expected.status().message() << found;
  EXPECT_EQ(found, *expected) << "MSVM_UPDATE_OPT=1 writes the new text";
}

INSTANTIATE_TEST_SUITE_P(Files, Passes, ::testing::ValuesIn(inputs()), [](const auto& file) {
  const std::string name = file.param.filename().string();
  return name.substr(0, name.find('.'));
});

TEST(Passes, EachHasAFile) {
  for (const std::string& name : pass_names()) EXPECT_TRUE(fs::exists(std::string(MSVM_SOURCE_DIR) + "/tests/opt/" + name + ".in.msasm")) << name;
}

TEST(Passes, LevelNoughtAndUnknownNames) {
  AssembleResult a = assemble("module \"m\" version 1\nfunc @f()\nb0:\n  RETURN\n");
  VerifyResult v = verify(std::move(a.module));
  ASSERT_TRUE(v.module);
  auto same = optimize(*v.module, {.level = 0});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(disassemble(*same), disassemble(v.module->module()));
  EXPECT_EQ(same->opt_level, 0);
  auto none = optimize(*v.module, {.passes = {"tidy"}});
  ASSERT_FALSE(none.ok());
  EXPECT_TRUE(none.status().message().starts_with("there is no pass tidy; there are copies, fold, ")) << none.status().message();
}

}  // namespace
}  // namespace msvm
