// report: what a bug report needs, in one archive. Programs without their weights; no values of tensors.
#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "attach.h"
#include "explain.h"
#include "jit_text.h"
#include "module_info.h"
#include "msvm/bytecode/text.h"
#include "msvm/jit/compile/find_compiler.h"
#include "msvm/jit/disk/build_id.h"
#include "msvm/sched/scheduler.h"
#include "stream.h"
#include "zip_file.h"

extern char** environ;

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using Files = std::vector<std::pair<std::string, std::string>>;

struct ReportOptions {
  StreamOptions stream;
  Attachment attachment;
  bool attach = false;
  std::string output;
};

std::string dumped(const Json& j) { return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// Settings of this program, but for secrets.
Json settings() {
  Json out = Json::object();
  for (char** e = environ; *e; ++e) {
    const std::string_view one = *e;
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos || !one.starts_with("MSVM_")) continue;
    const std::string_view name = one.substr(0, equals);
    const bool secret = name.find("TOKEN") != std::string_view::npos || name.find("PASSWORD") != std::string_view::npos || name.find("SMTP") != std::string_view::npos;
    out[std::string(name)] = secret ? "(set)" : std::string(one.substr(equals + 1));
  }
  return out;
}

Json versions() {
  utsname system{};
  uname(&system);
  const auto compiler = jit::find_compiler("");
  const HardwareLimits hardware = default_capability_db().hardware;
  return {{"msvm", MSVM_VERSION},
          {"code", jit::build_id_of_this_code()},
          {"compiler", compiler.ok() ? "found, build " + jit::build_id_of_file(*compiler) : compiler.status().message()},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"libc", gnu_get_libc_version()},
          {"cpu", hardware.model},
          {"isa", std::string(isa_name(hardware.isa))},
          {"cores", hardware.cores},
          {"memory_bytes", hardware.memory_bytes},
          {"settings", settings()}};
}

Json shapes_json(const Streamed& ran) {
  Json out = Json::array();
  for (const ShapeTiming& t : ran.timings) out.push_back({{"shapes", t.shapes}, {"runs", t.ns.size()}, {"mode", t.mode()}, {"first_ns", t.ns[0]}, {"last_ns", t.ns.back()}});
  return out;
}

/// What is wrong belongs to the report, so nothing here fails.
void add_program(Files& files, const StreamOptions& o) {
  std::error_code error;
  files.emplace_back("file.json", dumped({{"name", std::filesystem::path(o.program).filename().string()}, {"bytes", std::filesystem::file_size(o.program, error)}}));
  const auto failed = [&](const Status& s) { files.emplace_back("error.txt", s.message() + "\n"); };
  {
    auto module = load_module(o.program, TextLines::kAsDebugInfo, true);
    if (!module.ok()) return failed(module.status());
    files.emplace_back("module.msasm", disassemble(*module, {.max_inline_bytes = 0}));
  }
  auto loaded = load_program(o);
  if (!loaded.ok()) return failed(loaded.status());
  files.emplace_back("info.json", module_info(loaded->program->verified(), std::filesystem::path(o.program).filename().string()));
  const bool can_run = !o.shapes.empty() || !o.stream.empty() || !o.inputs.empty();
  if (can_run) {
    if (const auto ran = run_stream(*loaded, o, true); ran.ok()) files.emplace_back("shapes.json", dumped(shapes_json(*ran)));
    else failed(ran.status());
    loaded->engine->drain_jit();
    files.emplace_back("kernels.json", dumped(explanation_json(explanations(*loaded->program, ""))));
  }
  const JitView view = loaded->program->jit_view();
  const jit::QueueView queue = loaded->engine->jit_queue();
  files.emplace_back("jit_info.txt", jit_text(view, queue));
  files.emplace_back("jit_info.json", dumped(jit_json(view, queue)));
  files.emplace_back("capabilities.json", loaded->engine->capability_db()->to_json());
}

Status add_process(Files& files, const Attachment& attachment) {
  MSVM_ASSIGN_OR_RETURN(const observe::ClientOptions client, attachment.find());
  MSVM_ASSIGN_OR_RETURN(const Json state, fetch_state(client));
  files.emplace_back("state.json", dumped(state));
  for (const auto& [name, target] : {std::pair{"history.json", "/api/v1/history"}, std::pair{"metrics.txt", "/metrics"}})
    if (auto got = observe::http_get(client, target); got.ok()) files.emplace_back(name, std::move(*got));
  const auto programs = state.find("programs");
  if (programs == state.end()) return {};
  for (const Json& p : *programs) {
    const auto id = p.find("id");
    if (id == p.end() || !id->is_number_unsigned()) continue;
    const auto number = id->get<uint64_t>();
    if (auto got = observe::http_get(client, fmt::format("/api/v1/bytecode?program={}", number)); got.ok()) files.emplace_back(fmt::format("bytecode_{}.json", number), std::move(*got));
  }
  return {};
}

Status write_report(const ReportOptions& o) {
  Files files{{"versions.json", dumped(versions())}};
  if (!o.stream.program.empty()) add_program(files, o.stream);
  else files.emplace_back("capabilities.json", default_capability_db().to_json());
  if (o.attach) MSVM_RETURN_IF_ERROR(add_process(files, o.attachment));
  MSVM_RETURN_IF_ERROR(write_zip(o.output, files));
  fmt::print("{}:", printable(o.output));
  for (const auto& [name, content] : files) fmt::print(" {}", name);
  fmt::print("\nIt holds the program's operators, names and shapes, but no weights and no values of tensors. Look into it before you send it.\n");
  return {};
}

}  // namespace

void add_report(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("report", "An archive for a bug report: program without weights, shapes, native code's story, kernels, versions; no values");
  auto o = std::make_shared<ReportOptions>();
  add_stream_options(*c, o->stream);
  c->get_option("program")->required(false);
  c->add_option("-o,--output", o->output, "the archive, .zip")->required();
  auto* attach = c->add_option("--attach", o->attachment.to, "PID or address of a process that serves a monitor: also its state, history, metrics and bytecode");
  add_certificate_option(*c, o->attachment);
  c->footer("Example: msvm report det.onnx -s x=1x3x480x640 -o bundle.zip\nWith shapes the program is run as by `msvm run`; what fails is in error.txt.");
  c->callback([=, &code] {
    o->attach = attach->count() > 0;
    code = report(write_report(*o));
  });
}

}  // namespace msvm::cli
