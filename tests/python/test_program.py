"""What a program does around a run: results, limits, threads, counters, saving."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from programs import ADD, FOREVER, assembled, copy_program, loaded, relu_add

import msvm


def test_names_and_types(tmp_path):
    program = assembled(tmp_path, ADD)
    assert program.inputs == ["x", "y"] and program.outputs == ["z"]
    assert program.input_types == {"x": "f32[N, M]", "y": "f32[M]"}
    assert program.output_types == {"z": "f32[N, M]"}
    assert repr(program) == "<msvm.Program (x: f32[N, M], y: f32[M]) -> (z: f32[N, M])>"
    assert program.metadata == {}
    assert "OP_CALL Add(R0, R1) -> R2" in program.disassemble()


def test_metadata_of_a_model(tmp_path):
    proto = relu_add()
    entry = proto.metadata_props.add()
    entry.key, entry.value = "author", "größe"
    assert loaded(tmp_path, proto).metadata["author"] == "größe"


def test_results_outlive_the_program(tmp_path):
    program = copy_program(tmp_path, "f32", 1)
    x = np.arange(1000, dtype=np.float32)
    (y,) = program.run({"x": x})
    (again,) = program.run({"x": x + 1})
    ref = weakref.ref(program)
    del program
    gc.collect()
    assert ref() is None
    view = y[10:20]
    del y
    gc.collect()
    assert view.tolist() == x[10:20].tolist()
    assert again.tolist() == (x + 1).tolist()
    again += 1  # theirs to write
    assert again[0] == 2


def test_a_program_is_no_plain_data(tmp_path):
    program = copy_program(tmp_path, "f32", 1)
    for f in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            f(program)


def test_memory_comes_back(tmp_path):
    program = loaded(tmp_path, relu_add())
    for n in (1, 1000, 7):
        program.run({"x": np.ones((n, 4), np.float32)})
    before = msvm.memory_stats()
    kept = [program.run({"x": np.ones((1000, 4), np.float32)})[0] for _ in range(5)]
    during = msvm.memory_stats()
    assert during["in_use"] >= before["in_use"] + 5 * 16000
    assert during["peak"] >= during["in_use"] and during["reserved"] >= during["in_use"]
    del kept
    gc.collect()
    assert msvm.memory_stats()["in_use"] == before["in_use"]


def test_threads(tmp_path):
    """One program, eight threads, a shape of each thread's own, failures among them."""
    program = loaded(tmp_path, relu_add(), num_threads=2)

    def work(k):
        for i in range(50):
            x = np.full((k + 1, 4), k * 100 + i, np.float32)
            (y,) = program.run({"x": x})
            assert (y == x + np.arange(4, dtype=np.float32)).all()
            with pytest.raises(msvm.InputError):
                program.run({"x": x[:, :3]})
        return k

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))
    assert program.counters()["runs"] >= 400


def test_loading_in_threads(tmp_path):
    path = tmp_path / "a.msasm"
    path.write_text(ADD)
    with ThreadPoolExecutor(8) as pool:
        programs = list(pool.map(lambda _: msvm.load(path), range(16)))
    x = np.ones((2, 3), np.float32)
    for program in programs:
        (z,) = program.run({"x": x, "y": np.arange(3, dtype=np.float32)})
        np.testing.assert_array_equal(z, [[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize("limits", [{"max_instructions": 100000}, {"max_seconds": 0.02}])
def test_a_loop_without_end_stops(tmp_path, limits):
    program = assembled(tmp_path, FOREVER)
    program.set_limits(**limits)
    for _ in range(2):
        with pytest.raises(msvm.LimitError) as e:
            program.run({"i": 1})
        assert isinstance(e.value, MemoryError)
    assert program.counters()["failed_runs"] == 2


def test_cancel(tmp_path):
    """The GIL is free while a program runs: another thread can end it."""
    program = assembled(tmp_path, FOREVER)
    program.set_limits(max_seconds=20)
    caught = []

    def work():
        try:
            program.run({"i": 1})
        except msvm.Error as e:
            caught.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        program.cancel()
        time.sleep(0.005)
    assert len(caught) == 1 and not isinstance(caught[0], msvm.LimitError)


def test_memory_limit(tmp_path):
    program = copy_program(tmp_path, "f32", 1)
    program.set_limits(max_bytes=1 << 16)
    with pytest.raises(msvm.LimitError, match="65536"):
        program.run({"x": np.zeros(1 << 20, np.float32)})
    assert program.run({"x": np.zeros(10, np.float32)})[0].shape == (10,)
    program.set_limits()
    assert program.run({"x": np.zeros(1 << 20, np.float32)})[0].shape == (1 << 20,)


@pytest.mark.parametrize("limits", [{"max_bytes": -1}, {"max_instructions": -1}, {"max_seconds": -1.0}, {"max_seconds": float("nan")}])
def test_limits_are_not_negative(tmp_path, limits):
    with pytest.raises(msvm.InputError, match="not negative"):
        copy_program(tmp_path, "f32", 1).set_limits(**limits)


def test_an_endless_limit_is_none(tmp_path):
    program = copy_program(tmp_path, "f32", 1)
    program.set_limits(max_seconds=float("inf"), max_bytes=2**63 - 1, max_instructions=2**63 - 1)
    assert program.run({"x": np.zeros(1, np.float32)})[0].shape == (1,)


def test_counters_and_profile(tmp_path):
    program = assembled(tmp_path, ADD)
    feed = {"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)}
    assert program.profile() == []
    program.run(feed)
    assert program.counters()["runs"] == 1 and program.counters()["calls"] == 1
    program.profile(True)
    for _ in range(3):
        program.run(feed)
    rows = program.profile(False)
    (call,) = [r for r in rows if r["operator"] == "Add"]
    assert call["runs"] == 3 and call["kernel"] and call["nanoseconds"] > 0 and call["mnemonic"] == "OP_CALL"
    assert [r["instruction"] for r in rows] == list(range(5))
    program.run(feed)
    assert [r["runs"] for r in program.profile()] == [3] * 5


def test_save_and_load(tmp_path):
    program = loaded(tmp_path, relu_add())
    for path in (tmp_path / "saved.msbc", str(tmp_path / "größe.msbc"), os.fsencode(tmp_path) + b"/\xff.msbc"):
        program.save(path)
        again = msvm.load(path)
        assert again.disassemble() == program.disassemble() == msvm.disassemble(path)
        assert again.run({"x": np.zeros((1, 4), np.float32)})[0].tolist() == [[0, 1, 2, 3]]
    with pytest.raises(msvm.FileError, match="nowhere") as e:
        program.save(tmp_path / "nowhere" / "x.msbc")
    assert isinstance(e.value, OSError)
    with pytest.raises(msvm.FileError, match="not a regular file"):
        program.save(os.devnull)


def test_saving_over_what_is_loaded(tmp_path):
    """Weights are mapped from the file: replacing it must not pull them away."""
    loaded(tmp_path, relu_add()).save(tmp_path / "a.msbc")
    program = msvm.load(tmp_path / "a.msbc")
    program.save(tmp_path / "a.msbc")
    assert program.run({"x": np.zeros((1, 4), np.float32)})[0].tolist() == [[0, 1, 2, 3]]


def test_number_of_threads(tmp_path):
    for wrong in (-1, 100000):
        with pytest.raises(msvm.InputError, match="num_threads"):
            assembled(tmp_path, ADD, num_threads=wrong)


def test_a_forked_child_runs(tmp_path):
    """Worker threads don't survive a fork: a child must work or say so, never hang."""
    (tmp_path / "a.msasm").write_text(ADD)
    code = f"""
import os, sys, numpy as np
sys.path.append({os.fspath(next(p for p in sys.path if p.endswith("release/python")))!r})
import msvm
p = msvm.load({os.fspath(tmp_path / "a.msasm")!r}, num_threads=2)
feed = {{"x": np.ones((64, 50000), np.float32), "y": np.ones(50000, np.float32)}}
p.run(feed)
pid = os.fork()
if pid == 0:
    try:
        ok = p.run(feed)[0][0, 0] == 2
    except msvm.Error as e:
        ok = "fork" in str(e)
    os._exit(0 if ok else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 0


def test_the_process_ends_while_programs_live(tmp_path):
    (tmp_path / "a.msasm").write_text(FOREVER)
    code = f"""
import sys, threading, time
sys.path.append({os.fspath(next(p for p in sys.path if p.endswith("release/python")))!r})
import msvm
p = msvm.load({os.fspath(tmp_path / "a.msasm")!r})
threading.Thread(target=lambda: p.run({{"i": 1}}), daemon=True).start()
time.sleep(0.05)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 0
