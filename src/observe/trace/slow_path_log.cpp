#include "observe/trace/slow_path_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "msvm/base/file.h"
#include "msvm/base/ticks.h"
#include "msvm/base/utc_text.h"

namespace msvm::observe {

void SlowPathLog::write(const std::vector<EventStream::Text>& texts, const std::vector<Event>& events) {
  std::string lines;
  for (const Event& e : events) {
    if (e.kind != EventKind::kSlowPath) continue;
    const auto text = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.id == e.detail; });
    if (text == texts.end() || text->text.empty()) continue;
    const auto ago = std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(ticks() - e.begin) * nanoseconds_per_tick()));
    const auto wall = std::chrono::system_clock::now().time_since_epoch() - ago;
    lines += "{\"time\": \"" + utc_text(std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count(), 6) + "\", " + text->text.substr(1) + "\n";
  }
  if (lines.empty()) return;
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  (void)write_all(fd, std::as_bytes(std::span(lines)));
  ::close(fd);
}

}  // namespace msvm::observe
