// What debugpy takes without a look: conditions that aren't Python, and names of functions that nobody has. Private to the room.
#pragma once
#include <optional>
#include <string>

#include "observe/dap/merge/breakpoints.h"

namespace msvm::observe::dap::merge {

/// A question to the program's own Python about the group's breakpoints, as an expression. `program`: the file whose functions are known before it runs; may
/// be empty.
std::string question_about(const BreakpointGroup& group, const std::string& program);
/// What follows from its answer for the rows that debugpy has given. An answer that isn't one changes nothing.
void learn_from(const std::string& answer, BreakpointGroup& group);

/// debugpy's message that a condition has failed, just before it stops there.
struct FailedCondition {
  std::string condition, error;  // "NameError: name 'x' is not defined"
};
std::optional<FailedCondition> failed_condition(const std::string& output);

}  // namespace msvm::observe::dap::merge
