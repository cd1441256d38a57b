// monitor: a running process in the terminal.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "attach.h"
#include "common.h"
#include "monitor_view.h"
#include "terminal.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPeriodMs = 1000;

struct MonitorCommand {
  Attachment attachment;
  bool once = false, json = false;
};

bool may_colour() {
  const char* no = std::getenv("NO_COLOR");
  return !no || !*no;
}

/// Until the user quits. A process that doesn't answer for a while may come back.
Status watch(const observe::ClientOptions& client, Json state) {
  Terminal terminal;
  Json before;
  std::string lost;
  for (;;) {
    const auto [width, height] = terminal.size();
    std::string screen = monitor_screen(state, before, {.width = width, .height = height - 1, .colour = may_colour()});
    const std::string bottom = lost.empty() ? "q quits" : lost + "; q quits";
    screen += printable(bottom).substr(0, static_cast<size_t>(width));
    terminal.draw(screen);
    const Terminal::Event event = terminal.wait(kPeriodMs);
    if (event == Terminal::Event::kQuit) return {};
    if (event == Terminal::Event::kResized) continue;
    auto next = fetch_state(client);
    lost = next.ok() ? "" : next.status().message();
    if (!next.ok()) continue;
    before = std::exchange(state, std::move(*next));
  }
}

Status monitor(const MonitorCommand& o) {
  MSVM_ASSIGN_OR_RETURN(const observe::ClientOptions client, o.attachment.find());
  MSVM_ASSIGN_OR_RETURN(Json state, fetch_state(client));
  if (o.json) {
    fmt::print("{}\n", state.dump(1, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  if (o.once || !Terminal::there()) {
    fmt::print("{}", monitor_screen(state, nullptr, {.width = 0}));
    return {};
  }
  return watch(client, std::move(state));
}

}  // namespace

void add_monitor(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("monitor", "What a running process does: hit rates, compilations, native code, memory, warnings, once a second");
  auto o = std::make_shared<MonitorCommand>();
  c->add_option("process", o->attachment.to, "its PID, or the address of its monitor; needed where several serve one");
  c->add_flag("--once", o->once, "as text, once; also where the output isn't a terminal");
  c->add_flag("--json", o->json, "the state as JSON, once");
  add_certificate_option(*c, o->attachment);
  c->footer("Example: msvm monitor 4711\nThe process serves a monitor if it was started with --monitor, MSVM_MONITOR or ms.vm.start_monitor(). Keys: q quits.\n"
            "Where that has tokens: MSVM_MONITOR_TOKEN or MSVM_MONITOR_READ_TOKEN.");
  c->callback([=, &code] { code = report(monitor(*o)); });
}

}  // namespace msvm::cli
