// Findings together with the changes of the program's text that mend them.
#pragma once
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/bytecode/text_edit.h"

namespace msvm {

struct MendableFinding {
  Diagnostic finding;
  /// Of the finding's function; bytecode/text_edit.h finds their places. With all of them in the text this finding is gone, and the text
  /// still assembles; others may remain. Empty: `fix` says what to do, but a person has to do it.
  std::vector<StatementEdit> edits;
};

/// As verify(), for tools that change programs. Empty: nothing is wrong.
std::vector<MendableFinding> mendable_findings(Module module);

}  // namespace msvm
