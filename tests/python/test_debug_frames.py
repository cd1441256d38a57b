"""Python frames of a thread that waits, as a debugger asks for them."""

import threading
from collections import namedtuple

import numpy as np
import pytest
from msvm._vm.frames import MAX_CHILDREN, MAX_TEXT, Frames, shown, thread_name

Pair = namedtuple("Pair", "left right")


class Odd:
    def __repr__(self):
        raise KeyError("no text")


class Holder:
    def __init__(self):
        self.inner = [1, 2]


@pytest.fixture
def waiting():
    """A thread that waits in C, with variables: (its number, Frames)."""
    go, begun = threading.Event(), threading.Event()

    def outer(number):
        text = "x" * (MAX_TEXT * 3)
        odd, pair, holder = Odd(), Pair(1, (2, 3)), Holder()
        table = {"a": [1, 2, {"b": 3}], 7: None}
        array = np.zeros((2, 3), np.float32)

        def inner(step):
            begun.set()
            go.wait(60)
            return step + number + len(text), odd, pair, holder, table, array

        inner(2)
        return text, odd, pair, holder, table, array

    thread = threading.Thread(target=outer, args=(40,), name="waits")
    thread.start()
    begun.wait(60)
    yield thread.ident, Frames()
    go.set()
    thread.join()


def frame(waiting, name):
    ident, frames = waiting
    return next(row for row in frames.frames(ident) if row[1] == name)


def variables(frames, number):
    return {name: (value, kind, children) for name, value, kind, children in frames.variables(number)}


def test_frames_are_innermost_first(waiting):
    ident, frames = waiting
    rows = frames.frames(ident)
    names = [row[1] for row in rows]
    assert names.index("inner") < names.index("outer")
    assert all(file.endswith(".py") and line > 0 for _, _, file, line in rows)
    assert thread_name(ident) == "waits" and thread_name(1) == ""


def test_variables(waiting):
    frames = waiting[1]
    found = variables(frames, frame(waiting, "outer")[0])
    assert found["number"] == ("40", "int", 0)
    assert len(found["text"][0]) <= MAX_TEXT + 10
    assert found["odd"][0] == "<Odd, whose repr raised KeyError>"
    assert found["array"][0].startswith("float32[2, 3] array(")
    table = variables(frames, found["table"][2])
    assert table["7"] == ("None", "NoneType", 0)
    assert variables(frames, variables(frames, table["'a'"][2])["[2]"][2]) == {"'b'": ("3", "int", 0)}
    assert variables(frames, found["pair"][2]).keys() == {"left", "right"}
    assert variables(frames, found["holder"][2])["inner"][:2] == ("[1, 2]", "list")


def test_many_children_are_cut():
    frames = Frames()
    number = frames._number(1, list(range(MAX_CHILDREN * 3)))
    assert len(frames.variables(number)) == MAX_CHILDREN


def test_evaluate(waiting):
    frames = waiting[1]
    number = frame(waiting, "inner")[0]
    assert frames.evaluate(number, "step + number") == ("", "42", "int", 0)
    assert frames.evaluate(number, "[step * k for k in range(3)]")[1] == "[0, 2, 4]"
    assert frames.evaluate(number, "seen_by_debugger = 3")[1] == ""
    wrong = {"1 / 0": "ZeroDivisionError", "nowhere": "NameError", "a b": "SyntaxError", "raise SystemExit": "SystemExit"}
    for text, said in wrong.items():
        with pytest.raises(ValueError, match=said):
            frames.evaluate(number, text)


def test_numbers_end_with_the_wait(waiting):
    ident, frames = waiting
    number = frame(waiting, "inner")[0]
    frames.release(ident)
    assert frames.variables(number) == []
    with pytest.raises(ValueError, match="isn't there any more"):
        frames.evaluate(number, "1")
    assert frame(waiting, "inner")[0] > number


def test_values_that_refuse():
    class Rude:
        @property
        def __dict__(self):
            raise RuntimeError

    assert "Rude" in shown(Rude())
    assert Frames()._row(1, "r", Rude())[3] == 0
    circle = []
    circle.append(circle)
    assert shown(circle).startswith("[[")
