// The reader of the process's event stream: into files, into the flight recorder, or both.
#pragma once
#include <memory>
#include <string>

#include "msvm/base/status.h"
#include "observe/trace/flight.h"
#include "observe/trace/log_file.h"

namespace msvm::observe {

/// Thread-safe. Its thread runs while there is something to record; a child of a fork records nothing.
class Recorder {
 public:
  static Recorder& process();

  /// The path of the log; of the one that is being written if there is one already.
  Result<std::string> start_trace(const LogOptions& options = {});
  /// Everything up to now is in the file. Its path; empty if there was none.
  std::string stop_trace();
  bool tracing() const;
  /// Everything up to now is in the file, the trace goes on. The path; empty if there is no trace.
  std::string flush();
  /// The log that is written, or was written last; empty if there was none.
  std::string last_log() const;
  /// Why the trace ended by itself (a full disk); empty: it didn't.
  std::string trouble() const;

  Status start_flight(const FlightOptions& options = {});
  void stop_flight();
  bool flying() const;
  /// A file with the last seconds; `reason` stands in its name and as its last event.
  Result<std::string> dump_flight(const std::string& reason);

  /// Something that the program around says, into what is recorded.
  void note(std::string_view kind, std::string_view text);

 private:
  Recorder();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// For whoever makes engines: monitors can turn the trace on and off, and what MSVM_BC_TRACE (1, or a folder) and MSVM_FLIGHT_RECORDER
/// (seconds) ask for starts; empty, 0 or off: nothing.
Status prepare_recording();

}  // namespace msvm::observe
