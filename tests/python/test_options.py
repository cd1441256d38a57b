"""The table of options: context, load, errors, docs."""

import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from gen_option_docs import TABLE, table
from programs import ADD, assembled, loaded, relu_add

import msvm as ms
from msvm import _context, _core

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(autouse=True)
def fresh_context():
    yield
    ms.set_context(**dict.fromkeys(_context._defaults))


@pytest.fixture
def changes():
    """What was told to those who follow the context."""
    told = []
    follow = lambda: told.append(ms.get_context())  # noqa: E731
    _context.on_change(follow)
    yield told
    _context._followers.remove(follow)


def test_the_page_has_the_table():
    """Anew: python tools/gen_option_docs.py."""
    assert TABLE.findall((DOCS / "options.md").read_text()) == [table()]


def test_defaults_are_accepted():
    for o in _core.OPTIONS:
        place = o["given"].split(", ")[0]
        given = {o["name"]: o["default"]}
        assert _core.check_options(given, place) == ({} if o["default"] is None else given)


# name -> (as given, as kept)
GOOD = {
    "num_threads": [(0, 0), (np.int64(2), 2), (1024, 1024)],
    "max_memory": [("2GB", 2 << 30), ("2 gb", 2 << 30), ("1.5MB", 3 << 19), ("64KiB", 65536), ("7B", 7), (123, 123), (np.int32(5), 5)],
    "jit_level": [(0, "O0"), (np.int8(1), "O1"), (2, "O2"), ("O1", "O1")],
    "scd_threshold": [(0, 0.0), (1, 1.0), (np.float32(0.5), 0.5)],
    "compile_timeout": [(5, 5.0)],
    "bucket_boundaries": [([1, 8], [1, 8]), ((1, np.int64(8)), [1, 8]), ({"H": [3]}, {"H": [3]})],
    "shape_policy": [(Path("/a/b"), "/a/b"), (b"/a", "/a"), ("x", "x")],
    "fallback": [(True, True), (False, False)],
    "cache_mode": [("adaptive", "adaptive")],
    "name": [("n", "n"), ("\u00e9", "\u00e9")],
}
BAD = {
    "mode": [2, -1, "GRAPH", True],
    "device_target": ["GPU", "cpu", 0],
    "num_threads": [-1, 1025, 1.0, "2", True, 2**70],
    "max_memory": [-1, "2", "2XB", "GB", "-1GB", "nanGB", 1.5, 2**64, "9999999999TB", True],
    "precision": ["fp64", 32],
    "fallback": [0, 1, "True", np.bool_(True)],
    "compile_timeout": [0, -1, float("nan"), float("inf"), "2", True, 10**400],
    "jit_level": [3, -1, "O3", "2", True, 1.0],
    "cache_mode": ["buckets", 1],
    "bucket_boundaries": [1, "1,2", [1.5], [[1]], {1: [1]}, {"N": 1}, [True], [2**70]],
    "jit_threshold": [0, 65, 3.0],
    "scd_threshold": [-0.1, 1.1, float("nan")],
    "name": [1, b"n", "\ud800"],
    "shape_policy": [1, ["a"]],
    "capability_db": [0],
}


@pytest.mark.parametrize("name", GOOD)
def test_values_are_kept_in_one_way(name):
    for given, kept in GOOD[name]:
        found = _core.check_options({name: given}, "load")[name]
        assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize("name", BAD)
def test_bad_values_name_the_place_and_what_is_possible(name):
    place = "set_context" if name in _context._defaults else "load"
    for value in BAD[name]:
        with pytest.raises(ms.InputError) as e:
            _core.check_options({name: value}, place)
        assert str(e.value).startswith(f"{place}: {name}: expected "), (name, value)
        assert "found " in str(e.value)


@pytest.mark.parametrize("path", ["a\0b"])
def test_paths_without_zero_bytes(path):
    with pytest.raises(ms.InputError, match="zero byte"):
        ms.set_context(shape_policy=path)


def test_unknown_options(tmp_path):
    with pytest.raises(ms.InputError, match=r"set_context: .* 'cache_mod'; did you mean cache_mode\? Possible: mode, .*cache_bytes$"):
        ms.set_context(cache_mod="bucket")
    with pytest.raises(ms.InputError, match=r"load: there is no option 'zzz'. Possible: num_threads, "):
        assembled(tmp_path, ADD, zzz=1)
    with pytest.raises(ms.InputError, match=r"onnx\.load: mode isn't an option here; give it to set_context"):
        loaded(tmp_path, relu_add(), mode=1)
    with pytest.raises(ms.InputError, match="set_context: input_signature isn't an option here; give it to jit"):
        ms.set_context(input_signature=1)
    with pytest.raises(ms.InputError, match="set_context: name isn't an option here; give it to jit, load"):
        ms.get_context("name")
    with pytest.raises(ms.InputError, match="there is no option 'nmae'"):
        ms.get_context("nmae")
    with pytest.raises(ms.InputError, match="jit_config is a mapping"):
        ms.set_context(jit_config="O2")
    with pytest.raises(ms.InputError, match="jit: device_target isn't an option here"):
        ms.set_context(jit_config={"device_target": "CPU"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache_mode": "bucket"}, "no bucket_boundaries"),
        ({"bucket_boundaries": [1, 2]}, "cache_mode is exact"),
        ({"cache_mode": "bucket", "bucket_boundaries": [2, 1]}, "ascend"),
        ({"cache_mode": "bucket", "bucket_boundaries": {"N": [-1]}}, "not negative"),
        ({"shape_policy": "/nowhere"}, "cache_mode is exact"),
        ({"cache_mode": "adaptive", "shape_policy": "/nowhere"}, "/nowhere"),
    ],
)
def test_options_that_contradict(tmp_path, changes, options, message):
    before = ms.get_context()
    with pytest.raises(ms.Error, match=message):
        ms.set_context(**options)
    assert ms.get_context() == before and not changes, "nothing changes"
    with pytest.raises(ms.Error, match=message):
        assembled(tmp_path, ADD, **options)


def test_context(changes):
    assert ms.get_context("mode") == ms.GRAPH_MODE == 0 and ms.PYNATIVE_MODE == 1
    ms.set_context(mode=ms.PYNATIVE_MODE, max_memory="1GB", jit_config={"jit_level": "O1"})
    assert len(changes) == 1 and _context.pynative()
    assert (ms.get_context("max_memory"), ms.get_context("jit_level")) == (1 << 30, "O1")
    assert ms.get_context("jit_config") == {"max_memory": 1 << 30, "jit_level": "O1"}
    ms.set_context(mode=None)
    assert not _context.pynative() and ms.get_context("max_memory") == 1 << 30
    assert set(ms.get_context()) == set(_context._defaults)


def test_programs_start_from_the_context(tmp_path):
    ms.set_context(jit_level="O0", jit_threshold=7, cache_mode="bucket", bucket_boundaries=[1, 2])
    of_context = assembled(tmp_path, ADD).executables()[0].options()
    assert (of_context["jit_level"], of_context["jit_threshold"], of_context["opt"]) == ("O0", 7, 0)
    assert of_context["bucket_boundaries"] == [1, 2]
    own = assembled(tmp_path, ADD, jit_level=2, cache_mode="exact", name="mine").executables()[0].options()
    assert (own["jit_level"], own["jit_threshold"], own["cache_mode"], own["bucket_boundaries"]) == ("O2", 7, "exact", [])
    assert own["name"] == "mine"
    ms.set_context(jit_level=None)
    assert assembled(tmp_path, ADD).executables()[0].options()["jit_level"] == "O2"
    ms.set_context(opt=1)
    assert assembled(tmp_path, ADD).executables()[0].options()["opt"] == 1


def test_graph_kernels_off(tmp_path):
    fused, plain = loaded(tmp_path, relu_add()), loaded(tmp_path, relu_add(), enable_graph_kernel=False)
    assert "msvm.Pointwise" in fused.disassemble() and "msvm.Pointwise" not in plain.disassemble()
    x = np.array([[-9.0, 1, 2, 3]], np.float32)
    assert np.array_equal(fused({"x": x})[0], plain({"x": x})[0])


def test_memory_limit_is_of_the_engine(tmp_path):
    small = assembled(tmp_path, ADD, max_memory="1MB")
    x, y = np.ones((60, 10000), np.float32), np.ones(10000, np.float32)
    with pytest.raises(ms.LimitError, match="1048576"):
        small({"x": x, "y": y})
    assert assembled(tmp_path, ADD)({"x": x, "y": y})[0].shape == (60, 10000), "another engine"
    assert small({"x": x[:2, :10], "y": y[:10]})[0].sum() == 40


def test_engines_are_shared_by_their_options(tmp_path):
    count = lambda: ms.memory_stats()["engines"]  # noqa: E731
    kept = [assembled(tmp_path, ADD, compile_timeout=77.0)]
    n = count()
    kept += [assembled(tmp_path, ADD, compile_timeout=77.0, jit_threshold=9), assembled(tmp_path, ADD, compile_timeout=77.0, name="x")]
    assert count() == n
    kept.append(assembled(tmp_path, ADD, compile_timeout=78.0))
    assert count() == n + 1


def test_precision_that_is_not_there_is_said_once(tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for precision in ("fp16", "bf16", "int8"):
            p = assembled(tmp_path, ADD, precision=precision)
    assert len([w for w in told if "served in fp32" in str(w.message)]) <= 1
    x, y = np.float32([[1, 2]]), np.float32([0.1, 0.2])
    assert np.array_equal(p({"x": x, "y": y})[0], x + y)


def test_capability_db_is_read_when_it_is_set(tmp_path):
    with pytest.raises(ms.FileError, match=r"/nowhere\.json"):
        ms.set_context(capability_db="/nowhere.json")
    assert ms.get_context("capability_db") == ""


def test_many_threads_set_the_context(changes):
    begin, errors = threading.Barrier(8), []

    def work(k):
        try:
            begin.wait()
            for n in range(50):
                ms.set_context(jit_threshold=1 + (k + n) % 64, scd_threshold=0.5)
                assert 1 <= ms.get_context("jit_threshold") <= 64
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and len(changes) == 400
