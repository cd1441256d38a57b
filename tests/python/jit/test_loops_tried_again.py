"""Loops are made again until their turns end as they begin: what a try did must not show in the program that remains."""

import re

import numpy as np
import pytest
from msvm.frontend import attempts

import msvm as ms

TABLE = np.arange(6, dtype=np.float32)
SCALE = ms.mutable(2.0)


def lists_and_dicts(x, n):
    seen = {"first": x, "turns": 0}
    parts = [x, x + 1.0]
    for k in range(n):
        parts[0], parts[1] = parts[1], parts[0] * 2.0
        seen["first"] = parts[0]
        seen["turns"] += k
    return parts, seen


def leaves_within_written_out_turns(x, n):
    found = -1
    for k in range(3):
        for j in range(n):
            if j > k + 1:
                found = j
                break
            if j == 7:
                return x * 100.0, found
            x = x + TABLE[k]
        if found > 2:
            break
    return x, found


def while_within_for(x, n):
    total = 0
    for k in range(n):
        i = k
        while i > 0:
            i = i // 2
            total = total + i
            x = x + float(i)
        total = total + x.sum()
    return total, x


def calls_a_function(x, n):
    def turn(a, b):
        c = a
        for _ in range(n):
            c = c + b
        return c, a

    y = x
    for _ in range(n):
        y, x = turn(x, y)
    return x, y


def grows_and_shrinks(x, n):
    y = x
    kept = []
    for k in range(n):
        y = ms.ops.cat([y, x * float(k)], 0)
        if y.shape[0] > 9:
            y = y[3:]
        kept.append(y.sum())
    return y, ms.ops.stack([x.sum(), *[x.sum()]]), len(kept)


def takes_from_outside(x, n):
    for k in range(n):
        x = x * SCALE + TABLE[:3]
        if k > 2:
            x = x - TABLE[3:]
    return x


def assigns_what_it_was(x, n):
    parts = 2
    for k in range(n):
        for _ in range(parts):
            x = x + float(k)
        parts = 2
    return [x * float(j) for j in range(parts)], parts


def ends_in_its_first_turn(x, n):
    step = 1
    for k in range(n):
        step = k + 3
        x = x + float(step)
        break
    return x, step


def swaps(x, n):
    a, b, c = 1, 1, 2
    for _ in range(n):
        a, b, c = b, a, c + a
        x = x * float(b) + float(c)
    return x, a, b, c


def lets_a_list_be(x, n):
    kept = [x]
    for k in range(n):
        kept.append(x * float(k))
    last, count = x, 0
    while count < n:
        if count > 1:
            last = last + kept[count]
        count += 1
    return ms.ops.stack(kept), last, count


def counts_with_floats(x, n):
    total, top = 0, 1
    for k in range(n):
        total = total + 0.5
        top = max(top, k)
    return x * total, top


FUNCTIONS = [
    assigns_what_it_was, ends_in_its_first_turn, swaps, lets_a_list_be, counts_with_floats,
    lists_and_dicts, leaves_within_written_out_turns, while_within_for, calls_a_function, grows_and_shrinks, takes_from_outside,
]  # fmt: skip


def plain(v):
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return np.asarray(v).tolist()


def as_python(function, x, n):
    outcome = function(ms.Tensor(x), n)
    return plain(outcome)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(function):
    f = ms.jit(function)
    x = np.array([1.0, -2.0, 0.5], np.float32)
    for n in (1, 2, 3, 5):
        assert plain(f(x, ms.mutable(n))) == as_python(function, x, n), n
    assert len(f.executables()) == 1


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_program_is_the_same_each_time(function):
    x = np.ones(3, np.float32)
    texts = []
    for _ in range(2):
        f = ms.jit(function)
        f(x, ms.mutable(2))
        texts.append(f.bytecode)
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("function", "again"),
    [(swaps, 0), (while_within_for, 1), (assigns_what_it_was, 2), (ends_in_its_first_turn, 1), (lets_a_list_be, 2)],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_a_right_guess_saves_a_try(function, again, monkeypatch):
    """What a loop assigns to is thought to change. Wrong guesses, values of another kind, sizes that change
    and lists that grow cost a try; after a wrong guess all is found out."""
    taken_back = []
    monkeypatch.setattr(attempts.Mark, "take_back", lambda mark, it, do=attempts.Mark.take_back: (taken_back.append(1), do(mark, it)))
    ms.jit(function)(np.ones(3, np.float32), ms.mutable(2))
    assert len(taken_back) == again


def test_a_list_that_a_loop_lets_be_has_no_phi_there():
    f = ms.jit(lets_a_list_be)
    f(np.ones(3, np.float32), ms.mutable(2))
    assert len(re.findall(r"list<f32> = TENSOR_PHI", f.bytecode)) == 1, f.bytecode


def test_a_report_within_a_loop_is_made_once(capfd):
    @ms.jit
    def f(x, n):
        for _ in range(n):
            x = ms.ops.cat([x, x], 0)
            ms.vm.print_scd_analysis()
        return x

    assert f(np.ones(2, np.float32), ms.mutable(2)).shape == (8,)
    assert capfd.readouterr().out.count("(dims: [2])") == 1


def test_what_cant_settle_says_where():
    @ms.jit
    def f(x, n):
        for _ in range(n):
            x = x[None]
        return x.sum(-1)

    with pytest.raises((ms.UnsupportedError, ms.InputError), match=r"test_loops_tried_again.py:\d+"):
        f(np.ones(2, np.float32), ms.mutable(2))
