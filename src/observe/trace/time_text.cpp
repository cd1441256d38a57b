#include "observe/trace/time_text.h"

#include <fmt/chrono.h>

#include <ctime>

namespace msvm::observe {

std::string time_text(int64_t wall_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = wall_ns / kSecond, rest = wall_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t t = seconds;
  std::tm utc{};
  gmtime_r(&t, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", utc, rest / 1000);
}

}  // namespace msvm::observe
