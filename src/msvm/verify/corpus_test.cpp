// tests/verify/*.msasm: the error stands on the offending line; files without any must be accepted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "msvm/bytecode/file.h"
#include "msvm/verify/test_modules.h"

namespace msvm::verification {

constexpr std::string_view kMarker = "; error:";

std::vector<Expected> expectations(const std::string& text) {
  std::vector<Expected> out;
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    size_t at = line.find(kMarker);
    while (at != std::string::npos) {
      const size_t begin = at + kMarker.size(), next = line.find(kMarker, begin);
      std::istringstream words(line.substr(begin, next == std::string::npos ? next : next - begin));
      Expected e{n, {}, {}};
      words >> e.code;
      std::getline(words >> std::ws, e.part);
      while (!e.part.empty() && e.part.back() == ' ') e.part.pop_back();
      out.push_back(std::move(e));
      at = next;
    }
  }
  return out;
}

std::string without_expectations(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find(kMarker)) + "\n";
  return out;
}

int line_of(const Diagnostic& d, const AssembleResult& program, const std::string& text) {
  if (d.place.function.empty()) return 1;
  for (size_t f = 0; f < program.module.functions.size(); ++f) {
    if ("@" + program.module.functions[f].name != d.place.function) continue;
    if (d.place.instruction >= 0 && f < program.instruction_lines.size()) return program.instruction_lines[f][static_cast<size_t>(d.place.instruction)];
  }
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n)
    if (line.starts_with("func " + d.place.function + "(")) return n;
  return 1;
}

std::string compare(const Diagnostics& found, std::vector<Expected> expected, const AssembleResult& program, const std::string& text) {
  std::string out;
  for (const Diagnostic& d : found) {
    const int line = line_of(d, program, text);
    const std::string shown = format_diagnostic(d);
    auto it = std::find_if(expected.begin(), expected.end(), [&](const Expected& e) {
      return !e.met && e.line == line && e.code == diag_label(d.code) && shown.find(e.part) != std::string::npos;
    });
    if (it != expected.end()) it->met = true;
    else out += fmt::format("line {}: not expected:\n{}\n", line, shown);
  }
  for (const Expected& e : expected)
    if (!e.met) out += fmt::format("line {}: expected {} {}\n", e.line, e.code, e.part);
  return out;
}

std::vector<std::string> corpus_files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/verify"))
    if (e.path().extension() == ".msasm") out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

namespace {

TEST(Corpus, FindingsStandOnTheirLines) {
  const auto files = corpus_files();
  EXPECT_GE(files.size(), 5u);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const std::string text = text_of(path);
    AssembleResult a = assemble(without_expectations(text), path);
    EXPECT_EQ(format_diagnostics(a.errors), "");
    if (!a.errors.empty()) continue;
    VerifyResult r = verify(a.module, nullptr);
    EXPECT_EQ(compare(r.errors, expectations(text), a, text), "");
    EXPECT_EQ(r.module == nullptr, !r.errors.empty());
  }
}

// What the reader gives back is verified alike.
TEST(Corpus, FilesSayTheSame) {
  for (const std::string& path : corpus_files()) {
    SCOPED_TRACE(path);
    AssembleResult a = assemble(without_expectations(text_of(path)), path);
    auto bytes = write_module(a.module);
    if (!bytes.ok()) continue;  // what can't be written can't be read
    auto module = read_module(*bytes, nullptr);
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(format_diagnostics(verify(std::move(*module), nullptr).errors), format_diagnostics(verify(a.module, nullptr).errors));
  }
}

}  // namespace
}  // namespace msvm::verification
