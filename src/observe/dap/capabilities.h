// What this adapter can do and is, as `initialize` and `msvm/versions` answer it: also for sessions that add to it.
#pragma once
#include "observe/dap/json.h"

namespace msvm::observe::dap {

Json capabilities();
/// Body of msvm/versions; `patch`: of the capability database, empty without one.
Json versions(const std::string& patch);
/// The names of the exception filters, with what they mean.
const std::vector<std::pair<std::string, std::string>>& exception_filters();

}  // namespace msvm::observe::dap
