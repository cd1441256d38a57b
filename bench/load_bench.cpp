// Importing a model, writing it, loading and verifying it again: load_bench MODEL.onnx...
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/verify/verify.h"
#include "timing.h"

using namespace msvm;

namespace {

[[noreturn]] void stop(const Status& s) {
  fmt::print(stderr, "error: {}\n", s.message());
  std::exit(1);
}

void measure(const std::string& model) {
  std::string program = std::filesystem::temp_directory_path() / ("load_bench-" + std::to_string(::getpid()) + ".msbc");
  double import_ns = bench::median_ns(5, [&] {
    auto m = import_onnx_file(model);
    if (!m.ok()) stop(m.status());
    if (Status s = write_module_file(*m, program); !s.ok()) stop(s);
  });
  double load_ns = bench::median_ns(21, [&] {
    auto m = read_module_file(program);
    if (!m.ok()) stop(m.status());
    VerifyResult v = verify(std::move(*m));
    if (!v.module) stop(to_status(v.errors));
  });
  double mb = static_cast<double>(std::filesystem::file_size(program)) / 1e6;
  std::filesystem::remove(program);
  fmt::print("{:<24} {:>7.1f} MB   import + write {:>8.1f} ms   load + verify {:>7.2f} ms\n", std::filesystem::path(model).filename().string(), mb, import_ns / 1e6, load_ns / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: load_bench MODEL.onnx...\n");
    return 2;
  }
  fmt::print("medians; targets for 100 MB: import 1000 ms, load + verify 50 ms\n");
  for (int i = 1; i < argc; ++i) measure(argv[i]);
  return 0;
}
