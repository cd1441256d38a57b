#include "observe/dap/client.h"

#include <fmt/format.h>

#include <future>

namespace msvm::observe::dap {
namespace {

Json failed(int64_t seq, const std::string& command, const char* why) {
  return {{"seq", 0}, {"type", "response"}, {"request_seq", seq}, {"success", false}, {"command", command}, {"message", why}};
}

}  // namespace

Status status_of(const Json& response) {
  const Arguments r(response);
  if (const auto good = r.flag("success", false); good.ok() && *good) return {};
  const Json body = response.value("body", Json::object());
  const Json error = body.is_object() ? body.value("error", Json::object()) : Json::object();
  const auto id = Arguments(error).integer("id", 1, static_cast<int64_t>(StatusCode::kInternal));
  const std::string message = text_in(response, "message");
  return {id.ok() ? static_cast<StatusCode>(*id) : StatusCode::kInvalidArgument, message.empty() ? text_in(response, "command") + " failed" : message};
}

void Client::request(std::string command, Json arguments, OnMessage then) {
  int64_t seq = 0;
  bool gone = false;
  {
    std::lock_guard lock(mutex_);
    seq = ++last_;
    gone = closed_;
    if (!gone) waiting_[seq] = {command, then};
  }
  if (gone) return then(failed(seq, command, "the debuggee is gone"));
  to_.send({{"seq", seq}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}});
}

Result<Json> Client::call(std::string command, Json arguments, std::chrono::milliseconds timeout) {
  const auto answer = std::make_shared<std::promise<Json>>();
  auto coming = answer->get_future();
  request(command, std::move(arguments), [answer](const Json& response) { answer->set_value(response); });
  if (coming.wait_for(timeout) != std::future_status::ready) return Status(StatusCode::kIo, fmt::format("{}: no answer within {} ms", command, timeout.count()));
  const Json response = coming.get();
  MSVM_RETURN_IF_ERROR(status_of(response));
  return response.contains("body") ? response["body"] : Json::object();
}

void Client::receive(const Json& message) {
  const Arguments m(message);
  const auto type = m.text("type", "");
  if (!type.ok() || *type != "response") {
    if (other_) other_(message);
    return;
  }
  const auto seq = m.integer("request_seq", 0, std::numeric_limits<int64_t>::max());
  OnMessage then;
  {
    std::lock_guard lock(mutex_);
    const auto at = seq.ok() ? waiting_.find(*seq) : waiting_.end();
    if (at == waiting_.end()) return;
    then = std::move(at->second.then);
    waiting_.erase(at);
  }
  then(message);
}

void Client::closed() {
  std::map<int64_t, Waiting> all;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    all.swap(waiting_);
  }
  for (const auto& [seq, w] : all) w.then(failed(seq, w.command, "the debuggee is gone"));
}

}  // namespace msvm::observe::dap
