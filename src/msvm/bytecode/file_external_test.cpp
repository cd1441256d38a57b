// Weights in a file beside the module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/test_files.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

using testing::HasSubstr;

Module weights() {
  ModuleBuilder mb("weights");
  std::vector<float> small(3, 1.5f), large(5000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  mb.add_constant("small", DType::kF32, {3}, small.data(), 12);
  mb.add_constant("large", DType::kF32, {5000}, large.data(), 20000);
  mb.add_constant("more", DType::kF32, {5, 1000}, large.data(), 20000);
  return mb.take();
}

TEST(ExternalWeights, WriteAndRead) {
  ScratchDirectory dir;
  Module m = weights();
  ASSERT_TRUE(write_module_file(m, dir / "m.msbc", {.weights_file = "m.weights"}).ok());
  EXPECT_LT(std::filesystem::file_size(dir / "m.msbc"), 2000u);
  auto read = read_module_file(dir / "m.msbc", {.check_data = true});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->constants[0].external_file, "");
  EXPECT_EQ(read->constants[1].external_file, "m.weights");
  EXPECT_EQ(read->constants[2].external_offset % 64, 0u);
  EXPECT_EQ(std::memcmp(read->constants[1].data, m.constants[1].data, 20000), 0);

  // As text; and written again the references stay.
  std::string text = disassemble(*read);
  EXPECT_THAT(text, HasSubstr("const %large f32[5000] = data(\"m.weights\", 0, 20000)"));
  AssembleResult a = assemble(text, "m.msasm", dir.path());
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  auto one = write_module(*read), two = write_module(a.module);
  auto file = read_file(dir / "m.msbc");
  ASSERT_TRUE(one.ok() && two.ok() && file.ok());
  EXPECT_TRUE(*one == *file);
  EXPECT_TRUE(*two == *file);

  // Into another folder they can't go, unless embedded.
  ScratchDirectory other;
  EXPECT_THAT(write_module_file(*read, other / "m.msbc").message(), HasSubstr("beside the module"));
  ASSERT_TRUE(write_module_file(*read, other / "m.msbc", {.embed = true}).ok());
  auto embedded = read_module_file(other / "m.msbc", {.check_data = true});
  ASSERT_TRUE(embedded.ok()) << embedded.status().message();
  EXPECT_EQ(embedded->constants[1].external_file, "");

  // From memory there is no folder to look in.
  EXPECT_THAT(read_module(*file, nullptr).status().message(), HasSubstr("m.weights"));
  EXPECT_TRUE(read_module(*file, nullptr, {.directory = dir.path()}).ok());
}

TEST(ExternalWeights, DamageIsFound) {
  ScratchDirectory dir;
  ASSERT_TRUE(write_module_file(weights(), dir / "m.msbc", {.weights_file = "w"}).ok());
  auto bytes = read_file(dir / "w");
  ASSERT_TRUE(bytes.ok());
  auto changed = *bytes;
  changed[30000] ^= std::byte{1};
  ASSERT_TRUE(write_file_atomically(dir / "w", changed).ok());
  EXPECT_TRUE(read_module_file(dir / "m.msbc").ok());
  EXPECT_THAT(read_module_file(dir / "m.msbc", {.check_data = true}).status().message(), HasSubstr("altered"));
  changed.resize(30000);
  ASSERT_TRUE(write_file_atomically(dir / "w", changed).ok());
  EXPECT_THAT(read_module_file(dir / "m.msbc").status().message(), HasSubstr("lies outside"));
  std::filesystem::remove(dir / "w");
  EXPECT_FALSE(read_module_file(dir / "m.msbc").ok());
}

TEST(ExternalWeights, NoWayOutOfTheFolder) {
  ScratchDirectory dir;
  ASSERT_TRUE(std::filesystem::create_directory(dir / "inner"));
  std::string zeros(20000, '\0');
  ASSERT_TRUE(write_file_atomically(dir / "secret", std::string_view(zeros)).ok());
  ASSERT_TRUE(write_file_atomically(dir / "inner/inside", std::string_view(zeros)).ok());
  std::filesystem::create_symlink("../secret", dir / "inner/link");
  std::filesystem::create_symlink("..", dir / "inner/up");
  std::filesystem::create_symlink("inside", dir / "inner/fine");

  for (std::string name :
       {"../secret", "/etc/passwd", "a/../../secret", "./../secret", "", "link", "up/secret", "inner//x", "no such", "..", "."}) {
    SCOPED_TRACE(name);
    // By text.
    AssembleResult a = assemble("const %c f32[5000] = data(\"" + name + "\", 0, 20000)\n", "t.msasm", dir / "inner");
    ASSERT_EQ(a.errors.size(), 1u);
    EXPECT_EQ(a.errors[0].code, DiagCode::kBadFile);
    // By a file that names it.
    Module m = weights();
    m.constants[1].external_file = name;
    if (name.empty()) continue;
    auto bytes = write_module(m);
    ASSERT_TRUE(bytes.ok());
    ASSERT_TRUE(write_file_atomically(dir / "inner/m.msbc", *bytes).ok());
    EXPECT_FALSE(read_module_file(dir / "inner/m.msbc").ok());
  }
  // Writing doesn't leave it either.
  EXPECT_FALSE(write_module_file(weights(), dir / "inner/m.msbc", {.weights_file = "../w"}).ok());
  EXPECT_FALSE(std::filesystem::exists(dir / "w"));
  // A link that stays inside is no harm.
  AssembleResult a = assemble("const %c f32[5000] = data(\"fine\", 0, 20000)\n", "t.msasm", dir / "inner");
  EXPECT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
}

}  // namespace
}  // namespace msvm
