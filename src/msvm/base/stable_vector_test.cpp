#include "msvm/base/stable_vector.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace msvm {
namespace {

TEST(StableVector, ElementsStayWhereTheyAre) {
  StableVector<std::string> v;
  std::vector<const std::string*> places;
  for (int i = 0; i < 1000; ++i) {
    v.push_back(std::to_string(i));
    places.push_back(&v[static_cast<size_t>(i)]);
  }
  ASSERT_EQ(v.size(), 1000u);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(&v[i], places[i]);
    EXPECT_EQ(v[i], std::to_string(i));
  }
}

TEST(StableVector, ReadersSeeWhatExists) {
  StableVector<size_t> v;
  std::atomic<bool> wrong{false};
  std::thread reader([&] {
    for (size_t n = 0; n < 20000; n = v.size())
      for (size_t i = 0; i < n; i += 97)
        if (v[i] != i) wrong = true;
  });
  for (size_t i = 0; i < 20000; ++i) v.push_back(i);
  reader.join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace msvm
