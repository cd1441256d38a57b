#include "msvm/base/utc_text.h"

#include <fmt/chrono.h>

#include <ctime>

namespace msvm {

std::string utc_text(int64_t wall_ns, int digits) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = wall_ns / kSecond, rest = wall_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t t = seconds;
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", utc);
  if (digits > 0) text += fmt::format(".{:09}", rest).substr(0, static_cast<size_t>(digits) + 1);
  return text + "Z";
}

}  // namespace msvm
