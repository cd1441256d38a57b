// What the commands share: loading, exit codes, tables.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/bytecode/text_file.h"
#include "msvm/engine/engine.h"
#include "msvm/engine/optimizer.h"

namespace msvm::cli {

/// Exit codes: 0 done; 1 the program, model or input is wrong; 2 the command line is; 3 reading or writing failed.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kIoFailed = 3 };

/// Prints `error: ...` and gives the exit code for it.
int report(const Status& s);
int exit_code_of(const Status& s);

/// `--opt LEVEL`: models from ONNX are optimised unless told otherwise, programs only if told.
struct OptLevel {
  int given = -1;
  OptOptions options(const std::string& path) const;
};
void add_opt_option(CLI::App& command, OptLevel& level);

/// A .msbc, .msasm or .onnx file by its ending.
Result<Module> load_module(const std::string& path, TextLines lines = TextLines::kAsDebugInfo, bool check_data = false);

/// Where constants in files beside a program are looked up: "models/" of "models/det.msbc".
std::string folder_of(const std::string& path);
Result<std::string> read_text(const std::string& path);
Status write_text(const std::string& path, const std::string& text);  // "-" or "" = standard output

/// Larger constants aren't shown in texts for people.
constexpr size_t kShownBytes = 256;
size_t count_instructions(const Module& m);

/// As .msbc, whole or not at all.
Status write_module(const Module& m, const std::string& path);

/// Columns aligned; numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Names come from files: their control characters must not reach a terminal. Line ends and tabs stay.
std::string printable(std::string_view text);
/// "12.3 us", "4.56 ms"
std::string format_ns(double ns);
std::string format_bytes(double bytes);

// One function per command: declares its options; what it returns becomes the exit code.
void add_import_onnx(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_opt(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_asm(CLI::App& app, int& exit_code);
void add_dis(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_scd(CLI::App& app, int& exit_code);
void add_jit_info(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_compile(CLI::App& app, int& exit_code);
void add_cache(CLI::App& app, int& exit_code);
void add_cap(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_dap(CLI::App& app, int& exit_code);
void add_debug(CLI::App& app, int& exit_code);

}  // namespace msvm::cli
