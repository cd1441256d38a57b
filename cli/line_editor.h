// A line that is typed: edited, completed, remembered.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace msvm::cli {

/// For standard input as a terminal; one at a time. Lines are kept from one session to the next, for their user alone.
class LineEditor {
 public:
  /// What a line that ends at the cursor may go on with: whole lines.
  using Complete = std::function<std::vector<std::string>(const std::string& line)>;
  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// Nothing: the end of the input.
  std::optional<std::string> read(const std::string& prompt);
  /// What is being typed isn't meant: the next line begins, empty. From signal handlers.
  static void discard();

 private:
  std::vector<std::string> lines_;
};

}  // namespace msvm::cli
