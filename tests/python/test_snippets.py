# ruff: noqa: RET504 - the names of results are in the reports
"""Short programs as users of MindSpore write them, with only the import changed; the golden values and lines of the SCD report."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import msvm as ms

h, w = ms.mutable(112), ms.mutable(112)
height, width = 224, 224


@ms.jit
def sliced(x):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(h * 2, w * 2))
    return z


@ms.jit
def symbolic(x):
    y = x[:, :, :h, :w]
    z = ms.ops.Resize(y, (ms.symbolic_mul(h, 2), ms.symbolic_mul(w, 2)))
    return z


@ms.jit
def plain(x):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(height, width))
    return z


@ms.jit
def doubled_plain(x):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(height // 2 * 2, 2 * width - width))
    return z


@ms.jit
def argument(x, a, b):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(a * 2, b * 2))
    return z


@ms.jit
def literal(x):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(224, 224))
    return z


def by_numpy(x):
    return np.asarray(x)[:, :, :112, :112].repeat(2, 2).repeat(2, 3)


def scd(f, *args):
    return {row["name"]: row["scd"] for row in ms.vm.scd_analysis(f, *args)}


@pytest.fixture(scope="module")
def x():
    return ms.Tensor(np.random.default_rng(1).random((8, 3, 224, 224)))


GOLDEN = [  # function, further arguments, SCD of y, of z
    (sliced, (), 0.5, 0.5),
    (symbolic, (), 0.5, 0.5),
    (plain, (), 0.5, 0.0),
    (doubled_plain, (), 0.5, 0.0),
    (argument, (112, 112), 0.5, 0.0),
    (argument, (ms.mutable(112), ms.mutable(112)), 0.5, 0.5),
    (literal, (), 0.5, 1.0),
]


@pytest.mark.parametrize(("f", "more", "y", "z"), GOLDEN, ids=[f"{g[0].__name__}{len(g[1])}{k}" for k, g in enumerate(GOLDEN)])
def test_golden_scd(f, more, y, z, x):
    assert x.dtype == ms.float64
    assert scd(f, x, *more) == {"x": 1.0, "y": y, "z": z}
    if f is not symbolic:
        np.testing.assert_array_equal(f(x, *more), by_numpy(x))
    assert f(x, *more).shape == (8, 3, 224, 224)


def test_resize_takes_positions_of_centres(x):
    assert symbolic(x).shape == (8, 3, 224, 224)
    np.testing.assert_array_equal(symbolic(x), by_numpy(x))  # round_prefer_floor of (i + 0.5) / 2 - 0.5 is i // 2


def test_mutables_rebound(x):
    global h, w
    h_before, w_before = h, w
    try:
        before = len(sliced.executables())
        for size in ((50, 30), (1, 224), (112, 112)):
            h, w = ms.mutable(size[0]), ms.mutable(size[1])
            want = np.asarray(x)[:, :, : size[0], : size[1]].repeat(2, 2).repeat(2, 3)
            np.testing.assert_array_equal(sliced(x), want)
        assert len(sliced.executables()) == max(before, 1)
    finally:
        h, w = h_before, w_before


def lines(f, *args):
    text = str(ms.vm.scd_analysis(f, *args))
    return re.sub(r"\S*/(\w+\.py):\d+", r"\1:N", text).splitlines()


@ms.jit
def branched(x):
    y = x[:, :, :h, :w]
    z = ms.ops.ResizeNearestNeighbor(y, size=(height, width))
    if x.shape[0] > 16:
        u = ms.ops.relu(z)
        z = u[:, :, 1:, 1:]
    return z


def test_golden_lines():
    declared = ms.Tensor(shape=[None, 3, h, w], dtype=ms.float64)
    assert lines(branched, declared)[:4] == [
        "Tensor x: SCD=0.5 (dims: [dynamic, 3, symbolic:h, symbolic:w])",
        "Tensor y: SCD=0.5 (propagated from x, dims unchanged)",
        "Tensor z: SCD=0.0 (resize op breaks symbolic binding: size comes from Python ints at test_snippets.py:N;",
        "                   use ms.symbolic_mul(h, 2), or wrap the value in ms.mutable)",
    ]


@ms.jit
def branched_on_data(x):
    y = x[:, :, :h, :w]
    if y.mean() > 0.5:
        u = ms.ops.relu(y)
        y = u[:, :, 1:, 1:]
    return y


def test_golden_line_under_a_branch():
    declared = ms.Tensor(shape=[None, 3, h, w], dtype=ms.float64)
    want = "Tensor u: not counted (created under the branch at test_snippets.py:N; compute both sizes, or declare an upper bound)"
    assert want in lines(branched_on_data, declared)
    assert want in lines(branched, declared)
    x = np.random.rand(2, 3, 112, 112)
    np.testing.assert_array_equal(branched_on_data(x), x[:, :, 1:, 1:] if x.mean() > 0.5 else x)


def test_array_made_from_mutables():
    x = ms.Tensor(np.random.rand(1, 3, h, w))
    assert x.shape == (1, 3, 112, 112) and x.dtype == ms.float64
    assert scd(sliced, x) == {"x": 0.5, "y": 0.5, "z": 0.5}
    assert lines(sliced, x)[0] == "Tensor x: SCD=0.5 (dims: [1, 3, symbolic:h, symbolic:w])"
    np.testing.assert_array_equal(sliced(x), by_numpy(x))


@pytest.mark.parametrize("n", [1, 16, 17, 32])
def test_tensor_made_under_the_branch(n):
    x = ms.Tensor(np.random.rand(n, 3, h, w))
    want = by_numpy(x)
    np.testing.assert_array_equal(branched(x), want[:, :, 1:, 1:] if n > 16 else want)


def test_report_as_first_statement(capsys):
    @ms.jit
    def reported(x):
        ms.vm.print_scd_analysis()
        y = x[:, :, :h, :w]
        return y * 2

    x = ms.Tensor(np.random.rand(2, 3, 224, 224))
    reported(x)
    first = capsys.readouterr().out
    assert first.startswith("Tensor x: SCD=1.0 (dims: [2, 3, 224, 224])\nTensor y: SCD=0.5 (")
    reported(x)
    assert capsys.readouterr().out == ""
    reported(ms.Tensor(np.random.rand(2, 3, 224, 224).astype(np.float32)))
    assert capsys.readouterr().out == first


@pytest.fixture
def context():
    yield
    ms.set_context(**dict.fromkeys(ms.get_context(), None))


def test_contexts(context, x):
    ms.set_context(jit_level="O2", enable_graph_kernel=False)
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    assert not ms.get_context("enable_graph_kernel")
    np.testing.assert_array_equal(sliced(x), by_numpy(x))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_array_equal(sliced(x), by_numpy(x))


def test_traces_and_rates(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    @ms.jit
    def traced(x):
        return ms.ops.relu(x * 2 - 1).sum(-1)

    ms.vm.enable_bc_trace(True)
    try:
        for _ in range(8):
            traced(np.ones((4, 5)))
        path = Path(ms.vm.bc_trace_to_csv())
    finally:
        ms.vm.enable_bc_trace(False)
    with path.open() as f:
        rows = [row for row in csv.DictReader(f) if row["program"] == "traced"]
    assert any(row["mnemonic"] == "OP_CALL" and row["name"] and row["shapes"] for row in rows)
    assert sum(row["kind"] == "run" for row in rows) == 8
    ms.vm.wait_compiled(traced)
    print(ms.vm.get_jit_hit_rate(), ms.vm.get_avg_compile_time())
    rate, milliseconds = map(float, capsys.readouterr().out.split())
    assert 0 <= rate <= 1 and milliseconds >= 0
    assert "traced" in str(ms.vm.jit_info())


def test_capabilities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = ms.vm.dump_capability_db()
    assert json.loads(text)["sections"]
    Path("patch.json").write_text(text)
    ms.vm.load_capability_patch("patch.json")
    assert json.loads(ms.vm.dump_capability_db())["sections"] == json.loads(text)["sections"]


@ms.jit(cache_mode="bucket", bucket_boundaries=[1, 8, 32, 64])
def bucketed(x):
    return ms.ops.softmax(x @ x.T, -1)


@ms.jit(fallback=True, mem_optimize=True)
def optimised(x):
    return ms.ops.softmax(x @ x.T, -1)


@pytest.mark.parametrize("f", [bucketed, optimised], ids=lambda f: f.__name__)
def test_options(f):
    for n in (0, 1, 7, 8, 9, 32, 33, 64, 65, 200):
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
            x = np.random.default_rng(n).random((n, 6)).astype(dtype)
            e = np.exp(x @ x.T)
            np.testing.assert_allclose(f(x), e / e.sum(-1, keepdims=True), rtol=tolerance)
    assert len(f.executables()) == 2
