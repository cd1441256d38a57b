#include "observe/dap/events.h"

namespace msvm::observe::dap {
namespace {

Json make_event(const std::string& name, Json body) { return {{"type", "event"}, {"event", name}, {"body", std::move(body)}}; }

}  // namespace

void Events::send(Json message) {
  message["seq"] = ++seq_;
  client_.send(message);
}

void Events::request_begins() {
  std::lock_guard lock(mutex_);
  in_request_ = true;
}

void Events::respond(Json response) {
  std::lock_guard lock(mutex_);
  send(std::move(response));
  in_request_ = false;
  for (Json& e : waiting_) send(std::move(e));
  waiting_.clear();
}

void Events::event(const std::string& name, Json body) {
  std::lock_guard lock(mutex_);
  Json e = make_event(name, std::move(body));
  if (in_request_) waiting_.push_back(std::move(e));
  else send(std::move(e));
}

void Events::event_now(const std::string& name, Json body) {
  std::lock_guard lock(mutex_);
  send(make_event(name, std::move(body)));
}

}  // namespace msvm::observe::dap
