"""Python programs with jitted functions as one session: Python and bytecode, in and out again."""

import re
import subprocess
import sys

import pytest
from client import PATIENCE, RefusedError
from python_programs import BITS, CALLS, LOOP, MISMATCH, NAN, PLAIN, THREADS, line_of, written

INSTRUCTION = re.compile(r"BC-Instruction: [A-Z_]+ offset 0x[0-9a-f]+")


def step_until(c, thread, opcode):
    """Steps through bytecode until an instruction of the opcode is next; its frame."""
    for _ in range(40):
        frame = c.frames(thread)[0]
        if f": {opcode} " in frame["name"]:
            return frame
        c.step("next", thread)
    raise AssertionError(f"no {opcode} in 40 steps")


def test_in_and_out(launched):
    c, path = launched(CALLS, "call")
    stop = c.stopped("breakpoint")
    thread = stop["threadId"]
    assert c.top(thread) == ("program.py", line_of(path, "call"))
    assert c.variables(c.scopes(c.frames(thread)[0]["id"])["Locals"])["seen"]["value"] == "'here'"

    c.step("stepIn", thread)
    frames = c.frames(thread)
    assert INSTRUCTION.fullmatch(frames[0]["name"]), frames[0]
    assert frames[0]["source"]["path"].startswith("msvm://bc/0x")
    python = [(f["name"], f["line"]) for f in frames if f.get("source", {}).get("path") == str(path)]
    assert python == [("main", line_of(path, "call")), ("<module>", len(path.read_text().splitlines()))]

    step_until(c, thread, "OP_CALL")
    registers = c.request("msvm/registers", threadId=thread)
    assert registers["threadId"] == thread
    shapes = [[d["value"] for d in r["shape"]] for r in registers["registers"] if r["kind"] == "TensorMeta" and r["state"] == "live"]
    assert [2, 3] in shapes and [3, 4] in shapes, registers

    main = next(f for f in c.frames(thread) if f["name"] == "main")
    assert c.variables(c.scopes(main["id"])["Locals"])["seen"]["value"] == "'here'"
    assert c.evaluate("x.shape + (len(seen),)", main["id"])["result"] == "(2, 3, 4)"
    with pytest.raises(RefusedError, match="ZeroDivisionError"):
        c.evaluate("1 / 0", main["id"])

    c.step("stepOut", thread)
    assert c.top(thread) == ("program.py", line_of(path, "again"))
    c.step("next", thread)
    assert c.top(thread) == ("program.py", line_of(path, "after"))
    c.resume(thread)
    assert c.ended() == 0
    assert "total 64.0 64.0" in c.output()


def test_over_a_call_stays_in_python(launched):
    c, path = launched(CALLS, "call")
    thread = c.stopped("breakpoint")["threadId"]
    c.step("next", thread)
    assert c.top(thread) == ("program.py", line_of(path, "again"))


def test_into_python_takes_the_arm_back(launched):
    text = CALLS.replace("mixed(x, w)       # call", "mixed(same(x), w) # call")
    text = text.replace("def main", "def same(a):\n        return a              # same\n\n    def main")
    c, path = launched(text, "call")
    thread = c.stopped("breakpoint")["threadId"]
    c.step("stepIn", thread)
    assert c.top(thread) == ("program.py", line_of(path, "same"))
    c.resume(thread)
    assert c.ended() == 0


def test_continue_from_bytecode_doesnt_stop_again(launched):
    c, _path = launched(CALLS, "call")
    thread = c.stopped("breakpoint")["threadId"]
    c.step("stepIn", thread)
    c.step("next", thread)
    c.resume(thread)
    assert c.ended() == 0
    assert len(c.named("stopped")) == 3


def test_a_line_of_a_jitted_function(launched):
    c, path = launched(CALLS, "sum")
    for mark in ("call", "again"):
        stop = c.stopped("breakpoint")
        thread = stop["threadId"]
        assert stop["hitBreakpointIds"] == [c.said[str(path)][0]["id"]]
        frames = c.frames(thread)
        assert INSTRUCTION.fullmatch(frames[0]["name"]), frames[0]
        listing = c.request("msvm/listing", program=0)
        offsets = [line["offset"] for line in listing["lines"]]
        assert len(set(offsets)) == len(offsets) > 3  # also of what the optimiser has put in
        assert f"program.py:{line_of(path, 'sum')}" in listing["text"].splitlines()[frames[0]["line"] - 1]  # among those that were fused
        assert next(f["line"] for f in frames if f["name"] == "main") == line_of(path, mark)
        if mark == "call":
            c.resume(thread)
    c.step("stepOut", thread)  # debugpy had no step to end
    assert c.top(thread) == ("program.py", line_of(path, "after"))
    c.resume(thread)
    assert c.ended() == 0


def test_stop_on_entry(launched):
    c, _path = launched(CALLS, stopOnEntry=True)
    thread = c.stopped("entry")["threadId"]
    assert INSTRUCTION.fullmatch(c.frames(thread)[0]["name"])
    c.resume(thread)
    assert c.ended() == 0
    assert len(c.named("stopped")) == 1


def test_conditions_on_both_sides(launched):
    text = CALLS.replace("second = mixed(x, w) ", "second = mixed(np.ones((5, 3), np.float32), w) ")
    c, path = launched(text, {"line": "again", "condition": "x.shape[0] == 2"}, {"line": "call", "condition": "x.shape[0] == 3"})
    thread = c.stopped("breakpoint")["threadId"]
    assert c.top(thread) == ("program.py", line_of(path, "again"))
    c.step("stepIn", thread)
    frame = step_until(c, thread, "OP_CALL")
    call = c.request("msvm/call", threadId=thread)
    assert call["op"]
    listing = frame["source"]["path"]
    first = next(r["reg"] for r in c.request("msvm/registers", threadId=thread)["registers"] if [d["value"] for d in r["shape"]] == [5, 3])
    below = frame["line"] + 1
    rows = c.breakpoints(listing, [{"line": below, "condition": f"shape({first})[0] {than} 4"} for than in "><"])
    assert [r["verified"] for r in rows] == [True, True], rows
    c.resume(thread)
    stop = c.stopped("breakpoint")
    assert stop["hitBreakpointIds"] == [rows[0]["id"]]
    c.resume(thread)
    assert c.ended() == 0


def test_conditions_that_one_side_or_none_can_read(launched):
    c, path = launched(CALLS, "call")
    c.stopped("breakpoint")

    def said(condition):
        where = {"source": {"path": str(path)}, "breakpoints": [{"line": line_of(path, "sum"), "condition": condition}]}
        [row] = c.request("setBreakpoints", where)["breakpoints"]
        return row["verified"], row.get("message", "")

    verified, message = said("shape is not None")
    assert verified and message.startswith("in bytecode: condition: column 7: ")
    assert said("shape(") == (False, "condition: column 6: '(' was never closed")
    assert said("x > 1") == (True, "")


def test_the_hot_patch_is_told(launched):
    c, path = launched(LOOP, args=["30"], native="stay")
    c.event("msvm/programLoaded")
    patched = c.event("msvm/patched")
    assert patched["newTier"] > patched["oldTier"] and patched["address"].startswith("0x")
    c.event("msvm/listingChanged")
    written(path.parent, "program.py.stop", "")
    assert c.ended() == 0
    assert "sum 12288.0 True" in c.output()


def test_a_run_that_fails(launched):
    c, _path = launched(MISMATCH)
    stop = c.stopped("exception")
    thread = stop["threadId"]
    info = c.request("exceptionInfo", threadId=thread)
    assert "4" in info["description"] and info["details"], info
    c.resume(thread)
    assert c.ended() == 0
    assert "caught InputError" in c.output() and "over" in c.output()
    assert len(c.named("stopped")) == 1


def test_nan(launched):
    c, _path = launched(NAN, filters=["nan"])
    thread = c.stopped("exception")["threadId"]
    assert "NaN" in c.request("exceptionInfo", threadId=thread)["description"]
    c.resume(thread)
    assert c.ended() == 0
    assert "over" in c.output()


def test_pause_in_bytecode_and_in_python(launched):
    c, path = launched(LOOP, "counted", args=["60"])
    thread = c.stopped("breakpoint")["threadId"]
    c.breakpoints(path, [])
    for _ in range(4):
        c.resume(thread)
        c.request("pause", threadId=thread)
        assert c.stopped("pause")["threadId"] == thread
        assert c.frames(thread)
    written(path.parent, "program.py.stop", "")
    c.resume(thread)
    assert c.ended() == 0


@pytest.mark.parametrize("native", ["stepDown", "stay"])
def test_the_same_bits_with_the_debugger(launched, environment, tmp_path, native):
    plain, stepped = tmp_path / "plain.npy", tmp_path / "stepped.npy"
    path = written(tmp_path, "bits.py", BITS)
    subprocess.run([sys.executable, str(path), str(plain)], env=environment, check=True, timeout=PATIENCE)
    c, path = launched(BITS, "inside", args=[str(stepped)], native=native)
    thread, seen = c.stopped("breakpoint")["threadId"], set()
    for k in range(1, 20):  # through several runs and what is between them
        seen.add(c.frames(thread)[0]["name"].split()[0])
        c.request("next" if k % 8 else "continue", threadId=thread)
        c.stopped()
    assert "BC-Instruction:" in seen
    c.breakpoints(path, [])
    c.resume(thread)
    assert c.ended() == 0
    assert plain.read_bytes() == stepped.read_bytes()


def test_two_threads(launched):
    c, path = launched(THREADS, "inside")
    threads = {c.stopped("breakpoint")["threadId"], c.stopped("breakpoint")["threadId"]}
    assert len(threads) == 2
    rows = {row["id"]: row["name"] for row in c.request("threads")["threads"]}
    assert sorted(rows[t] for t in threads) == ["worker 1", "worker 2"]
    assert len(rows) == len(set(rows.values()))
    for t in threads:
        frames = c.frames(t)
        assert INSTRUCTION.fullmatch(frames[0]["name"])
        work = next(f for f in frames if f["name"] == "work")
        assert c.evaluate("k", work["id"])["result"] == rows[t].removeprefix("worker ")
    one = min(threads)
    c.request("continue", threadId=one, singleThread=True)
    assert c.stopped("breakpoint")["threadId"] == one
    c.breakpoints(path, [])
    c.resume(one)
    assert c.ended() == 0
    assert "results 36.0 72.0" in c.output()


def test_without_msvm_and_arguments(launched):
    c, path = launched(PLAIN, "inside", args=["-x", "ü"], name="größe/süß.py")
    thread = c.stopped("breakpoint")["threadId"]
    assert [f["name"] for f in c.frames(thread)] == ["add", "<module>"]
    c.step("stepOut", thread)
    with pytest.raises(RefusedError, match="hasn't imported msvm"):
        c.request("msvm/listing", program=0)
    c.breakpoints(path, [])
    c.resume(thread)
    assert c.ended() == 0
    assert "total 10 ['-x', 'ü']" in c.output()
