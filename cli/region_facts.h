// explain: what is known of a program's regions before anything ran.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common.h"
#include "feed.h"
#include "msvm/jit/lower.h"
#include "msvm/jit/trigger.h"

namespace msvm::cli {

/// One region, lowered, and the code that sizes would get.
struct RegionFacts {
  const jit::Region* region = nullptr;
  jit::LoweredRegion lowered;
  std::optional<jit::Box> box;     // that these sizes would get code for
  std::string loops;               // the program for it, or for all sizes
};

/// Everything as data. `facts` gets the programs.
nlohmann::ordered_json describe_region(const jit::FunctionView& view, const jit::Region& region, const Shapes& shapes, const JitOptions& options, RegionFacts& facts, Status& status);
std::string region_text(const nlohmann::ordered_json& region, size_t number);

}  // namespace msvm::cli
