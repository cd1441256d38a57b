#include "observe/trace/recorder.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "msvm/base/ticks.h"
#include "observe/snapshot/source.h"
#include "observe/trace/crash.h"
#include "observe/trace/output.h"
#include "observe/trace/slow_path_log.h"

namespace msvm::observe {
namespace {

using Period = std::chrono::duration<double, std::milli>;
constexpr Period kLongest(20), kShortest(0.2);  // between two looks; the longest is what a killed process may lose
constexpr double kFull = 0.25;                  // of a ring, that a look should find at most

std::string file_part(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40)) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return out.empty() ? "dump" : out;
}

}  // namespace

struct Recorder::Impl {
  mutable std::mutex mutex;  // of everything
  std::condition_variable wake;
  std::thread thread;
  bool running = false, stop = false;
  std::unique_ptr<LogFile> log;
  std::unique_ptr<SlowPathLog> slow;
  std::unique_ptr<Flight> flight;
  std::string trouble, last_path;
  std::vector<Event> events;
  std::vector<EventStream::Text> texts;

  /// With the mutex held. How full the fullest ring was.
  double round() {
    events.clear();
    texts.clear();
    EventStream& stream = EventStream::process();
    const double full = stream.take(events, texts);
    if (events.empty() && texts.empty()) return 0;
    const uint64_t dropped = stream.dropped();
    if (flight) flight->add(texts, events, dropped);
    if (log) {
      if (Status s = log->write(texts, events, dropped); !s.ok()) {
        trouble = s.message();
        end_log();
      } else {
        slow->write(texts, events);
        last_path = log->path();
      }
    }
    return full;
  }

  void end_log() {
    if (log) last_path = log->path();
    log.reset();
    slow.reset();
    if (!flight) EventStream::process().close();
  }

  void run() {
    std::unique_lock lock(mutex);
    Period period = kShortest;
    while (!stop) {
      const double full = round();
      period = std::clamp(full > 0 ? period * (kFull / full) : kLongest, kShortest, std::min(kLongest, period * 4));
      wake.wait_for(lock, period, [&] { return stop; });
      if (!log && !flight) break;
    }
    running = false;
  }

  /// With the mutex held: what is recorded from here on is told from the beginning of a generation.
  void begin() {
    EventStream& stream = EventStream::process();
    if (stream.on()) stream.begin_generation();
    else stream.open();
    if (running) return;
    if (thread.joinable()) thread.join();
    stop = false;
    running = true;
    thread = std::thread([this] { run(); });
    pthread_setname_np(thread.native_handle(), "msvm trace");
  }
};

// The process may end without a word: what was recorded is written then.
Recorder::Recorder() : impl_(std::make_unique<Impl>()) {
  std::atexit([] {
    Recorder& r = process();
    r.stop_trace();
    r.stop_flight();
    std::unique_lock lock(r.impl_->mutex);
    r.impl_->stop = true;
    lock.unlock();
    r.impl_->wake.notify_all();
    if (r.impl_->thread.joinable()) r.impl_->thread.join();
  });
  // A child has neither the thread nor its work; what the parent's looked like is left alone.
  pthread_atfork(nullptr, nullptr, [] {
    dump_on_crash(nullptr, "");
    (void)process().impl_.release();
    process().impl_ = std::make_unique<Impl>();
  });
}

Recorder& Recorder::process() {
  static Recorder& recorder = *new Recorder;
  return recorder;
}

Result<std::string> Recorder::start_trace(const LogOptions& options) {
  std::lock_guard lock(impl_->mutex);
  if (impl_->log) return impl_->log->path();
  MSVM_ASSIGN_OR_RETURN(impl_->log, LogFile::create(options));
  impl_->slow = std::make_unique<SlowPathLog>(options.folder);
  impl_->trouble.clear();
  impl_->last_path = impl_->log->path();
  impl_->begin();
  return impl_->log->path();
}

std::string Recorder::stop_trace() {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->log) return "";
  if (!impl_->flight) EventStream::process().close();
  impl_->round();
  impl_->end_log();
  return impl_->last_path;
}

bool Recorder::tracing() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->log != nullptr;
}

std::string Recorder::flush() {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->log) return "";
  impl_->round();
  return impl_->last_path;
}

std::string Recorder::last_log() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->last_path;
}

std::string Recorder::trouble() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->trouble;
}

Status Recorder::start_flight(const FlightOptions& options) {
  if (!(options.seconds > 0 && options.seconds <= 3600)) return invalid_argument(fmt::format("flight recorder: seconds is above 0 and at most 3600, found {}", options.seconds));
  std::lock_guard lock(impl_->mutex);
  dump_on_crash(nullptr, "");
  impl_->flight = std::make_unique<Flight>(options);
  if (options.on_crash) {
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error) {
      impl_->flight.reset();
      return {StatusCode::kIo, fmt::format("{}: the folder of dumps can't be made: {}", options.folder, error.message())};
    }
    dump_on_crash(impl_->flight.get(), fmt::format("{}/crash-{}.bclog", std::filesystem::absolute(options.folder).string(), getpid()));
  }
  impl_->begin();
  return {};
}

void Recorder::stop_flight() {
  std::lock_guard lock(impl_->mutex);
  dump_on_crash(nullptr, "");
  impl_->flight.reset();
  if (!impl_->log) EventStream::process().close();
}

bool Recorder::flying() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->flight != nullptr;
}

Result<std::string> Recorder::dump_flight(const std::string& reason) {
  note("dump", reason);
  std::lock_guard lock(impl_->mutex);
  if (!impl_->flight) return invalid_argument("there is no flight recorder: start it before what it should record");
  impl_->round();
  MSVM_ASSIGN_OR_RETURN(const std::string stem, log_stem(impl_->flight->options().folder));
  MSVM_ASSIGN_OR_RETURN(const NewFile file, create_log(stem + "-" + file_part(reason)));
  const bool written = impl_->flight->write_to(file.fd, false);
  const int why = errno;
  ::close(file.fd);
  if (!written) return Status(StatusCode::kIo, fmt::format("{}: {}", file.path, std::strerror(why)));
  return file.path;
}

void Recorder::note(std::string_view kind, std::string_view text) {
  Event e;
  e.kind = EventKind::kNote;
  e.begin = e.end = ticks();
  EventStream::process().emit(e, kind, text);
}

Status prepare_recording() {
  set_trace_control({.set =
                         [](bool on) {
                           if (on) return Recorder::process().start_trace().status();
                           (void)Recorder::process().stop_trace();
                           return Status();
                         },
                     .on = [] { return Recorder::process().tracing(); }});
  auto variable = [](const char* name) -> std::string {
    const char* v = std::getenv(name);
    const std::string text = v ? v : "";
    return text == "0" || text == "off" ? "" : text;
  };
  if (const std::string trace = variable("MSVM_BC_TRACE"); !trace.empty()) {
    LogOptions options;
    if (trace != "1" && trace != "on") options.folder = trace;
    auto started = Recorder::process().start_trace(options);
    if (!started.ok()) return started.status().with_context("MSVM_BC_TRACE: ");
  }
  if (const std::string seconds = variable("MSVM_FLIGHT_RECORDER"); !seconds.empty()) {
    char* end = nullptr;
    FlightOptions options;
    options.seconds = std::strtod(seconds.c_str(), &end);
    if (*end) return invalid_argument("MSVM_FLIGHT_RECORDER: expected seconds, found " + seconds);
    MSVM_RETURN_IF_ERROR(Recorder::process().start_flight(options).with_context("MSVM_FLIGHT_RECORDER: "));
  }
  return {};
}

}  // namespace msvm::observe
