#include "observe/dap/capabilities.h"

#include "msvm/device/capability_db.h"

namespace msvm::observe::dap {

const std::vector<std::pair<std::string, std::string>>& exception_filters() {
  static const auto& all = *new std::vector<std::pair<std::string, std::string>>{
      {"failure", "Failed runs (shape mismatch, trap, ...)"}, {"fallback", "Slow path taken"}, {"nan", "NaN or Inf in a result"}};
  return all;
}

Json versions(const std::string& patch) { return {{"msvm", MSVM_VERSION}, {"format", "1.0"}, {"dap", 1}, {"capabilityDb", {{"format", CapabilityDb::kFormatVersion}, {"patch", patch}}}}; }

Json capabilities() {
  Json filters = Json::array();
  for (const auto& [name, label] : exception_filters()) filters.push_back({{"filter", name}, {"label", label}, {"default", name == "failure"}});
  Json c{{"exceptionBreakpointFilters", std::move(filters)}, {"completionTriggerCharacters", {".", "("}}};
  for (const char* yes : {"supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsEvaluateForHovers", "supportsSetVariable", "supportsCompletionsRequest",
                          "supportsExceptionInfoRequest", "supportsDisassembleRequest", "supportsSteppingGranularity", "supportsInstructionBreakpoints", "supportsFunctionBreakpoints", "supportsReadMemoryRequest",
                          "supportsTerminateRequest", "supportTerminateDebuggee", "supportsLoadedSourcesRequest", "supportsLogPoints", "supportsBreakpointLocationsRequest", "supportsDelayedStackTraceLoading",
                          "supportsExceptionFilterOptions"})
    c[yes] = true;
  return c;
}

}  // namespace msvm::observe::dap
