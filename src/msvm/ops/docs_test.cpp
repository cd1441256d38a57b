// docs/operators.md is what the table says. MSVM_UPDATE_DOCS=1 writes it (tools/gen_operator_docs.sh).
#include "msvm/ops/docs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace msvm {
namespace {

TEST(OperatorDocs, AreCurrent) {
  const std::string path = std::string(MSVM_SOURCE_DIR) + "/docs/operators.md";
  if (std::getenv("MSVM_UPDATE_DOCS")) std::ofstream(path) << operator_docs();
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  EXPECT_TRUE(found.str() == operator_docs()) << path << " is out of date: run tools/gen_operator_docs.sh";
}

}  // namespace
}  // namespace msvm
