#include "common.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "importers/onnx/import.h"
#include "msvm/base/file.h"
#include "msvm/bytecode/file.h"

namespace msvm::cli {

int exit_code_of(const Status& s) {
  if (s.ok()) return kDone;
  return s.code() == StatusCode::kIo || s.code() == StatusCode::kNotFound ? kIoFailed : kFailed;
}

int report(const Status& s) {
  if (s.ok()) return kDone;
  std::fflush(stdout);
  fmt::print(stderr, "error: {}\n", s.message().empty() ? status_code_name(s.code()) : printable(s.message()));
  return exit_code_of(s);
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<std::string> read_text(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return read_text_file(path);
}

Status write_text(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::cout << text << std::flush;
    return std::cout ? Status() : Status(StatusCode::kIo, "standard output can't be written");
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out ? Status() : Status(StatusCode::kIo, fmt::format("{}: can't be written", path));
}

OptOptions OptLevel::options(const std::string& path) const {
  OptOptions o;
  o.level = given >= 0 ? given : path.ends_with(".onnx") ? 1 : 0;
  return o;
}

void add_opt_option(CLI::App& command, OptLevel& level) {
  command.add_option("--opt", level.given, "0: every operator as it stands; 1: optimise (default for .onnx)")->check(CLI::Range(0, 1));
}

Result<Module> load_module(const std::string& path, TextLines lines, bool check_data) {
  if (path.ends_with(".onnx")) return import_onnx_file(path);
  if (path == "-") {
    MSVM_ASSIGN_OR_RETURN(std::string text, read_text(path));
    return assemble_module(text, "(standard input)", lines);
  }
  if (path.ends_with(".msasm")) return read_text_module(path, lines);
  return read_module_file(path, {.check_data = check_data});
}

size_t count_instructions(const Module& m) {
  size_t n = 0;
  for (const Function& f : m.functions)
    for (const Block& b : f.blocks) n += b.instrs.size();
  return n;
}

Status write_module(const Module& m, const std::string& path) {
  std::error_code error;  // a rename would put the file in a device's place
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) return {StatusCode::kIo, fmt::format("{}: not a regular file", path)};
  return write_module_file(m, path);
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::to_string() const {
  std::vector<size_t> width;
  for (const auto& r : rows_)
    for (size_t c = 0; c < r.size(); ++c) {
      if (c >= width.size()) width.push_back(0);
      width[c] = std::max(width[c], r[c].size());
    }
  std::string out;
  for (size_t i = 0; i < rows_.size(); ++i) {
    std::string line;
    for (size_t c = 0; c < rows_[i].size(); ++c) {
      const std::string& cell = rows_[i][c];
      bool number = !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-');
      line += i && number ? fmt::format("{:>{}}  ", cell, width[c]) : fmt::format("{:<{}}  ", cell, width[c]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return printable(out);
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto u = static_cast<unsigned char>(c);
    if ((u < 32 && c != '\n' && c != '\t') || u == 127) out += fmt::format("\\x{:02x}", u);
    else out += c;
  }
  return out;
}

std::string format_ns(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string format_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / (1024 * 1024));
}

}  // namespace msvm::cli
