#include "msvm/base/diagnostic.h"

#include <fmt/format.h>

#include <cctype>
#include <iterator>

#include "msvm/base/json_text.h"

namespace msvm {
namespace {

// "instruction 42 (TENSOR_CREATE), offset 0x2a, model.py:31, in @forward"; empty if nothing is known.
std::string place_text(const DiagPlace& p) {
  std::string out;
  auto part = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (p.instruction >= 0) {
    part(p.mnemonic.empty() ? fmt::format("instruction {}", p.instruction) : fmt::format("instruction {} ({})", p.instruction, p.mnemonic));
  } else if (!p.mnemonic.empty()) {
    part(p.mnemonic);
  }
  if (p.offset >= 0) part(fmt::format("offset 0x{:x}", p.offset));
  if (!p.file.empty() || p.line > 0) {
    std::string source = p.file.empty() ? "line " : p.file;
    if (p.line > 0) source += (p.file.empty() ? "" : ":") + std::to_string(p.line);
    if (p.line > 0 && p.column > 0) source += ":" + std::to_string(p.column);
    part(source);
  }
  if (!p.function.empty()) part(out.empty() ? p.function : "in " + p.function);
  return out;
}

// Continuation lines keep the indent.
void append_line(std::string& out, std::string_view label, std::string_view text) {
  out += "\n  ";
  out += label;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
}

class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    append_json_string(out_, value);
  }
  void number(std::string_view key, int64_t value) {
    begin(key);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void begin(std::string_view key) {
    if (out_.back() != '{') out_ += ", ";
    append_json_string(out_, key);
    out_ += ": ";
  }

 private:
  std::string& out_;
};

}  // namespace

std::string_view diag_name(DiagCode code) {
  switch (code) {
#define MSVM_DIAG(number, name, title) \
  case DiagCode::name: return #name;
#include "msvm/base/diagnostic.def"
#undef MSVM_DIAG
  }
  return "kUnknown";
}

std::string_view diag_title(DiagCode code) {
  switch (code) {
#define MSVM_DIAG(number, name, title) \
  case DiagCode::name: return title;
#include "msvm/base/diagnostic.def"
#undef MSVM_DIAG
  }
  return "unknown finding";
}

std::string diag_label(DiagCode code) { return fmt::format("MSV{:04}", static_cast<unsigned>(code)); }

std::string format_diagnostic(const Diagnostic& d) {
  std::string where = place_text(d.place);
  std::string out = where.empty() ? "Error" : "Error at " + where;
  out += fmt::format(" [{}]", diag_label(d.code));
  if (!d.expected.empty()) append_line(out, d.code == DiagCode::kShapeConstraint ? "Expected shape: " : "Expected: ", d.expected);
  if (!d.found.empty()) append_line(out, d.found.starts_with("op ") ? "But " : "Found: ", d.found);
  append_line(out, "", d.message.empty() ? diag_title(d.code) : std::string_view(d.message));
  if (!d.fix.empty()) append_line(out, "fix: ", d.fix);
  return out;
}

std::string format_diagnostics(const Diagnostics& list) {
  std::string out;
  for (const Diagnostic& d : list) {
    if (!out.empty()) out += "\n\n";
    out += format_diagnostic(d);
  }
  return out;
}

std::string diagnostic_log_line(const Diagnostic& d) {
  std::string title(diag_title(d.code));
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  std::string out = "BC Verifier: " + title;
  if (d.place.offset >= 0) return out + fmt::format(" at offset 0x{:x}", d.place.offset);
  std::string where = place_text(d.place);
  return where.empty() ? out : out + " at " + where;
}

std::string diagnostics_to_json(const Diagnostics& list) {
  std::string out = "[";
  for (const Diagnostic& d : list) {
    if (out.size() > 1) out += ",\n ";
    JsonObject o(out);
    o.text("code", diag_label(d.code));
    o.text("title", diag_title(d.code));
    o.text("message", d.message);
    o.text("expected", d.expected);
    o.text("found", d.found);
    o.text("fix", d.fix);
    o.begin("place");
    JsonObject place(out);
    place.text("file", d.place.file);
    if (d.place.line > 0) place.number("line", d.place.line);
    if (d.place.column > 0) place.number("column", d.place.column);
    place.text("function", d.place.function);
    if (d.place.instruction >= 0) place.number("instruction", d.place.instruction);
    if (d.place.offset >= 0) place.number("offset", d.place.offset);
    place.text("mnemonic", d.place.mnemonic);
  }
  return out + "]";
}

}  // namespace msvm
