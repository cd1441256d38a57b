// For tests of this room: text programs with the findings expected of them.
#pragma once
#include <string>
#include <vector>

#include "msvm/bytecode/text.h"
#include "msvm/verify/context.h"

namespace msvm::verification {

/// "; error: MSV0401 part of the message" at the end of the offending line; several may follow each other. A finding without an
/// instruction stands at the `func` line of its function, one without a function at the first line.
struct Expected {
  int line = 0;
  std::string code, part;
  bool met = false;
};
std::vector<Expected> expectations(const std::string& text);
/// `text` without the expectations.
std::string without_expectations(const std::string& text);
/// The line of the text where a finding belongs.
int line_of(const Diagnostic& d, const AssembleResult& program, const std::string& text);
/// What differs between findings and expectations; empty if nothing.
std::string compare(const Diagnostics& found, std::vector<Expected> expected, const AssembleResult& program, const std::string& text);

std::vector<std::string> corpus_files();  // tests/verify/*.msasm, sorted
std::string text_of(const std::string& path);

}  // namespace msvm::verification
