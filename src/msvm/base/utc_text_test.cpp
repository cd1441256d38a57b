#include "msvm/base/utc_text.h"

#include <gtest/gtest.h>

namespace msvm {
namespace {

TEST(UtcText, BeforeAndAfter1970) {
  EXPECT_EQ(utc_text(0, 6), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(utc_text(-1'000, 6), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(utc_text(1'700'000'000'123'456'789, 6), "2023-11-14T22:13:20.123456Z");
}

TEST(UtcText, IsCutAndNotRounded) {
  EXPECT_EQ(utc_text(1'700'000'000'999'999'999, 3), "2023-11-14T22:13:20.999Z");
  EXPECT_EQ(utc_text(1'700'000'000'999'999'999, 0), "2023-11-14T22:13:20Z");
}

}  // namespace
}  // namespace msvm
