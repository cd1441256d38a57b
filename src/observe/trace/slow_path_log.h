// slow_path.log: a line of JSON for each time that something ran, or stayed, on a slower path.
#pragma once
#include <string>
#include <vector>

#include "msvm/events/event_stream.h"

namespace msvm::observe {

/// Used by one thread. What can't be written is left out: the trace has it, too.
class SlowPathLog {
 public:
  explicit SlowPathLog(const std::string& folder) : path_(folder + "/slow_path.log") {}
  void write(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events);

 private:
  const std::string path_;
};

}  // namespace msvm::observe
