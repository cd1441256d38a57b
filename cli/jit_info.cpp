// jit-info: what the JIT did for a program over a stream of shapes.
#include <fmt/core.h>

#include "jit_text.h"
#include "stream.h"

namespace msvm::cli {
namespace {

Status jit_info(const StreamOptions& o, bool json) {
  MSVM_ASSIGN_OR_RETURN(const Loaded loaded, load_program(o));
  MSVM_RETURN_IF_ERROR(run_stream(loaded, o, !json).status());
  loaded.engine->drain_jit();  // what the last runs asked for belongs to the picture
  const JitView view = loaded.program->jit_view();
  const jit::QueueView queue = loaded.engine->jit_queue();
  if (json) fmt::print("{}\n", jit_json(view, queue).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else fmt::print("{}", jit_text(view, queue));
  return {};
}

}  // namespace

void add_jit_info(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("jit-info", "Run a program, then show regions, native code, hit rates, what was fused, what was slow and why");
  auto o = std::make_shared<StreamOptions>();
  auto json = std::make_shared<bool>(false);
  add_stream_options(*c, *o);
  c->add_flag("--json", *json, "everything as JSON");
  c->footer("Example: msvm jit-info det.onnx --stream 'x=1x3x320x320; x=1x3x480x640' -n 20");
  c->callback([=, &code] { code = report(jit_info(*o, *json)); });
}

}  // namespace msvm::cli
