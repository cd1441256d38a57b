#include "observe/dap/merge/breakpoint_check.h"

#include <fmt/format.h>

#include "msvm/base/trim.h"
#include "observe/dap/json.h"

namespace msvm::observe::dap::merge {
namespace {

// `asked` is there: {"program", "names", "rows": [{"condition", "hit"}]}. Names of nested functions are found in the program's file alone; of others once they run.
constexpr const char* kLook = R"PY(
import gc, json, re, types
def names(code):
    yield code.co_name
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from names(c)
def trouble(row):
    try:
        if row["condition"]:
            compile(row["condition"].lstrip(" \t"), "condition", "eval")
    except SyntaxError as e:
        return f"condition: column {e.offset}: {e.msg}" if e.offset else f"condition: {e.msg}"
    except Exception as e:
        return f"condition: {e}"
    if row["hit"] and not re.fullmatch(r"\s*(==|>=|<=|>|<|%)?\s*[0-9]+\s*", row["hit"]):
        return f"hit condition '{row['hit']}': expected a count, as 5, >= 5 or % 3"
    return ""
known = set()
if asked["names"]:
    known.update(f.__code__.co_name for f in gc.get_objects() if type(f) is types.FunctionType)
    try:
        with open(asked["program"], "rb") as file:
            known.update(names(compile(file.read(), asked["program"], "exec")))
    except Exception:
        pass
answer = json.dumps({"known": [n in known for n in asked["names"]], "trouble": [trouble(r) for r in asked["rows"]]})
)PY";

constexpr std::string_view kFailed = "pydevd: Error while evaluating expression in conditional breakpoint: ";

bool of_functions(const BreakpointGroup& g) { return g.command == "setFunctionBreakpoints"; }

/// JSON's text is a literal of Python, too.
std::string literal(const std::string& text) { return dump(Json(text)); }

void refuse(Json& row, const char* reason, std::string message) {
  row["verified"] = false;
  row["reason"] = reason;
  row["message"] = std::move(message);
}

}  // namespace

std::string question_about(const BreakpointGroup& group, const std::string& program) {
  Json names = Json::array(), rows = Json::array();
  const auto given = group.arguments.find("breakpoints");
  if (given != group.arguments.end() && given->is_array())
    for (const Json& b : *given) {
      rows.push_back({{"condition", text_in(b, "condition")}, {"hit", text_in(b, "hitCondition")}});
      if (of_functions(group)) names.push_back(text_in(b, "name"));
    }
  const Json asked{{"program", program}, {"names", std::move(names)}, {"rows", std::move(rows)}};
  return fmt::format("(lambda d: (exec({}, d), d['answer'])[1])({{'asked': __import__('json').loads({})}})", literal(kLook), literal(dump(asked)));
}

void learn_from(const std::string& answer, BreakpointGroup& group) {
  const auto said = parse_json(answer);
  if (!said.ok() || !said->is_object()) return;
  std::vector<Json>& rows = group.found[static_cast<int>(Side::kPython)];
  const Json known = said->value("known", Json::array()), trouble = said->value("trouble", Json::array());
  for (size_t k = 0; k < rows.size(); ++k) {
    if (k < known.size() && known[k] == false) refuse(rows[k], "pending", "no function of Python has this name so far");
    if (k < trouble.size() && trouble[k].is_string() && trouble[k] != "") refuse(rows[k], "failed", trouble[k].get<std::string>());
  }
}

std::optional<FailedCondition> failed_condition(const std::string& output) {
  if (!output.starts_with(kFailed)) return {};
  // The condition, a line each of what Python tells about it, and the error.
  const std::string_view rest = std::string_view(output).substr(kFailed.size());
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view told = trimmed(rest, " \n");
  const size_t last = told.rfind('\n');
  return FailedCondition{std::string(rest.substr(0, end)), std::string(told.substr(last == std::string_view::npos ? 0 : last + 1))};
}

}  // namespace msvm::observe::dap::merge
