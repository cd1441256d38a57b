// docs/verifier.md ends with the table of rules; MSVM_UPDATE_DOCS=1 writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "msvm/verify/test_modules.h"

namespace msvm::verification {
namespace {

std::string table() {
  std::map<DiagCode, std::string> by_code;
  for (int r = 0; r < rule_count(); ++r) by_code[rule_code(static_cast<Rule>(r))] += fmt::format("- {} (`{}`)\n", rule_doc(static_cast<Rule>(r)), rule_name(static_cast<Rule>(r)));
  std::string out;
  for (const auto& [code, rules] : by_code) out += fmt::format("\n### {}: {}\n{}", diag_label(code), diag_title(code), rules);
  return out;
}

TEST(Docs, ListEveryRule) {
  const std::string path = std::string(MSVM_SOURCE_DIR) + "/docs/verifier.md", marker = "Don't edit below. -->\n";
  std::string text = text_of(path);
  const size_t at = text.find(marker);
  ASSERT_NE(at, std::string::npos);
  const std::string wanted = text.substr(0, at + marker.size()) + table();
  if (std::getenv("MSVM_UPDATE_DOCS")) {
    std::ofstream(path) << wanted;
    text = wanted;
  }
  EXPECT_EQ(text, wanted) << "MSVM_UPDATE_DOCS=1 verify_test --gtest_filter='Docs.*' writes it";
}

}  // namespace
}  // namespace msvm::verification
