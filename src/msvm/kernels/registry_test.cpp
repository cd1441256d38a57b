#include <gmock/gmock.h>

#include <set>

#include "msvm/kernels/kernel.h"

namespace msvm {
namespace {

TEST(Registry, EveryOperatorHasOneReferenceKernel) {
  std::vector<std::string> missing;
  for (const OpSchema* op : all_ops())
    if (!reference_kernel(op->name)) missing.emplace_back(op->name);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(Registry, KernelsAreOfKnownOperatorsAndNamedOnce) {
  std::set<std::string_view> names, with_reference;
  bool optimised = false;
  for (const KernelInfo& k : all_kernels()) {
    EXPECT_TRUE(find_op(k.op)) << k.name << " of " << k.op;
    EXPECT_TRUE(k.run) << k.name;
    EXPECT_TRUE(names.insert(k.name).second) << k.name;
    const bool reference = k.name.starts_with("ref_");
    EXPECT_FALSE(reference && optimised) << "reference kernels come first: " << k.name;
    optimised = !reference;
    if (reference) {
      EXPECT_TRUE(with_reference.insert(k.op).second) << "two reference kernels of " << k.op;
      EXPECT_EQ(k.isa, Isa::kScalar) << k.name;
      EXPECT_FALSE(k.dense_inputs) << k.name;
    }
  }
}

}  // namespace
}  // namespace msvm
