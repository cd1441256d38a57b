// What a shell offers behind a half-written command line.
#pragma once
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace msvm::cli {

/// The type's name of options that take the PID of a process with a debug server.
inline constexpr const char* kAttachable = "PID";

struct Completions {
  struct Candidate {
    std::string text, description;
  };
  std::vector<Candidate> candidates;   // that begin like the last word
  bool files = false;                  // and files
};

/// `words`: what stands behind the program's name, the last one up to the cursor. Follows the commands and options that `app` declares.
Completions complete(const CLI::App& app, std::span<const std::string> words);

}  // namespace msvm::cli
