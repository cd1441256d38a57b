// The list of all kernels, made once.
#include <algorithm>
#include <unordered_map>

#include "msvm/kernels/families.h"

namespace msvm {
namespace {

struct Registry {
  KernelList list;
  std::unordered_map<std::string_view, const KernelInfo*> reference;

  Registry() {
    list.reserve(512);
#define X(family) add_##family##_kernels(list);
    MSVM_KERNEL_FAMILIES(X)
#undef X
    auto is_reference = [](const KernelInfo& k) { return k.name.starts_with("ref_"); };
    std::stable_partition(list.begin(), list.end(), is_reference);
    for (const KernelInfo& k : list)
      if (is_reference(k)) reference.emplace(k.op, &k);
  }
};

const Registry& registry() {
  static const Registry& r = *new Registry;  // threads may run programs while the process ends
  return r;
}

}  // namespace

std::span<const KernelInfo> all_kernels() { return registry().list; }

const KernelInfo* reference_kernel(std::string_view op) {
  auto it = registry().reference.find(op);
  return it == registry().reference.end() ? nullptr : it->second;
}

}  // namespace msvm
