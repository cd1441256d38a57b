#include "debug_front.h"

#include <unistd.h>

#include <atomic>

#include "observe/dap/capabilities.h"
#include "observe/dap/merge/session.h"

namespace msvm::cli {

using namespace observe::dap;

/// On the way to the client: whether the request by which a session begins was refused. Nothing comes of that session any more then.
class DebugFront::Beginning final : public Output {
 public:
  Beginning(Output& client, Json seq) : client_(client), seq_(std::move(seq)) {}
  void send(const Json& message) override {
    if (refused_) return;
    refused_ = !leaving_ && message.value("type", "") == "response" && message.value("request_seq", Json()) == seq_ && !message.value("success", true);
    client_.send(message);
  }
  bool refused() const { return refused_; }
  /// The client ends the session, perhaps before it has begun: it is told of that end, too.
  void leave() { leaving_ = true; }

 private:
  Output& client_;
  const Json seq_;
  std::atomic<bool> refused_{false}, leaving_{false};
};

DebugFront::DebugFront(Output& client, std::function<void()> over)
    : client_(client), over_(std::move(over)), launcher_([this](const std::string& text) {
        if (here_) here_->output("stdout", text);
      }),
      here_(std::make_unique<observe::dap::Session>(client, SessionOptions{.debugger = observe::debug::Debugger::process(), .source = observe::process_source(), .launcher = &launcher_, .on_over = over_})) {}

DebugFront::~DebugFront() {
  launcher_.stop();  // it speaks through the session
}

std::unique_ptr<Peer> DebugFront::elsewhere(const Json& request) {
  const Json* given = Arguments(request).find("arguments");
  if (!given) return nullptr;
  const auto program = Arguments(*given).text("program", "");
  const bool is_python = program.ok() && program->ends_with(".py");
  if (!is_python && request["command"] != "attach") return nullptr;
  Json initialize = initialize_;
  initialize["processId"] = ::getpid();  // whoever attaches later is told who has the process
  beginning_ = std::make_unique<Beginning>(client_, request["seq"]);
  return merge::python_session(*beginning_, std::move(initialize), request, over_);
}

void DebugFront::receive(const Json& message) {
  if (elsewhere_ && beginning_->refused()) elsewhere_.reset();  // it may be asked for again, or for another one
  if (!elsewhere_) {
    const Arguments m(message);
    const auto command = m.text("command", "");
    if (command.ok() && *command == "initialize") {
      if (const Json* a = m.find("arguments")) initialize_ = *a;
    } else if (command.ok() && (*command == "launch" || *command == "attach") && !here_->begun()) {
      elsewhere_ = elsewhere(message);
      if (elsewhere_) return;
    }
  }
  const Arguments m(message);
  const auto command = m.text("command", "");
  if (elsewhere_ && command.ok() && *command == "msvm/versions") {
    client_.send({{"seq", 0}, {"type", "response"}, {"request_seq", message["seq"]}, {"command", *command}, {"success", true}, {"body", versions("")}});
    return;
  }
  if (elsewhere_ && command.ok() && (*command == "disconnect" || *command == "terminate")) beginning_->leave();
  if (elsewhere_) elsewhere_->receive(message);
  else here_->receive(message);
}

void DebugFront::closed() {
  if (elsewhere_) elsewhere_->closed();
  here_->closed();
}

}  // namespace msvm::cli
