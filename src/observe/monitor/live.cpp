#include "observe/monitor/live.h"

#include <fmt/format.h>

#include <algorithm>

#include "observe/monitor/handle.h"

namespace msvm::observe {
namespace {

constexpr auto kFresh = std::chrono::milliseconds(200);  // who joins in a crowd shares the tick

/// A line end would end the field.
void put_on_one_line(std::string& json) {
  std::replace(json.begin(), json.end(), '\n', ' ');
  std::replace(json.begin(), json.end(), '\r', ' ');
}

}  // namespace

Live::Listener::Listener(std::shared_ptr<Live> live, Role role) : live_(std::move(live)), role_(role), wake_(live_->io_) {
  wake_.expires_at(asio::steady_timer::time_point::max());
  place_ = live_->listeners_.insert(live_->listeners_.end(), this);
  if (std::chrono::steady_clock::now() - live_->made_ > std::min<std::chrono::milliseconds>(kFresh, live_->tick_)) live_->make();
  live_->push(*this);
  if (live_->runs_) return;
  live_->runs_ = true;
  asio::co_spawn(live_->io_, run(live_), asio::detached);
}

Live::Listener::~Listener() { live_->listeners_.erase(place_); }

asio::awaitable<Live::Message> Live::Listener::next() {
  while (queue_.empty() && !dropped_) co_await wake_.async_wait(kAwait);
  if (dropped_) co_return nullptr;
  Message m = std::move(queue_.front());
  queue_.pop_front();
  co_return m;
}

asio::awaitable<void> Live::run(std::shared_ptr<Live> live) {
  auto next = std::chrono::steady_clock::now();
  for (;;) {
    next = std::max(next + live->tick_, std::chrono::steady_clock::now());  // a tick that was late isn't made up for
    live->timer_.expires_at(next);
    co_await live->timer_.async_wait(kAwait);
    if (live->listeners_.empty()) break;
    live->make();
    for (Listener* l : live->listeners_) live->push(*l);
  }
  live->runs_ = false;
}

void Live::make() {
  ++number_;
  state_ = source_.state();
  put_on_one_line(state_);
  point_ = source_.newest_point();
  put_on_one_line(point_);
  messages_ = {};
  made_ = std::chrono::steady_clock::now();
}

Live::Message Live::message(Role role) {
  Message& m = messages_[role == Role::kAdmin];
  if (!m) {
    std::string text = fmt::format("id: {}\nevent: state\ndata: {}\n\n", number_, with_role(state_, role));
    if (!point_.empty()) text += fmt::format("event: history\ndata: {}\n\n", point_);
    m = std::make_shared<const std::string>(std::move(text));
  }
  return m;
}

void Live::push(Listener& l) {
  if (l.dropped_) return;
  if (l.queue_.size() >= kMaxQueue) {
    l.dropped_ = true;
    l.queue_.clear();
    if (l.on_drop) l.on_drop();
  } else {
    l.queue_.push_back(message(l.role_));
  }
  l.wake_.cancel();
}

}  // namespace msvm::observe
