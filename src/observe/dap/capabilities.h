// What this adapter can do, as `initialize` answers it: also for sessions that add to it.
#pragma once
#include "observe/dap/json.h"

namespace msvm::observe::dap {

Json capabilities();
/// The names of the exception filters, with what they mean.
const std::vector<std::pair<std::string, std::string>>& exception_filters();

}  // namespace msvm::observe::dap
