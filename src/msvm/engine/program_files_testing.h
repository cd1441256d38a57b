// For tests: tests/vm/*.msasm, programs with what each run gives, or how it fails.
//   ; run @name(x = f32[2] [1, 2], 3) -> f32[2] [2, 3], 5
//   ; run @name(f32[0] []) fails: part of the message
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "msvm/engine/program_testing.h"

namespace msvm::testing {

struct Case {
  int line;
  std::string function, inputs, results, failure;
};

inline std::string trimmed(std::string s) {
  while (!s.empty() && s.back() == ' ') s.pop_back();
  while (!s.empty() && s.front() == ' ') s.erase(s.begin());
  return s;
}

inline std::vector<Case> runs_of(const std::string& text) {
  std::vector<Case> out;
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    constexpr std::string_view kRun = "; run @", kFails = " fails:", kGives = " ->";
    if (!line.starts_with(kRun)) continue;
    const size_t open = line.find('(');
    const bool fails = line.find(kFails) != std::string::npos;
    const std::string_view mark = fails ? kFails : kGives;
    const size_t at = line.find(mark);
    if (open == std::string::npos || at == std::string::npos) {
      ADD_FAILURE() << "line " << n << " is not a run: " << line;
      continue;
    }
    const size_t close = line.rfind(')', at);
    Case r{n, line.substr(kRun.size(), open - kRun.size()), line.substr(open + 1, close - open - 1), {}, {}};
    (fails ? r.failure : r.results) = trimmed(line.substr(at + mark.size()));
    out.push_back(std::move(r));
  }
  return out;
}

inline std::vector<std::string> program_files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/vm"))
    if (e.path().extension() == ".msasm") out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

inline int32_t function_index(const std::vector<Function>& functions, const std::string& name) {
  for (size_t f = 0; f < functions.size(); ++f)
    if (functions[f].name == name) return static_cast<int32_t>(f);
  ADD_FAILURE() << "there is no function " << name;
  return -1;
}

}  // namespace msvm::testing
