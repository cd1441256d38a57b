#include "msvm/jit/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace msvm::jit {
namespace {

constexpr const char* kPolicy = R"({
 "format": "msvm shape policy",
 "version": 1,
 "program": "p",
 "regions": [
  {
   "function": "main",
   "region": 2,
   "symbols": ["N", "S"],
   "boundaries": {"S": [8, 32, 128]},
   "boxes": [{"box": {"N": 1, "S": [9, 32]}, "weight": 120.5, "saving": 0.06}],
   "sizes": [{"values": [1, 17], "weight": 33}]
  }
 ]
})";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kPolicy;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

std::string error_of(const std::string& text) {
  auto p = parse_shape_policy(text, "file.json");
  return p.ok() ? "" : p.status().message();
}

TEST(PolicyFile, RoundTrip) {
  auto p = parse_shape_policy(kPolicy, "file.json");
  ASSERT_TRUE(p.ok()) << p.status().message();
  const RegionPolicy* r = p->find("main", 2);
  ASSERT_TRUE(r);
  EXPECT_FALSE(p->find("main", 0));
  EXPECT_EQ(r->boundaries.at("S"), (std::vector<int64_t>{8, 32, 128}));
  ASSERT_EQ(r->boxes.size(), 1u);
  EXPECT_EQ(r->boxes[0].box, (Box{{Extent::value(1), {9, 32}}}));
  EXPECT_EQ(r->boxes[0].weight, 120.5);
  EXPECT_EQ(r->sizes[0].values, (std::vector<int64_t>{1, 17}));
  auto again = parse_shape_policy(to_json(*p), "again");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(to_json(*again), to_json(*p));
}

TEST(PolicyFile, ErrorsNamePlaceExpectedAndFound) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"\"version\": 1", "\"version\": 2", "version: expected 1, found 2"},
      {"msvm shape policy", "msvm bundle", "format: expected \"msvm shape policy\", found \"msvm bundle\""},
      {"\"region\": 2", "\"region\": -1", "regions[0].region: expected a whole number from 0, found -1"},
      {"\"region\": 2", "\"region\": 18446744073709551615", "regions[0].region: expected a whole number from 0, found 18446744073709551615"},
      {"\"symbols\": [\"N\", \"S\"]", "\"symbols\": \"N\"", "regions[0].symbols: expected an array, found string"},
      {"[8, 32, 128]", "[8, 8]", "regions[0].boundaries.S[1]: expected more than 8, found 8"},
      {"{\"S\": [8, 32, 128]}", "{\"T\": [8]}", "regions[0].boundaries.T: expected one of the region's symbols, found \"T\""},
      {"[9, 32]", "[9, 8]", "regions[0].boxes[0].box.S[1]: expected a whole number from 9, found 8"},
      {"[9, 32]", "[9]", "regions[0].boxes[0].box.S: expected a number, or the first and the last of a range, found [9]"},
      {"{\"N\": 1, \"S\": [9, 32]}", "{}", "regions[0].boxes[0].box: expected a symbol that is fixed or bounded, found none"},
      {"120.5", "\"much\"", "regions[0].boxes[0].weight: expected a number from 0 to 1e+12, found \"much\""},
      {", \"saving\": 0.06", "", "regions[0].boxes[0]: expected the key \"saving\", found none"},
      {"\"saving\"", "\"more\": 1, \"saving\"", "regions[0].boxes[0]: expected known keys only, found \"more\""},
      {"[1, 17]", "[1]", "regions[0].sizes[0].values: expected 2 numbers, one for each symbol, found 1"},
      {"\"weight\": 33", "\"weight\": -1", "regions[0].sizes[0].weight: expected a number from 0 to 1e+12, found -1"},
  };
  for (const auto& [what, instead, message] : cases) EXPECT_EQ(error_of(with(what, instead)), std::string("shape policy file.json: ") + message);
  EXPECT_EQ(error_of("{"), "shape policy file.json: the file: expected JSON, found something else");
  EXPECT_EQ(error_of("[]"), "shape policy file.json: the file: expected an object, found array");
  EXPECT_NE(error_of(std::string(100000, '[')), "");
}

TEST(PolicyFile, EveryTruncationIsAnError) {
  const std::string text = kPolicy;
  for (size_t n = 0; n < text.size(); ++n) EXPECT_NE(error_of(text.substr(0, n)), "") << n;
}

TEST(PolicyFile, TextOrPath) {
  EXPECT_TRUE(load_shape_policy(std::string("\n ") + kPolicy).ok());
  const std::string path = ::testing::TempDir() + "policy.json";
  std::ofstream(path) << kPolicy;
  EXPECT_TRUE(load_shape_policy(path).ok());
  auto none = load_shape_policy(path + ".none");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().message(), "shape policy " + path + ".none: the file can't be read");
}

}  // namespace
}  // namespace msvm::jit
