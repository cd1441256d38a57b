#include "observe/dap/merge/state.h"

#include <fmt/format.h>
#include <unistd.h>

namespace msvm::observe::dap::merge {

bool succeeded(const Json& answer) {
  const auto good = Arguments(answer).flag("success", false);
  return good.ok() && *good;
}

std::string message_of(const Json& answer) {
  const std::string message = text_in(answer, "message");
  return message.empty() ? "it failed, and didn't say why" : message;
}

Json body_of(const Json& answer) {
  const auto body = answer.find("body");
  return body != answer.end() && body->is_object() ? *body : Json::object();
}

State::~State() {
  loop.stop();
  process.reset();
  acceptor.reset();
  for (Server& s : servers) s.upstream.reset();
  for (const int fd : {their_socket, early_socket})
    if (fd >= 0) ::close(fd);
}

void State::send(Json message) {
  message["seq"] = ++seq;
  client.send(message);
}

void State::event(const char* name, Json body) { send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }

void State::output(const char* category, std::string text) { event("output", {{"category", category}, {"output", std::move(text)}}); }

void State::respond(const Request& request, Json body) {
  send({{"type", "response"}, {"request_seq", request.seq}, {"command", request.command}, {"success", true}, {"body", std::move(body)}});
}

void State::fail(const Request& request, const std::string& message, StatusCode code) {
  send({{"type", "response"}, {"request_seq", request.seq}, {"command", request.command}, {"success", false}, {"message", message},
        {"body", {{"error", {{"id", static_cast<int>(code)}, {"format", "{text}"}, {"variables", {{"text", message}}}, {"showUser", false}}}}}});
}

void State::relay(const Request& request, Side side, const Json& answer) {
  Json out = answer;
  out["request_seq"] = request.seq;
  if (const auto body = out.find("body"); body != out.end() && body->is_object()) {
    ids_out(side, *body);
    if (body->contains("threadId") && request.arguments.contains("threadId")) (*body)["threadId"] = request.arguments["threadId"];
  }
  send(std::move(out));
}

void State::ask(Side side, const std::string& command, Json arguments, Upstream::OnMessage then) {
  Server& server = of(side);
  if (!server.upstream) return;
  server.upstream->request(command, std::move(arguments), then ? std::move(then) : [](const Json&) {});
}

void State::forward(Side side, const Request& request) {
  Server& server = of(side);
  if (!server.open() || !server.ready) {
    if (process_ended) return fail(request, fmt::format("{}: the program has ended", request.command));
    if (side == Side::kBytecode) return fail(request, fmt::format("{}: the program hasn't imported msvm", request.command));
    return fail(request, fmt::format("{}: needs debugpy, which {}", request.command, python && python->debugpy ? "hasn't started yet" : "this session doesn't have"));
  }
  Json arguments = request.arguments;
  ids_in(arguments);
  if (const auto id = arguments.find("threadId"); id != arguments.end() && id->is_number_integer()) {
    const Thread* t = threads.find(id->get<int64_t>());
    if (t && t->on(side) < 0) return fail(request, fmt::format("{}: thread {} hasn't run a program", request.command, t->id));
    if (t) *id = t->on(side);
  }
  ask(side, request.command, std::move(arguments), [this, request, side](const Json& answer) { relay(request, side, answer); });
}

}  // namespace msvm::observe::dap::merge
