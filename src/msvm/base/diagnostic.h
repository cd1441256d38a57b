// A list of findings about the user's program: stable code, place, what was expected, what was found, what mends it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msvm {

/// Stable numbers of findings; `MSV0107` in text. The table in diagnostic.def holds code, name and title.
enum class DiagCode : uint16_t {
#define MSVM_DIAG(number, name, title) name = number,
#include "msvm/base/diagnostic.def"
#undef MSVM_DIAG
};

std::string_view diag_name(DiagCode code);   // "kShapeConstraint"
std::string_view diag_title(DiagCode code);  // "shape constraint violation"
std::string diag_label(DiagCode code);       // "MSV0401"

/// Where in the user's program: any part may be missing.
struct DiagPlace {
  std::string file;          // source file or text file; empty if unknown
  int32_t line = 0;          // 1-based; 0 unknown
  int32_t column = 0;        // 1-based; 0 unknown
  std::string function;      // "@forward"
  int32_t instruction = -1;  // index within the function
  int64_t offset = -1;       // byte offset in the module's code section
  std::string mnemonic;      // "OP_CALL Resize"
};

struct Diagnostic {
  DiagCode code;
  DiagPlace place;
  std::string message;   // one sentence: what is wrong
  std::string expected;  // optional; of kShapeConstraint the shape alone: "[N, C, h, w]"
  std::string found;     // optional, with where it comes from; a clause if it starts with "op ": "op Resize at … requires [N, 2*h]"
  std::string fix;       // optional: an instruction to insert, or what to do
};

using Diagnostics = std::vector<Diagnostic>;

/// The multi-line form for people, e.g. "Error at instruction 42 (TENSOR_CREATE), offset 0x2a, model.py:31 ...".
/// Lines after the first: expected, found, message, fix, as far as they are there.
std::string format_diagnostic(const Diagnostic& d);
/// All of them, separated by blank lines.
std::string format_diagnostics(const Diagnostics& list);
/// The line for logs: "BC Verifier: Shape constraint violation at offset 0x2a".
std::string diagnostic_log_line(const Diagnostic& d);
/// A JSON array for tools: [{"code": "MSV0401", "title", "message", "expected", "found", "fix", "place": {"file", "line", "column",
/// "function", "instruction", "offset", "mnemonic"}}]; what is unknown or empty is left out, `code`, `title` and `place` never are.
std::string diagnostics_to_json(const Diagnostics& list);

}  // namespace msvm
