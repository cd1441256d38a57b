#include "observe/dap/launch.h"

#include <fmt/format.h>

namespace msvm::observe::dap {

Result<LaunchArguments> read_launch(const Arguments& a) {
  LaunchArguments l;
  MSVM_ASSIGN_OR_RETURN(l.program, a.text("program"));
  if (l.program.empty()) return a.wrong("program", "the path of a .py, .msbc, .msasm or .onnx file");
  MSVM_ASSIGN_OR_RETURN(l.args, a.texts("args"));
  MSVM_ASSIGN_OR_RETURN(l.cwd, a.text("cwd", ""));
  MSVM_ASSIGN_OR_RETURN(l.python, a.text("python", ""));
  MSVM_ASSIGN_OR_RETURN(l.env, a.text_map("env"));
  MSVM_ASSIGN_OR_RETURN(l.stop_on_entry, a.flag("stopOnEntry", false));
  MSVM_ASSIGN_OR_RETURN(l.inputs, a.text_map("inputs"));
  MSVM_ASSIGN_OR_RETURN(l.shapes, a.texts("shapes"));
  MSVM_ASSIGN_OR_RETURN(l.ranges, a.texts("ranges"));
  MSVM_ASSIGN_OR_RETURN(l.function, a.text("function", ""));
  MSVM_ASSIGN_OR_RETURN(l.output, a.text("output", ""));
  MSVM_ASSIGN_OR_RETURN(l.runs, a.integer("runs", 1, 1'000'000'000, 1));
  MSVM_ASSIGN_OR_RETURN(l.seed, a.integer("seed", 0, std::numeric_limits<int64_t>::max(), 1));
  if (a.has("optimize")) {
    MSVM_ASSIGN_OR_RETURN(l.optimize, a.flag("optimize", true));
  }
  MSVM_ASSIGN_OR_RETURN(const std::string native, a.text("native", "stepDown"));
  if (native != "stepDown" && native != "stay") return a.wrong("native", "\"stepDown\" or \"stay\"");
  l.native_stays = native == "stay";
  MSVM_ASSIGN_OR_RETURN(l.no_debug, a.flag("noDebug", false));
  return l;
}

}  // namespace msvm::observe::dap
