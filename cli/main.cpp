#include <fmt/core.h>

#include <cstdio>

#include "attach.h"
#include "common.h"

int main(int argc, char** argv) {
  using namespace msvm::cli;
  CLI::App app{"MSVM runs tensor programs whose shapes are known only at run time."};
  app.set_version_flag("--version", "msvm " MSVM_VERSION " (format 1.0)");
  app.require_subcommand(1);
  app.footer("Each command has --help with an example.\nExit codes: 0 done, 1 the program or its input is wrong, 2 usage, 3 reading or writing failed.");
  int exit_code = kDone;
  add_run(app, exit_code);
  add_import_onnx(app, exit_code);
  add_opt(app, exit_code);
  add_verify(app, exit_code);
  add_asm(app, exit_code);
  add_dis(app, exit_code);
  add_info(app, exit_code);
  add_scd(app, exit_code);
  add_jit_info(app, exit_code);
  add_explain(app, exit_code);
  add_compile(app, exit_code);
  add_monitor(app, exit_code);
  add_report(app, exit_code);
  add_cache(app, exit_code);
  add_cap(app, exit_code);
  add_trace(app, exit_code);
  add_completion(app, exit_code);
  add_dap(app, exit_code);
  add_debug(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    exit_code = app.exit(e) == 0 ? kDone : kUsage;
  } catch (const std::bad_alloc&) {
    return report(msvm::resource_limit("out of memory"));
  } catch (const std::system_error& e) {  // fmt's, where standard output is full or closed
    return report({msvm::StatusCode::kIo, e.what()});
  } catch (const std::exception& e) {
    return report(msvm::internal_error(e.what()));
  }
  if (exit_code == kDone && std::fflush(stdout) != 0) return report({msvm::StatusCode::kIo, "standard output can't be written"});
  return exit_code;
}
