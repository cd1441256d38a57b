#include "observe/dap/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msvm::observe::dap {
namespace {

using testing::HasSubstr;

Json json(std::string_view text) { return *parse_json(text); }
template <class T> std::string error(const Result<T>& r) { return r.ok() ? "" : r.status().message(); }

TEST(Json, WhatIsntIsAnError) {
  for (const char* text : {"", "{", "nul", "{\"a\":}", "\x01", "{\"a\":1}x", "[1,]", "\"\xff\""}) EXPECT_THAT(error(parse_json(text)), HasSubstr("expected JSON")) << text;
  EXPECT_THAT(error(parse_json(std::string(1'000'000, '['))), HasSubstr("nested more than 64 deep"));
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_TRUE(parse_json("\"" + std::string(1000, '[') + "\"").ok());  // quoted brackets don't nest
  EXPECT_TRUE(parse_json(R"(["\"[[[", "\\"])").ok());
}

TEST(Json, WhatGoesOutIsUtf8) { EXPECT_EQ(dump(Json("a\xff")), "\"a\xef\xbf\xbd\""); }

TEST(Arguments, Kinds) {
  const Json j = json(R"({"text": "t", "n": 3, "f": 3.0, "half": 3.5, "big": 1e300, "huge": 18446744073709551615, "yes": true, "none": null, "list": [1], "texts": ["a", "b"], "object": {"x": 1}})");
  const Arguments a(j);
  EXPECT_EQ(*a.text("text"), "t");
  EXPECT_EQ(*a.text("none", "absent"), "absent");
  EXPECT_EQ(*a.integer("n", 0, 10), 3);
  EXPECT_EQ(*a.integer("f", 0, 10), 3);
  EXPECT_EQ(*a.integer("nowhere", 0, 10, 7), 7);
  EXPECT_TRUE(*a.flag("yes", false));
  EXPECT_EQ(a.texts("texts")->size(), 2u);
  EXPECT_EQ(error(a.text("n")), "n: expected a string, found the number 3");
  EXPECT_EQ(error(a.text("nowhere")), "nowhere: expected a string, found nothing");
  EXPECT_EQ(error(a.integer("n", 4, 10)), "n: expected an integer of 4 to 10, found the number 3");
  EXPECT_EQ(error(a.integer("n", 4, INT64_MAX)), "n: expected an integer of 4 or more, found the number 3");
  for (const char* name : {"half", "big", "huge", "text", "yes", "list", "object"}) EXPECT_THAT(error(a.integer(name, INT64_MIN, INT64_MAX)), HasSubstr("expected an integer, found")) << name;
  EXPECT_EQ(error(a.flag("text", false)), "text: expected true or false, found \"t\"");
  EXPECT_EQ(error(a.texts("list")), "list[0]: expected a string, found the number 1");
  EXPECT_EQ(error(a.texts("object")), "object: expected a list of strings, found an object");
  EXPECT_EQ(error(a.objects("list")), "list[0]: expected an object, found the number 1");
  EXPECT_EQ(error(a.object("list")), "list: expected an object, found a list of 1");
  EXPECT_EQ(error(a.text_map("object")), "object.x: expected a string, found the number 1");
  const auto inner = a.object("object");
  ASSERT_TRUE(inner.ok());
  EXPECT_EQ(error(inner->text("x")), "object.x: expected a string, found the number 1");
  EXPECT_EQ(error(Arguments(json("[1]")).text("x")), "x: expected a string, found nothing");
}

TEST(Arguments, Addresses) {
  EXPECT_EQ(parse_address("0x1a"), 26u);
  EXPECT_EQ(parse_address("26"), 26u);
  EXPECT_EQ(parse_address("0xffffffffffffffff"), UINT64_MAX);
  for (const char* text : {"", "0x", "0xg", "-1", "1 ", " 1", "0x10000000000000000", "1.5", "0x0x1"}) EXPECT_FALSE(parse_address(text)) << text;
  EXPECT_EQ(hex(26), "0x1a");
}

TEST(Json, FoundThingsAreShort) {
  EXPECT_EQ(described(Json(std::string(1000, 'a'))), "\"" + std::string(60, 'a') + "...\"");
  EXPECT_EQ(described(Json("a\nb")), "\"a\\x0ab\"");
}

}  // namespace
}  // namespace msvm::observe::dap
