// For tests of this room: a function from text, verified, with its regions.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "msvm/bytecode/text_file.h"
#include "msvm/jit/regions.h"

namespace msvm::jit {

struct TestProgram {
  explicit TestProgram(const std::string& text, int32_t function = 0) {
    auto module = assemble_module("module \"test\" version 1\nopset \"\" 28, \"msvm\" 1\n" + text, "test.msasm", TextLines::kNone);
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.status().message());
    if (!module.ok()) return;
    VerifyResult v = verify(std::move(*module));
    EXPECT_TRUE(v.module) << format_diagnostics(v.errors);
    if (!v.module) return;
    verified = v.module;
    view = std::make_unique<FunctionView>(*verified, function);
    found = find_regions(*view);
  }

  const DimContext& dims() const { return *verified->module().dims; }
  const Region& only() const {
    EXPECT_EQ(found.regions.size(), 1u);
    return found.regions.at(0);
  }
  /// "N H W"; those that are free have a star.
  std::string symbols(const Region& r) const {
    std::string out;
    for (size_t k = 0; k < r.symbols.size(); ++k) out += (k ? " " : "") + dims().symbol_info(r.symbols[k]).name + (r.free >> k & 1 ? "*" : "");
    return out;
  }
  std::string registers(const std::vector<Reg>& list) const {
    std::string out;
    for (Reg r : list) out += (out.empty() ? "" : " ") + view->name(r);
    return out;
  }

  std::shared_ptr<const VerifiedModule> verified;
  std::unique_ptr<FunctionView> view;
  FunctionRegions found;
};

}  // namespace msvm::jit
