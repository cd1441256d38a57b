"""Modules that run inside of the adapter: stops, steps, what is seen, what is changed."""

import base64
import re

import numpy as np
import pytest
from client import RefusedError
from modules import ADD, FOREVER, NECK, REFUSED, ROOT, SUM, line_with, written

BC = "msvm://bc/0x0"  # is understood without a name, too
NECK_BC = BC + "/neck"


@pytest.fixture
def module(client, tmp_path):
    """Launches a module from its text: (client, path)."""

    def launch(text, breakpoints=None, filters=None, done=True, name="module.msasm", **arguments):
        path = written(tmp_path, name, text)
        client.said = client.start(breakpoints=breakpoints, filters=filters, done=done, program=str(path), cwd=str(tmp_path), **arguments)
        return client, path

    return launch


@pytest.fixture
def neck(module):
    """At the first instruction of NECK: (client, thread)."""
    c, _ = module(NECK, stopOnEntry=True, shapes=["x=2x8x4x12"])
    return c, c.stopped("entry")["threadId"]


def opcode(c, thread):
    """Of the instruction that comes next."""
    return re.fullmatch(r"BC-Instruction: (\w+) offset 0x[0-9a-f]+", c.frames(thread)[0]["name"])[1]


def registers(c, thread, **more):
    return {r["reg"]: r for r in c.request("msvm/registers", threadId=thread, count=100, **more)["registers"]}


def until(c, thread, wanted, command="next"):
    """Steps until an instruction of the opcode is next."""
    for _ in range(50):
        if opcode(c, thread) == wanted:
            return
        c.step(command, thread)
    raise AssertionError(f"no {wanted} in 50 steps")


# --- stops and steps ----------------------------------------------------------------------------------------------------------


def test_from_entry_to_the_end(neck):
    c, thread = neck
    seen = [opcode(c, thread)]
    for _ in range(7):
        c.step("stepIn", thread)
        seen.append(opcode(c, thread))
    assert seen == ["TENSOR_CREATE", "SHAPE_PROPAGATE", "SHAPE_CALC", "TENSOR_VIEW", "TENSOR_ALLOC", "OP_CALL", "TENSOR_FREE", "RETURN"]
    c.request("next", threadId=thread)
    assert c.ended() == 0
    assert "output y: f32[2, 4, 8, 24] = [" in c.output()
    assert [s["reason"] for s in c.named("stopped")] == ["entry"] + ["step"] * 7


def test_frames_and_listing(neck):
    c, thread = neck
    c.step("next", thread)
    top, call = c.frames(thread)
    assert top["source"] == {"name": "neck bytecode", "path": NECK_BC} and call["name"] == "@forward(f32[2, 8, 4, 12])"
    listing = c.request("msvm/listing")
    assert listing["uri"] == NECK_BC and listing["address"] == "0x0" and listing["program"] == 0 and listing["name"] == "neck"
    text = listing["text"].splitlines()
    assert "SHAPE_PROPAGATE" in text[top["line"] - 1]
    row = next(r for r in listing["lines"] if r["line"] == top["line"])
    assert row["address"] == top["instructionPointerReference"] and row["opcode"] == "SHAPE_PROPAGATE" and row["tier"] == 0
    assert [r["instruction"] for r in listing["lines"]] == list(range(8))
    for path in (BC, NECK_BC):
        assert c.request("source", source={"path": path}, sourceReference=0)["content"] == listing["text"]
    assert c.request("loadedSources")["sources"] == [{"name": "neck bytecode", "path": NECK_BC}]
    assert call["source"]["path"].endswith("module.msasm") and "SHAPE_PROPAGATE" in NECK.splitlines()[call["line"] - 1]
    assert c.request("stackTrace", threadId=thread, startFrame=1, levels=1)["stackFrames"][0]["name"] == call["name"]
    assert c.request("stackTrace", threadId=thread, startFrame=0, levels=1)["totalFrames"] == 2


def test_step_out_ends_the_run(neck):
    c, thread = neck
    c.request("stepOut", threadId=thread)
    assert c.ended() == 0
    assert len(c.named("stopped")) == 1


def test_runs_one_after_the_other(module):
    c, _ = module(SUM, stopOnEntry=True, ranges=["n=4:4"], runs=3, breakpoints={BC: []})
    thread = c.stopped("entry")["threadId"]
    c.breakpoints(BC, [line_with(c, "RETURN")])
    for _ in range(3):
        c.resume(thread)
        c.stopped("breakpoint")
    c.resume(thread)
    assert c.ended() == 0 and "output 0: 6" in c.output()


def test_pause_in_a_loop(module):
    c, _ = module(FOREVER)
    c.event("thread")
    thread = c.request("threads")["threads"][0]["id"]
    for _ in range(3):
        c.request("pause", threadId=thread)
        assert c.stopped("pause")["threadId"] == thread
        assert opcode(c, thread) in ("SCALAR_INPUT", "JUMP", "SCALAR_PHI")
        c.resume(thread)
    c.request("terminate")
    c.event("terminated")


def test_pausing_all(module):
    c, _ = module(FOREVER)
    c.event("thread")
    c.request("pause", threadId=0)
    thread = c.stopped("pause")["threadId"]
    with pytest.raises(RefusedError, match="no thread"):
        c.request("continue", threadId=thread + 77)
    c.request("terminate")  # while it waits
    c.event("terminated")


# --- breakpoints --------------------------------------------------------------------------------------------------------------


def test_line_conditions_and_hits(module):
    c, path = module(SUM, stopOnEntry=True, ranges=["n=10:10"])
    thread = c.stopped("entry")["threadId"]
    add = line_with(c, "SHAPE_CALC add")
    (row,) = c.breakpoints(BC, [{"line": add, "condition": "R1 == 3"}])
    assert row["verified"] and row["line"] == add and row["source"]["path"] == BC and row["instructionReference"].startswith("0x")
    c.resume(thread)
    assert c.stopped("breakpoint")["hitBreakpointIds"] == [row["id"]]
    assert c.evaluate("R1", c.frames(thread)[0]["id"])["result"] == "3"
    c.breakpoints(BC, [{"line": add, "hitCondition": ">= 3"}])
    for value in ("5", "6"):  # 3 again, as it is set anew, then 4, 5
        c.resume(thread)
        c.stopped("breakpoint")
        assert int(c.evaluate("R1", c.frames(thread)[0]["id"])["result"]) >= 5, value
    # in the file that it came from
    source = next(k for k, line in enumerate(SUM.splitlines(), 1) if "SHAPE_CALC add" in line)
    (other,) = c.breakpoints(path, [{"line": source, "condition": "R1 == 8"}])
    assert other["verified"], other
    c.breakpoints(BC, [])
    c.resume(thread)
    assert c.stopped("breakpoint")["hitBreakpointIds"] == [other["id"]]
    c.breakpoints(path, [])
    c.resume(thread)
    assert c.ended() == 0 and "output 0: 45" in c.output()


def test_condition_on_a_shape(module):
    c, _ = module(NECK, stopOnEntry=True, shapes=["x=1x8x4x1028"])
    thread = c.stopped("entry")["threadId"]
    line = line_with(c, "OP_CALL")
    rows = c.breakpoints(
        BC, [{"line": line, "condition": 'shape(R3)[3] > 1024 and dtype(R3) == "f32"'}, {"line": line, "condition": "shape(R3)[2] > 1024"}]
    )
    assert [r["verified"] for r in rows] == [True, True], rows
    c.resume(thread)
    assert c.stopped("breakpoint")["hitBreakpointIds"] == [rows[0]["id"]]


def test_log_points_dont_stop(module):
    c, _ = module(SUM, stopOnEntry=True, ranges=["n=4:4"])
    thread = c.stopped("entry")["threadId"]
    c.breakpoints(BC, [{"line": line_with(c, "SHAPE_CALC add"), "logMessage": "R1 is {R1}, twice that {2 * R1}"}])
    c.resume(thread)
    assert c.ended() == 0
    assert [line for line in c.output("console").splitlines() if "R1 is" in line] == [f"R1 is {k}, twice that {2 * k}" for k in range(4)]
    assert len(c.named("stopped")) == 1


def test_functions_operators_and_addresses(module):
    c, _ = module(NECK, stopOnEntry=True, shapes=["x=1x8x4x4"], runs=3)
    thread = c.stopped("entry")["threadId"]
    rows = c.request("setFunctionBreakpoints", breakpoints=[{"name": "Resize"}, {"name": "nowhere"}])["breakpoints"]
    assert rows[0]["verified"] and not rows[1]["verified"] and rows[1]["message"]
    c.resume(thread)
    assert c.stopped()["hitBreakpointIds"] == [rows[0]["id"]] and opcode(c, thread) == "OP_CALL"
    c.request("setFunctionBreakpoints", breakpoints=[{"name": "@forward"}])
    c.resume(thread)
    c.stopped()
    assert opcode(c, thread) == "TENSOR_CREATE"
    c.request("setFunctionBreakpoints", breakpoints=[])
    address = next(r["address"] for r in c.request("msvm/listing")["lines"] if r["opcode"] == "TENSOR_FREE")
    (row,) = c.request("setInstructionBreakpoints", breakpoints=[{"instructionReference": address}])["breakpoints"]
    assert row["verified"]
    c.resume(thread)
    assert c.stopped("instruction breakpoint")["hitBreakpointIds"] == [row["id"]]
    assert opcode(c, thread) == "TENSOR_FREE"


def test_before_the_program_runs(module):
    text = NECK.splitlines()
    line = next(k for k, x in enumerate(text, 1) if "OP_CALL" in x)
    c, path = module(NECK, shapes=["x=1x8x4x4"], done=False)
    locations = c.request("breakpointLocations", source={"path": str(path)}, line=1, endLine=len(text))["breakpoints"]
    assert {"line": line} in locations and {"line": 1} not in locations
    (row,) = c.breakpoints(path, [line])
    assert row["verified"], row
    c.request("configurationDone")
    assert c.stopped("breakpoint")["hitBreakpointIds"] == [row["id"]]
    listed = [r["line"] for r in c.request("breakpointLocations", source={"path": BC}, line=1, endLine=1000)["breakpoints"]]
    assert listed == [r["line"] for r in c.request("msvm/listing")["lines"]]


def test_bad_conditions_are_told(neck):
    c, thread = neck
    line = line_with(c, "OP_CALL")
    for condition in ("shape(R3", "R3 +", "1 ==== 2", "shape(R3)[", "and"):
        (row,) = c.breakpoints(BC, [{"line": line, "condition": condition}])
        assert not row["verified"] and row["message"], (condition, row)
    (row,) = c.breakpoints(BC, [{"line": line, "hitCondition": "often"}])
    assert not row["verified"] and row["message"], row
    (row,) = c.breakpoints(BC, [{"line": line, "condition": "nowhere > 1"}])  # known when control comes by
    c.resume(thread)
    stop = c.stopped("breakpoint")
    assert stop["hitBreakpointIds"] == [row["id"]] and "nowhere" in stop["text"]


# --- what is seen -------------------------------------------------------------------------------------------------------------


def test_registers(neck):
    c, thread = neck
    until(c, thread, "OP_CALL")
    rows = registers(c, thread)
    assert list(rows) == ["R0", "R1", "R2", "R3", "R4"]
    x, view = rows["R0"], rows["R3"]
    assert x["name"] == "x" and x["kind"] == "TensorMeta" and x["state"] == "live" and x["dtype"] == "f32" and x["device"] == "CPU(0)"
    assert [d["value"] for d in x["shape"]] == [2, 8, 4, 12] and x["strides"] == [384, 48, 12, 1] and x["bytes"] == 4 * 768
    assert x["declared"].startswith("f32[") and x["owner"] == "input 0" and int(x["memory_addr"], 16) > 0
    assert next(d["symbol"] for d in x["shape"]) == "N"
    assert view["owner"] == "view of R0" and view["strides"] == [384, 48, 12, 1] and [d["value"] for d in view["shape"]] == [2, 4, 4, 12]
    assert rows["R1"]["kind"] == "i64" and rows["R1"]["value"] == "4" and rows["R2"]["value"] == "8"
    assert rows["R4"]["changed"] and not rows["R0"]["changed"]  # by the step before
    assert list(registers(c, thread, first=3)) == ["R3", "R4"]
    c.step("next", thread)
    c.step("next", thread)
    assert registers(c, thread)["R3"]["state"] == "freed"


def test_scopes_and_variables(neck):
    c, thread = neck
    until(c, thread, "OP_CALL")
    scopes = c.scopes(c.frames(thread)[0]["id"])
    assert set(scopes) == {"Registers", "Symbols", "Constants", "Inputs of Resize", "Kernels"}
    rows = c.variables(scopes["Registers"])
    assert rows["R2"]["value"] == "8" and rows["R0"]["variablesReference"] > 0
    fields = c.variables(rows["R0"]["variablesReference"])
    assert (
        fields["strides"]["value"] == "[384, 48, 12, 1]"
        and fields["device"]["value"] == "CPU(0)"
        and fields["is_jit_compiled"]["value"] == "false"
    )
    assert [v["value"].split(" ")[0] for v in c.variables(fields["shape"]["variablesReference"]).values()] == ["N", "8", "H", "W"]
    values = c.variables(fields["values"]["variablesReference"])
    assert len(values) == 768 and float(values["[1, 7, 3, 11]"]["value"]) == pytest.approx(
        float(c.evaluate("R0[1, 7, 3, 11]", c.frames(thread)[0]["id"])["result"])
    )
    assert c.variables(c.variables(rows["R0"]["variablesReference"])["statistics"]["variablesReference"])["nan"]["value"] == "0"
    symbols = c.variables(scopes["Symbols"])
    assert {n: symbols[n]["value"] for n in ("N", "H", "W")} == {"N": "2", "H": "4", "W": "12"}
    (operand,) = [v for k, v in c.variables(scopes["Inputs of Resize"]).items() if "R3" in k]
    assert c.variables(operand["variablesReference"])["strides"]["value"] == "[384, 48, 12, 1]"
    kernels = c.variables(scopes["Kernels"])
    assert sum("(chosen)" in v["value"] for v in kernels.values()) == 1
    part = c.request("variables", variablesReference=scopes["Registers"], start=1, count=2)["variables"]
    assert [v["name"] for v in part] == ["R1", "R2"]


def test_many_registers_come_in_parts(module):
    calls = 120
    body = "\n".join(f"  R{k} = SHAPE_CALC add R{k - 1}, 1" for k in range(1, calls + 1))
    text = f'module "many" version 1\n\nfunc @main(i: i64) -> (i64)\nb0:\n  R0 = SCALAR_INPUT 0\n{body}\n  RETURN (; R{calls})\n'
    c, _ = module(text, stopOnEntry=True, ranges=["i=5:5"])
    thread = c.stopped("entry")["threadId"]
    until_the_end = c.breakpoints(BC, [line_with(c, "RETURN")])
    assert until_the_end[0]["verified"]
    c.resume(thread)
    c.stopped("breakpoint")
    scope = c.request("scopes", frameId=c.frames(thread)[0]["id"])["scopes"][0]
    assert scope["name"] == "Registers" and scope["indexedVariables"] == calls + 1
    part = c.request("variables", variablesReference=scope["variablesReference"], filter="indexed", start=100, count=100)["variables"]
    assert [(v["name"], v["value"]) for v in part] == [(f"R{k}", str(k + 5)) for k in range(100, calls + 1)]
    assert len(c.request("variables", variablesReference=scope["variablesReference"])["variables"]) == calls + 1


def test_numbers_die_when_the_thread_goes_on(neck):
    c, thread = neck
    frame = c.frames(thread)[0]["id"]
    scope = c.scopes(frame)["Registers"]
    c.step("next", thread)
    with pytest.raises(RefusedError, match="has gone on"):
        c.request("scopes", frameId=frame)
    with pytest.raises(RefusedError, match="has gone on"):
        c.request("variables", variablesReference=scope)
    with pytest.raises(RefusedError, match="none with this number"):
        c.request("variables", variablesReference=10**15)


def test_call_and_kernels(neck):
    c, thread = neck
    assert c.response(c.send("msvm/call", {"threadId": thread}))["body"] is None
    until(c, thread, "OP_CALL")
    call = c.request("msvm/call", threadId=thread)
    assert call["op"] == "Resize" and "nearest" in call["attributes"]
    assert [[d["value"] for d in i["shape"]] for i in call["inputs"] if i["reg"]] == [[2, 4, 4, 12]]
    assert [[d["value"] for d in o["shape"]] for o in call["outputs"]] == [[2, 4, 8, 24]]
    chosen = [k for k in call["candidates"] if k["chosen"]]
    assert len(chosen) == 1 and chosen[0]["cost_ns"] > 0
    c.step("next", thread)
    for row in c.evaluate("ms.vm.kernels()")["table"]["rows"]:  # sessions that run keep what they know
        assert row[4] == chosen[0]["kernel"]


def test_buffers(neck):
    c, thread = neck
    until(c, thread, "OP_CALL")
    rows = c.response(c.send("msvm/buffers", {"threadId": thread}))["body"]
    assert {tuple(b["registers"]) for b in rows} >= {("R0", "R3"), ("R4",)}
    assert all(int(b["address"], 16) > 0 and b["bytes"] > 0 and b["owner"] for b in rows)


def test_tensor_and_npy(neck, tmp_path):
    c, thread = neck
    until(c, thread, "OP_CALL")
    whole = c.request("msvm/tensor", threadId=thread, expression="R0")
    assert whole["dtype"] == "f32" and whole["shape"] == [2, 8, 4, 12] and whole["total"] == 768 and not whole["truncated"]
    x = np.array(whole["values"], np.float32).reshape(whole["shape"])
    part = c.request("msvm/tensor", threadId=thread, expression="R0", slice="1, :, 0:2, ::3", max=5)
    assert part["shape"] == [8, 2, 4] and part["truncated"] and len(part["values"]) == 5
    assert np.array_equal(np.array(part["values"], np.float32), x[1, :, 0:2, ::3].ravel()[:5])
    s = whole["statistics"]
    assert (
        s["min"] == x.min() and s["max"] == x.max() and s["mean"] == pytest.approx(x.mean(dtype=np.float64)) and s["nan"] == s["inf"] == 0
    )
    assert sum(s["histogram"]["counts"]) == 768 and len(s["histogram"]["edges"]) == len(s["histogram"]["counts"]) + 1
    said = c.request("msvm/saveTensor", threadId=thread, expression="R3", path=str(tmp_path / "r3.npy"))
    assert said["bytes"] == (tmp_path / "r3.npy").stat().st_size
    assert np.array_equal(np.load(tmp_path / "r3.npy"), x[:, :4])
    with pytest.raises(RefusedError, match="nowhere"):
        c.request("msvm/saveTensor", threadId=thread, expression="R3", path=str(tmp_path / "nowhere/r3.npy"))
    r0 = registers(c, thread)["R0"]
    memory = c.request("readMemory", memoryReference=r0["memory_addr"], offset=8, count=16)
    assert memory["unreadableBytes"] == 0
    assert np.array_equal(np.frombuffer(base64.b64decode(memory["data"]), np.float32), x.ravel()[2:6])
    beyond = c.request("readMemory", memoryReference="0x10", count=64)
    assert beyond["unreadableBytes"] == 64 and beyond["data"] == ""


def test_evaluate(neck):
    c, thread = neck
    until(c, thread, "OP_CALL")
    frame = c.frames(thread)[0]["id"]
    for expression, result in {
        "R2": "8",
        "N": "2",
        "2 * H + W": "20",
        "shape(R3)[2]": "4",
        "rank(R0)": "4",
        "R2 > 7 and not (N == 3)": "true",
        "shape(R3) ": "[2, 4, 4, 12]",
    }.items():
        assert c.evaluate(expression, frame)["result"] == result, expression
    shape = c.evaluate("shape(R3)", frame)
    assert [v["value"] for v in c.variables(shape["variablesReference"]).values()] == ["2", "4", "4", "12"]
    tensor = c.evaluate("R0", frame)
    assert c.variables(tensor["variablesReference"])["device"]["value"] == "CPU(0)" and tensor["memoryReference"].startswith("0x")
    assert c.evaluate("x", frame, "hover")["variablesReference"] > 0
    for bad in ("R0[", "nothing", "R99", "1 / 0", "shape(R2)", "((((((" * 100, "1 +" * 5000):
        with pytest.raises(RefusedError, match="evaluate: "):
            c.evaluate(bad, frame)
    assert c.evaluate("N")["result"] == "2"  # the only thread that waits


def test_tables_while_it_waits_and_runs(neck):
    c, thread = neck
    assert "in_use" in c.evaluate("ms.vm.memory()")["result"]
    memory = c.evaluate(" ms.vm.memory() ", c.frames(thread)[0]["id"])
    assert memory["table"]["columns"][0] == "engine" and c.variables(memory["variablesReference"])["[0]"]["variablesReference"] > 0
    for name in ("jit_info", "scd", "kernels", "slow_path"):
        assert c.evaluate(f"ms.vm.{name}()")["result"], name
    with pytest.raises(RefusedError, match=r"expected one of ms\.vm\.jit_info"):
        c.evaluate("ms.vm.nothing()")
    assert c.request("msvm/memory")["memory"] and c.request("msvm/state")["version"] == 1 and "programs" in c.request("msvm/jitInfo")
    assert [t["name"] for t in c.request("msvm/scd")["programs"][0]["tensors"]]
    assert c.request("msvm/history")["step_s"] == 1
    program = c.request("msvm/state")["programs"][0]["id"]
    assert c.request("msvm/bytecode", program=program)["lines"]
    assert c.request("msvm/act", action="clear_cache", body={"program": program}) == {"status": "done"}
    with pytest.raises(RefusedError, match="there is no action"):
        c.request("msvm/act", action="explode")


def test_completions(neck):
    c, thread = neck
    until(c, thread, "OP_CALL")
    frame = c.frames(thread)[0]["id"]

    def labels(text, column=None):
        return {
            t["label"]
            for t in c.request("completions", text=text, column=len(text) + 1 if column is None else column, frameId=frame)["targets"]
        }

    assert {"R0", "R4"} <= labels("R") and any(x.startswith("shape") for x in labels("sha"))
    assert "ms.vm.jit_info()" in labels("ms.vm.j") and "ms.vm.memory()" not in labels("ms.vm.j")
    (row,) = [t for t in c.request("completions", text="2 + sha", column=8, frameId=frame)["targets"] if t["label"].startswith("shape")]
    assert row["start"] == 4 and row["length"] == 3
    assert labels("", 1)


def test_set_variable(module):
    c, _ = module(SUM, stopOnEntry=True, ranges=["n=5:5"])
    thread = c.stopped("entry")["threadId"]
    c.step("next", thread)
    scope = c.scopes(c.frames(thread)[0]["id"])["Registers"]
    assert c.request("setVariable", variablesReference=scope, name="R0", value="7")["value"] == "7"
    assert registers(c, thread)["R0"]["value"] == "7"
    for name, value in (("R0", "many"), ("R0", ""), ("R77", "1"), ("x", "1"), ("R0", "99999999999999999999"), ("R2", "1")):
        with pytest.raises(RefusedError, match="setVariable: "):
            c.request("setVariable", variablesReference=scope, name=name, value=value)
    symbols = c.scopes(c.frames(thread)[0]["id"])["Symbols"]
    with pytest.raises(RefusedError, match="can't be changed"):
        c.request("setVariable", variablesReference=symbols, name="N", value="1")
    c.resume(thread)
    assert c.ended() == 0 and "output 0: 21" in c.output()


def test_sizes_that_are_proved_stay(neck):
    c, thread = neck
    until(c, thread, "TENSOR_VIEW")
    scope = c.scopes(c.frames(thread)[0]["id"])["Registers"]
    with pytest.raises(RefusedError, match="setVariable: "):
        c.request("setVariable", variablesReference=scope, name="R2", value="1000000")


def test_status(neck):
    c, thread = neck
    status = c.request("msvm/status", threadId=thread)
    assert status == {"text": "MS-VM: BC-Interpreter Mode", "mode": "interpreter", "signature": "", "address": "0x0", "running": False}
    assert c.event("msvm/status", where=lambda b: not b["running"])
    c.request("stepOut", threadId=thread)
    c.ended()


# --- what goes wrong ----------------------------------------------------------------------------------------------------------


def test_shape_mismatch(module):
    c, _ = module(ADD, shapes=["x=2x3", "y=2x4", "z=2"], filters=["failure"])
    thread = c.stopped("exception")["threadId"]
    info = c.request("exceptionInfo", threadId=thread)
    assert info["exceptionId"] == "failure" and info["breakMode"] == "always"
    assert "3" in info["description"] and "4" in info["description"] and "y" in info["details"]["message"]
    assert info["fix"] and info["fix"] in info["description"]
    c.resume(thread)
    assert c.ended() == 1
    assert "error: " in c.output("stderr")


def test_failures_without_the_filter(module):
    c, _ = module(ADD, shapes=["x=2x3", "y=2x4", "z=2"], filters=[])
    assert c.ended() == 1 and c.named("stopped") == []


def test_nan(module):
    c, _ = module(ROOT, shapes=["x=8"], ranges=["x=-2:-1"], filters=["nan"])
    thread = c.stopped("exception")["threadId"]
    assert "NaN" in c.request("exceptionInfo", threadId=thread)["description"]
    assert opcode(c, thread) == "OP_CALL"
    frame = c.frames(thread)[0]["id"]
    assert c.evaluate("any_nan(R1)", frame)["result"] == "true"
    assert c.request("msvm/tensor", threadId=thread, expression="R1")["values"] == ["NaN"] * 8
    c.request("setExceptionBreakpoints", filters=[])
    c.resume(thread)
    assert c.ended() == 0


def test_no_exception_to_tell_of(neck):
    c, thread = neck
    with pytest.raises(RefusedError, match="doesn't wait for something that failed"):
        c.request("exceptionInfo", threadId=thread)


def test_unknown_filters(neck):
    c, _ = neck
    rows = c.request("setExceptionBreakpoints", filters=["nan", "luck"], filterOptions=[{"filterId": "fallback"}])["breakpoints"]
    assert [r["verified"] for r in rows] == [True, False, True] and "failure, fallback, nan" in rows[1]["message"]


def test_verification_fails(client, tmp_path):
    path = written(tmp_path, "refused.msasm", REFUSED)
    with pytest.raises(RefusedError, match=r"launch: [\s\S]*\[MSV0301\]"):
        client.start(program=str(path), shapes=["x=2"])
    (said,) = client.named("msvm/verificationFailed")
    assert said["name"] == str(path)
    (finding,) = said["diagnostics"]
    assert re.fullmatch(r"MSV\d{4}", finding["code"]) and finding["message"] and finding["line"] == 8
    # the same session can launch something else
    written(tmp_path, "good.msasm", SUM)
    client.send("launch", {"program": str(tmp_path / "good.msasm"), "ranges": ["n=3:3"]})
    client.event("initialized")
    client.request("configurationDone")
    assert client.ended() == 0


def test_a_text_that_isnt_one(client, tmp_path):
    path = written(tmp_path, "broken.msasm", SUM.replace("SHAPE_CALC add", "SHAPE_CALC plus").replace("JUMP b1", "JUMP b9"))
    with pytest.raises(RefusedError, match=r"broken\.msasm"):
        client.start(program=str(path))
    (said,) = client.named("msvm/verificationFailed")
    assert said["diagnostics"] and all(d["line"] for d in said["diagnostics"])


@pytest.mark.parametrize(
    "arguments, says",
    [
        ({"program": "nowhere.msbc"}, "nowhere.msbc"),
        ({"program": ""}, "program: expected the path"),
        ({}, "program: expected a string, found nothing"),
        ({"program": "neck.msasm"}, "--shape x=SIZES"),
        ({"program": "neck.msasm", "shapes": ["x=1x2"]}, None),  # of another rank: that the run says
        ({"program": "neck.msasm", "shapes": ["q=1x2"]}, "no input q"),
        ({"program": "neck.msasm", "shapes": ["x=1x8x4x4"], "function": "other"}, 'expected one of forward, found "other"'),
        ({"program": "neck.msasm", "inputs": {"x": "nowhere.npy"}}, "nowhere.npy"),
        ({"program": "neck.msasm", "cwd": "/nowhere"}, "cwd: /nowhere"),
        ({"program": "neck.msasm", "native": "fast"}, 'native: expected "stepDown" or "stay", found "fast"'),
    ],
)
def test_launches_that_fail(client, tmp_path, arguments, says):
    written(tmp_path, "neck.msasm", NECK)
    client.initialize()
    answer = client.response(client.send("launch", {"cwd": str(tmp_path), **arguments}))
    if says is None:
        assert answer["success"]
        client.request("configurationDone")
        assert "found f32[1, 2]" in client.stopped("exception")["text"]
    else:
        assert not answer["success"] and says in answer["message"], answer


# --- the same results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["steps", "breakpoint", "nobody"])
def test_the_same_bits_with_the_debugger(client, tmp_path, environment, how):
    import os
    import subprocess

    from client import MSVM

    path = written(tmp_path, "neck.msasm", NECK)
    subprocess.run(
        [MSVM, "run", path, "-s", "x=2x8x4x12", "-n", "1", "-o", tmp_path / "alone.npy"],
        check=True,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
    )
    client.start(
        program=str(path),
        cwd=str(tmp_path),
        shapes=["x=2x8x4x12"],
        output="debugged.npy",
        stopOnEntry=how != "nobody",
        noDebug=how == "nobody",
    )
    if how == "steps":
        thread = client.stopped("entry")["threadId"]
        for _ in range(7):
            client.step("stepIn", thread)
            client.request("msvm/registers", threadId=thread)
        client.resume(thread)
    elif how == "breakpoint":
        thread = client.stopped("entry")["threadId"]
        client.breakpoints(BC, [line_with(client, "TENSOR_FREE")])
        client.resume(thread)
        client.stopped("breakpoint")
        client.resume(thread)
    assert client.ended() == 0
    assert (tmp_path / "alone.npy").read_bytes() == (tmp_path / "debugged.npy").read_bytes()


# --- disassembly --------------------------------------------------------------------------------------------------------------


def test_disassembly(neck):
    c, thread = neck
    c.step("next", thread)
    here = c.frames(thread)[0]["instructionPointerReference"]

    def rows(**more):
        return c.request("disassemble", memoryReference=here, **more)["instructions"]

    whole = rows(instructionOffset=-1, instructionCount=8)
    assert [r["presentationHint"] for r in whole] == ["normal"] * 8
    assert (
        whole[0]["address"] == "0x0"
        and "TENSOR_CREATE" in whole[0]["instruction"]
        and whole[0]["symbol"] == "@forward"
        and "RETURN" in whole[7]["instruction"]
    )
    assert whole[1]["address"] == here
    around = rows(instructionOffset=-50, instructionCount=100)
    assert len(around) == 100 and [r["presentationHint"] for r in around] == ["invalid"] * 49 + ["normal"] * 8 + ["invalid"] * 43
    assert [r["instruction"] for r in around[49:57]] == [r["instruction"] for r in whole]
    assert whole[0]["location"]["path"].endswith("module.msasm") and [r["line"] for r in whole] == list(range(7, 15))
    assert rows(instructionCount=0) == []
    assert len(c.request("disassemble", memoryReference="0x7700000000", instructionCount=5)["instructions"]) == 5
    assert len(rows(instructionOffset=2**31 - 1, instructionCount=3)) == 3
    middle = c.request("disassemble", memoryReference=here, offset=1, instructionCount=1)["instructions"]  # within it
    assert middle[0]["address"] == here
