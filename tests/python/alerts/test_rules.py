"""The grammar of rules, and how conditions hold: also where there is no value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msvm._vm.alerts.grammar import duration, parse
from msvm._vm.alerts.metrics import METRICS
from msvm._vm.alerts.rule import Comparison, Joined

import msvm as ms

LOW = Comparison("hit_rate", "<", 0.85)


@pytest.mark.parametrize(
    ("text", "condition", "seconds"),
    [
        ("hit_rate < 0.85", LOW, None),
        ("hit_rate<85% for 60s", LOW, 60.0),
        ("  (hit_rate < .85)   for 1.5 m", LOW, 90.0),
        ("in_use >= 1.5GiB", Comparison("in_use", ">=", 1.5 * 2**30), None),
        ("mean_ms > 2 s for 500 ms", Comparison("mean_ms", ">", 2000.0), 0.5),
        ("queued == 0", Comparison("queued", "==", 0), None),
        (
            "hit_rate < 0.85 and runs > 9 or failed_runs != 0 for 2h",
            Joined("or", (Joined("and", (LOW, Comparison("runs", ">", 9))), Comparison("failed_runs", "!=", 0))),
            7200.0,
        ),
        (
            "hit_rate < 0.85 and (runs > 9 or queued > 1e2)",
            Joined("and", (LOW, Joined("or", (Comparison("runs", ">", 9), Comparison("queued", ">", 100))))),
            None,
        ),
    ],
)
def test_rules(text, condition, seconds):
    rule = parse(text)
    assert (rule.condition, rule.seconds, rule.text) == (condition, seconds, text.strip())


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "expected a metric or (, found the end"),
        ("hitrate < 0.85", 1, "there is no metric hitrate; is hit_rate meant? Metrics: hit_rate, "),
        ("zzz < 1", 1, "there is no metric zzz Metrics: hit_rate"),
        ("hit_rate", 9, "expected one of < <= > >= == !=, found the end"),
        ("hit_rate = 1", 10, "there is no '='"),
        ("hit_rate <", 11, "expected a number (hit_rate is 0 to 1), found the end"),
        ("hit_rate < low", 12, "expected a number (hit_rate is 0 to 1), found 'low'"),
        ("hit_rate < 85", 12, "hit_rate is 0 to 1"),
        ("hit_rate < 0.8 s", 16, "expected %, and, or, for, or the end, found 's'"),
        ("runs < -1", 8, "runs is neither below 0 nor endless"),
        ("runs < 1e999", 8, "nor endless"),
        ("in_use > 3 ms", 12, "expected B, kB, MB, GB, KiB, MiB, GiB, and, or, for, or the end, found 'ms'"),
        ("queued > 3 for", 15, "expected a time such as 60 s or 5 m, found the end"),
        ("queued > 3 for 60", 18, "expected one of ms, s, m, min, h, found the end"),
        ("queued > 3 for 9000 h", 16, "at most a week"),
        ("queued > 3 for 60 s s", 21, "expected the end, found 's'"),
        ("(queued > 3", 12, "expected and, or, or ), found the end"),
        ("queued > 3)", 11, "expected and, or, for, or the end, found ')'"),
        ("queued > 3 and", 15, "expected a metric or (, found the end"),
        ("queued > 3 or or", 15, "expected a metric or (, found 'or'"),
        ("queued > 3 & runs > 1", 12, "there is no '&' in rules; operators are"),
        ("(" * 60 + "runs > 1" + ")" * 60, 52, "at most 50 brackets"),
    ],
)
def test_errors_name_the_column_and_what_is_possible(text, column, says):
    with pytest.raises(ms.InputError) as e:
        parse(text)
    assert f"alert rule: column {column}: " in str(e.value) and says in str(e.value)
    assert str(e.value).splitlines()[-1] == "  " + " " * (column - 1) + "^"


@pytest.mark.parametrize("text", [3, None, b"hit_rate < 1", "hit_rate < 0.5\nfor 1 s", "x" * 5000])
def test_rules_are_one_line_of_text(text):
    with pytest.raises(ms.InputError, match="alert rule: expected"):
        parse(text)


_PARTS = st.sampled_from([*"0123456789.<>=!()%&# ", "hit_rate", "queued", " for ", " and ", " or ", "s", "MB"])


@given(st.lists(_PARTS, max_size=40).map("".join))
def test_any_text_is_a_rule_or_an_error(text):
    try:
        rule = parse(text)
    except ms.InputError as e:
        assert "column" in str(e)
    else:
        assert rule.metrics() and set(rule.metrics()) <= set(METRICS)


HOLDS = [  # hit_rate, runs: and, or
    (0.5, 10, True, True),
    (0.9, 10, False, True),
    (0.9, 1, False, False),
    (None, 10, None, True),
    (None, 1, False, None),
    (0.5, None, None, True),
    (0.9, None, False, None),
    (None, None, None, None),
]


@pytest.mark.parametrize(("hit_rate", "runs", "both", "either"), HOLDS)
def test_without_a_value_a_condition_is_open_unless_the_rest_decides(hit_rate, runs, both, either):
    values = {"hit_rate": hit_rate, "runs": runs}
    assert parse("hit_rate < 0.85 and runs > 5").condition.holds(values) is both
    assert parse("hit_rate < 0.85 or runs > 5").condition.holds(values) is either


def test_times():
    assert [duration(t, "for_") for t in (0, 2.5, "60s", "2 m", "1.5h")] == [0, 2.5, 60, 120, 5400]
    for wrong in ("60", "s", "60 s x", -1, float("nan"), None, True, "9999h"):
        with pytest.raises(ms.InputError, match="for_"):
            duration(wrong, "for_")
