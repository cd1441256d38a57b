// jit-info: what the JIT did for a program over a stream of shapes.
#include <fmt/core.h>

#include <unistd.h>

#include "jit_text.h"
#include "stream.h"

namespace msvm::cli {
namespace {

struct InfoOptions {
  StreamOptions stream;
  bool json = false;
  const CLI::Option* assembly = nullptr;  // --asm [ENTRY]
  std::string entry;
};

Status show_code(const Executable& program, const std::string& entry, bool json) {
  MSVM_ASSIGN_OR_RETURN(const jit::Disassembly d, program.disassembly(-1, -1, entry));
  fmt::print("{}", json ? jit::to_json(d) + "\n" : jit::to_text(d, isatty(STDOUT_FILENO) != 0));
  return {};
}

Status jit_info(const InfoOptions& o) {
  MSVM_ASSIGN_OR_RETURN(const Loaded loaded, load_program(o.stream));
  MSVM_RETURN_IF_ERROR(run_stream(loaded, o.stream, !o.json).status());
  loaded.engine->drain_jit();  // what the last runs asked for belongs to the picture
  if (o.assembly->count()) return show_code(*loaded.program, o.entry, o.json);
  const JitView view = loaded.program->jit_view();
  const jit::QueueView queue = loaded.engine->jit_queue();
  if (o.json) fmt::print("{}\n", jit_json(view, queue).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else fmt::print("{}", jit_text(view, queue));
  return {};
}

}  // namespace

void add_jit_info(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("jit-info", "Run a program, then show regions, native code, hit rates, what was fused, what was slow and why");
  auto o = std::make_shared<InfoOptions>();
  add_stream_options(*c, o->stream);
  c->add_flag("--json", o->json, "everything as JSON");
  o->assembly = c->add_option("--asm", o->entry, "instead: the machine code of an entry (its name, alias or box; default: the one with most hits), with what stands out in it")->expected(0, 1)->type_name("[ENTRY]");
  c->footer("Example: msvm jit-info det.onnx --stream 'x=1x3x320x320; x=1x3x480x640' -n 20");
  c->callback([=, &code] { code = report(jit_info(*o)); });
}

}  // namespace msvm::cli
