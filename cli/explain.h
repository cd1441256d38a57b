// run --explain: which kernel each call took for which shapes, and what the others would have cost.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::cli {

/// Those whose operator or one of whose origins contains `name`; all of them if it is empty.
std::vector<CallExplanation> explanations(const Executable& program, const std::string& name);
std::string explanation_tables(const std::vector<CallExplanation>& calls);
nlohmann::ordered_json explanation_json(const std::vector<CallExplanation>& calls);

}  // namespace msvm::cli
