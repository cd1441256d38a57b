#include "msvm/base/diagnostic.h"

#include <gtest/gtest.h>

#include "msvm/base/json_text.h"

namespace msvm {
namespace {

Diagnostic resize_finding() {
  Diagnostic d{.code = DiagCode::kShapeConstraint};
  d.place = {.file = "model.py", .line = 31, .instruction = 42, .offset = 0x2a, .mnemonic = "TENSOR_CREATE"};
  d.expected = "[N, C, h, w]";
  d.found = "op Resize at instruction 58 (offset 0x8e, model.py:40) requires [N, C, 2*h, 2*w]";
  d.message = "Missing SHAPE_CALC from h to 2*h";
  d.fix = "insert before instruction 55:  R4 = SHAPE_CALC mul R3, 2     (R3 holds h)";
  return d;
}

TEST(Diagnostic, ShapeViolationReadsAsDocumented) {
  EXPECT_EQ(format_diagnostic(resize_finding()),
            "Error at instruction 42 (TENSOR_CREATE), offset 0x2a, model.py:31 [MSV0401]\n"
            "  Expected shape: [N, C, h, w]\n"
            "  But op Resize at instruction 58 (offset 0x8e, model.py:40) requires [N, C, 2*h, 2*w]\n"
            "  Missing SHAPE_CALC from h to 2*h\n"
            "  fix: insert before instruction 55:  R4 = SHAPE_CALC mul R3, 2     (R3 holds h)");
  EXPECT_EQ(diagnostic_log_line(resize_finding()), "BC Verifier: Shape constraint violation at offset 0x2a");
}

TEST(Diagnostic, PlacesWithPartsMissing) {
  Diagnostic d{.code = DiagCode::kSyntax};
  EXPECT_EQ(format_diagnostic(d), "Error [MSV0701]\n  syntax error");
  d.message = "expected a register";
  d.place = {.file = "a.msasm", .line = 3, .column = 7};
  EXPECT_EQ(format_diagnostic(d), "Error at a.msasm:3:7 [MSV0701]\n  expected a register");
  d.place = {.line = 3, .function = "@forward"};
  EXPECT_EQ(format_diagnostic(d), "Error at line 3, in @forward [MSV0701]\n  expected a register");
  d.place = {.function = "@forward"};
  EXPECT_EQ(diagnostic_log_line(d), "BC Verifier: Syntax error at @forward");
}

TEST(Diagnostic, JsonLeavesOutWhatIsUnknown) {
  EXPECT_EQ(diagnostics_to_json({}), "[]");
  Diagnostic d{.code = DiagCode::kLeak, .message = "R3 \"x\"\nleaks"};
  d.place.offset = 0;
  EXPECT_EQ(diagnostics_to_json({d}),
            R"([{"code": "MSV0305", "title": "reference neither freed nor moved on every path", "message": "R3 \"x\"\nleaks", )"
            R"("place": {"offset": 0}}])");
  EXPECT_EQ(format_diagnostics({d, d}), format_diagnostic(d) + "\n\n" + format_diagnostic(d));
}

TEST(Diagnostic, NamesComeFromTheTable) {
  EXPECT_EQ(diag_name(DiagCode::kShapeCycle), "kShapeCycle");
  EXPECT_EQ(diag_label(DiagCode::kBadFile), "MSV0101");
  EXPECT_EQ(diag_title(static_cast<DiagCode>(9999)), "unknown finding");
}

TEST(JsonText, EscapesAndRepairs) {
  auto json = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(json("a\"\\\x01\n"), R"("a\"\\\u0001\n")");
  EXPECT_EQ(json("ü€𝄞"), "\"ü€𝄞\"");
  EXPECT_EQ(json("a\xff" "b\xc3"), R"("a\ufffdb\ufffd")");
  EXPECT_EQ(json("\xc0\x80"), R"("\ufffd\ufffd")") << "overlong";
  EXPECT_EQ(json("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "surrogate";
}

}  // namespace
}  // namespace msvm
