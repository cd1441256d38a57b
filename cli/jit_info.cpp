// jit-info: what the JIT did for a program over a stream of shapes.
#include <fmt/core.h>
#include <unistd.h>

#include "attach.h"
#include "attached_jit.h"
#include "jit_text.h"
#include "stream.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

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

Status attached_jit_info(const Attachment& attachment, bool json) {
  MSVM_ASSIGN_OR_RETURN(const observe::ClientOptions client, attachment.find());
  MSVM_ASSIGN_OR_RETURN(const Json state, fetch_state(client));
  const std::vector<JitView> views = jit_views(state);
  const auto queues = state.find("queues");
  const jit::QueueView queue = queues != state.end() && queues->is_array() && !queues->empty() ? queue_view((*queues)[0]) : jit::QueueView{};
  if (json) {
    Json all = Json::array();
    for (const JitView& v : views) all.push_back(jit_json(v, queue));
    fmt::print("{}\n", all.dump(1, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  for (const JitView& v : views) fmt::print("{}\n", jit_text(v, queue));
  if (views.empty()) fmt::print("no programs are loaded there\n");
  return {};
}

}  // namespace

void add_jit_info(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("jit-info", "Run a program, then show regions, native code, hit rates, what was fused, what was slow and why");
  auto o = std::make_shared<InfoOptions>();
  add_stream_options(*c, o->stream);
  c->get_option("program")->required(false);
  c->add_flag("--json", o->json, "everything as JSON");
  o->assembly = c->add_option("--asm", o->entry, "instead: the machine code of an entry (its name, alias or box; default: the one with most hits), with what stands out in it")->expected(0, 1)->type_name("[ENTRY]");
  auto attachment = std::make_shared<Attachment>();
  auto* attach = c->add_option("--attach", attachment->to, "PID or address of a process that serves a monitor: of its programs, and nothing is run here");
  add_certificate_option(*c, *attachment);
  c->footer("Examples:\n  msvm jit-info det.onnx --stream 'x=1x3x320x320; x=1x3x480x640' -n 20\n  msvm jit-info --attach 4711");
  c->callback([=, &code] {
    if (o->stream.program.empty() && attach->count() == 0) throw CLI::RequiredError("program or --attach");
    code = report(attach->count() > 0 ? attached_jit_info(*attachment, o->json) : jit_info(*o));
  });
}

}  // namespace msvm::cli
