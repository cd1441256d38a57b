#include "model.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/feed.h"
#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/engine/optimizer.h"

namespace msvm::bench {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  }
  std::erase(parts, "");
  return parts;
}

std::string model_folder() {
  if (const char* d = std::getenv("MSVM_CACHE")) return std::string(d) + "/models/";
  if (const char* d = std::getenv("XDG_CACHE_HOME"); d && *d) return std::string(d) + "/msvm/models/";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : ".") + "/.cache/msvm/models/";
}

}  // namespace

void stop(const Status& s) {
  fmt::print(stderr, "error: {}\n", s.message());
  std::exit(1);
}

std::string find_model(const std::string& name) {
  if (std::filesystem::exists(name)) return name;
  for (const char* ending : {"", ".onnx"})
    if (const std::string path = model_folder() + name + ending; std::filesystem::exists(path)) return path;
  stop({StatusCode::kNotFound, fmt::format("{}: neither a file nor a model in {}", name, model_folder())});
}

std::shared_ptr<const VerifiedModule> load_module(const std::string& path, int opt_level) {
  Module m = must(path.ends_with(".onnx") ? import_onnx_file(path) : read_module_file(path));
  OptOptions o;
  o.level = opt_level;
  return must(verify_and_optimize(std::move(m), o));
}

std::vector<Value> feed(const Function& f, const std::string& step, Engine& engine) {
  std::vector<std::string> shapes, ranges;
  for (const std::string& word : split(step, ',')) (word.find(':') == std::string::npos ? shapes : ranges).push_back(word);
  return must(cli::make_inputs(f, must(cli::parse_shapes(shapes, f)), {}, must(cli::parse_ranges(ranges, f)), 1, engine));
}

ModelCase load_case(const std::string& spec, Engine& engine, int opt_level) {
  ModelCase c;
  const size_t at = spec.find('@');
  c.path = find_model(spec.substr(0, at));
  c.name = std::filesystem::path(c.path).stem().string();
  c.module = load_module(c.path, opt_level);
  if (at != std::string::npos) c.steps = split(spec.substr(at + 1), ';');
  if (c.steps.empty()) c.steps.emplace_back();
  for (const std::string& s : c.steps) c.feeds.push_back(feed(c.module->module().functions[0], s, engine));
  return c;
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double percentile(std::vector<double> v, double p) {
  if (v.empty()) return 0;
  const size_t at = std::min(v.size() - 1, static_cast<size_t>(p * static_cast<double>(v.size())));
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(at), v.end());
  return v[at];
}

std::string time_text(double s) {
  if (s < 1e-6) return fmt::format("{:.1f} ns", s * 1e9);
  if (s < 1e-3) return fmt::format("{:.1f} us", s * 1e6);
  if (s < 1) return fmt::format("{:.2f} ms", s * 1e3);
  return fmt::format("{:.2f} s", s);
}

void Progress::show(size_t done, size_t all, const std::string& what) {
  if (!isatty(STDERR_FILENO) || (seconds_now() - last_ < 0.1 && done != all)) return;
  last_ = seconds_now();
  shown_ = true;
  fmt::print(stderr, "\r[{:<30}] {}/{}  {:<40.40}", std::string(all ? 30 * done / all : 30, '#'), done, all, what);
  std::fflush(stderr);
}
void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r{:<90}\r", "");
  shown_ = false;
}

}  // namespace msvm::bench
