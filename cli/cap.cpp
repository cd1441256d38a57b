// cap dump, cap check: the capability database.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "common.h"
#include "msvm/sched/scheduler.h"

namespace msvm::cli {
namespace {

bool same_cost(const CostClass& a, const CostClass& b) {
  auto rate = [](double r) { return std::min(r, std::numeric_limits<double>::max()); };  // infinity is written as the largest number
  return a.min_work == b.min_work && a.max_work == b.max_work && a.overhead_ns == b.overhead_ns && rate(a.work_per_ns) == rate(b.work_per_ns);
}

}  // namespace

void add_cap(CLI::App& app, int& code) {
  auto* cap = app.add_subcommand("cap", "Show or check the capability database (kernels, their conditions and costs)");
  cap->require_subcommand(1);
  cap->footer("Examples: msvm cap dump -o cap.json;  msvm cap check patch.json");

  auto* dump = cap->add_subcommand("dump", "The database of this machine as JSON");
  auto out = std::make_shared<std::string>(), patch = std::make_shared<std::string>();
  dump->add_option("-o,--output", *out, "where to write (default: standard output)");
  dump->add_option("--patch", *patch, "apply this patch first");
  dump->callback([=, &code] {
    CapabilityDb db = default_capability_db();
    if (!patch->empty())
      if (Status s = db.apply_patch_file(*patch); !s.ok()) {
        code = report(s);
        return;
      }
    code = report(write_text(*out, db.to_json()));
  });

  auto* check = cap->add_subcommand("check", "Would this patch be accepted here, and what would it change?");
  auto file = std::make_shared<std::string>();
  check->add_option("patch", *file, "the JSON file")->required();
  check->callback([=, &code] {
    CapabilityDb before = default_capability_db(), db = before;
    if (Status s = db.apply_patch_file(*file); !s.ok()) {
      code = report(s);
      return;
    }
    size_t changed = 0;
    for (const auto& [key, list] : db.sections())
      for (const KernelCapability& k : list) {
        const KernelCapability* old = before.find(k.name);
        if (old && old->enabled == k.enabled && std::equal(old->costs.begin(), old->costs.end(), k.costs.begin(), k.costs.end(), same_cost)) continue;
        ++changed;
        const char* how = !old ? "is new" : old->enabled == k.enabled ? "has other costs" : k.enabled ? "is back" : "is taken out";
        fmt::print("{}: {} {}\n", key, k.name, how);
      }
    fmt::print("{}: accepted for {} [{}], format {}; {} kernel{} changed\n", *file, to_string(db.device), isa_name(db.hardware.isa), CapabilityDb::kFormatVersion,
               changed, changed == 1 ? "" : "s");
    code = kDone;
  });
}

}  // namespace msvm::cli
