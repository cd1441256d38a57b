"""Every request with every argument missing, of a wrong kind, or hostile: one answer each, and the session goes on."""

import pytest
from modules import NECK, written

THREAD, FRAME, SCOPE = "thread", "frame", "scope"  # stand for numbers of the session

# request -> (arguments that are understood, those that it needs)
REQUESTS = {
    "setBreakpoints": (
        {"source": {"path": "msvm://bc/0x0"}, "breakpoints": [{"line": 9, "condition": "1 == 1", "hitCondition": "2", "logMessage": "m"}]},
        {"source", "source.path", "breakpoints.0.line"},
    ),
    "setFunctionBreakpoints": ({"breakpoints": [{"name": "Resize", "condition": "1 == 2"}]}, {"breakpoints.0.name"}),
    "setInstructionBreakpoints": (
        {"breakpoints": [{"instructionReference": "0x0", "offset": 0, "condition": "1 == 2"}]},
        {"breakpoints.0.instructionReference"},
    ),
    "setExceptionBreakpoints": ({"filters": ["nan"], "filterOptions": [{"filterId": "nan"}]}, {"filterOptions.0.filterId"}),
    "breakpointLocations": ({"source": {"path": "msvm://bc/0x0"}, "line": 1, "endLine": 5}, {"source", "source.path", "line"}),
    "threads": ({}, set()),
    "exceptionInfo": ({"threadId": THREAD}, {"threadId"}),
    "stackTrace": ({"threadId": THREAD, "startFrame": 0, "levels": 2}, {"threadId"}),
    "scopes": ({"frameId": FRAME}, {"frameId"}),
    "source": ({"source": {"path": "msvm://bc/0x0"}, "sourceReference": 0}, {"source", "source.path"}),
    "loadedSources": ({}, set()),
    "variables": ({"variablesReference": SCOPE, "start": 0, "count": 2, "filter": "named"}, {"variablesReference"}),
    "setVariable": ({"variablesReference": SCOPE, "name": "R1", "value": "1"}, {"variablesReference", "name", "value"}),
    "evaluate": ({"expression": "N", "frameId": FRAME, "context": "watch"}, {"expression"}),
    "completions": ({"text": "sh", "column": 3, "frameId": FRAME}, {"text", "column"}),
    "readMemory": ({"memoryReference": "0x10", "offset": 0, "count": 8}, {"memoryReference", "count"}),
    "disassemble": (
        {"memoryReference": "0x0", "offset": 0, "instructionOffset": 0, "instructionCount": 4, "resolveSymbols": True},
        {"memoryReference", "instructionCount"},
    ),
    "msvm/listing": ({"address": "0x0"}, set()),
    "msvm/registers": ({"threadId": THREAD, "first": 0, "count": 4}, set()),
    "msvm/buffers": ({"threadId": THREAD}, set()),
    "msvm/call": ({"threadId": THREAD}, set()),
    "msvm/tensor": ({"threadId": THREAD, "expression": "R0", "slice": "0", "max": 3}, {"expression"}),
    "msvm/saveTensor": ({"threadId": THREAD, "expression": "R0", "slice": "", "path": "saved.npy"}, {"expression", "path"}),
    "msvm/status": ({"threadId": THREAD}, set()),
    "msvm/stopAtNextRun": ({"threadId": THREAD, "on": True}, set()),
    "msvm/startHostDebugger": ({"port": 1, "token": "t"}, {"port", "token"}),
    "msvm/versions": ({}, set()),
    "msvm/state": ({}, set()),
    "msvm/history": ({}, set()),
    "msvm/scd": ({}, set()),
    "msvm/jitInfo": ({}, set()),
    "msvm/memory": ({}, set()),
    "msvm/disassembly": ({"program": 1, "function": 0, "region": 0, "entry": "none"}, {"program"}),
    "msvm/bytecode": ({"program": 1}, {"program"}),
    "msvm/act": ({"action": "nothing", "body": {}}, {"action"}),
    "msvm/loadCapabilityPatch": ({"path": "nowhere.json"}, {"path"}),
}
CONTROL = ("continue", "next", "stepIn", "stepOut", "pause")

HOSTILE = (
    None,
    True,
    "",
    "x",
    "\u0000",
    "ü" * 50_000,
    -1,
    0,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63),
    1e308,
    1.5,
    [],
    [[]],
    [None],
    {},
    {"path": 7},
    [{"line": 1e300}],
    {"path": "msvm://bc/0xzz"},
    {"path": "msvm://bc/0xffffffffffffffff"},
)
FREE_TEXT = {
    "condition",
    "hitCondition",
    "logMessage",
    "name",
    "value",
    "expression",
    "text",
    "slice",
    "path",
    "entry",
    "action",
    "context",
    "filters",
    "filterId",
}


def paths(value, at=()):
    """Each place in a value: ("breakpoints", 0, "line"), ..."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from paths(inner, (*at, key))


def changed(value, path, fresh):
    """A copy with another value at a place; ``...`` takes it out."""
    if len(path) == 1:
        copy = value.copy()
        if fresh is ...:
            del copy[path[0]]
        else:
            copy[path[0]] = fresh
        return copy
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], fresh)
    return copy


@pytest.fixture
def waiting(client, tmp_path):
    """(client, what makes stand-ins numbers), after the first instruction of a program."""
    path = written(tmp_path, "neck.msasm", NECK)
    client.start(program=str(path), cwd=str(tmp_path), stopOnEntry=True, shapes=["x=1x8x4x4"])
    thread = client.stopped("entry")["threadId"]
    client.step("next", thread)

    def real(value):
        if isinstance(value, dict):
            return {k: real(v) for k, v in value.items()}
        if isinstance(value, list):
            return [real(v) for v in value]
        if value == THREAD:
            return thread
        if value in (FRAME, SCOPE):
            frame = client.frames(thread)[0]["id"]
            return frame if value == FRAME else client.scopes(frame)["Registers"]
        return value

    return client, real


def answered(client, command, arguments):
    """The answer; what isn't a success says why."""
    answer = client.response(client.send(command, arguments), timeout=30)
    assert answer["command"] == command
    if not answer["success"]:
        assert answer["message"].startswith(f"{command}: ") and len(answer["message"]) < 12_000, answer
        assert answer["body"]["error"]["variables"]["text"] == answer["message"]
    return answer


def test_the_list_is_whole(client):
    import re
    from pathlib import Path

    table = (Path(__file__).resolve().parents[2] / "src/observe/dap/requests.def").read_text()
    names = set(re.findall(r'MSVM_REQUEST\("([^"]+)"', table))
    assert names == set(REQUESTS) | set(CONTROL) | {"initialize", "launch", "attach", "configurationDone", "terminate", "disconnect"}


@pytest.mark.parametrize("command", REQUESTS)
def test_every_argument(waiting, command):
    c, real = waiting
    good, needed = REQUESTS[command]
    if command not in (
        "exceptionInfo",
        "msvm/disassembly",
        "msvm/act",
        "msvm/loadCapabilityPatch",
        "msvm/startHostDebugger",
        "setVariable",
    ):  # those have nothing to do here
        assert answered(c, command, real(good))["success"], command
    for path in paths(good):
        name = ".".join(map(str, path))
        answer = answered(c, command, changed(real(good), path, ...))
        if name in needed:
            assert not answer["success"] and str(path[-1]) in answer["message"] and "expected" in answer["message"], (name, answer)
        for value in HOSTILE:
            arguments = changed(real(good), path, value)
            answer = answered(c, command, arguments)
            same_kind = isinstance(value, str) if path[-1] in FREE_TEXT else isinstance(value, (int, float)) and not isinstance(value, bool)
            if name in needed and value is not None and not same_kind and not isinstance(value, (str, list, dict)):
                assert not answer["success"] and "expected" in answer["message"] and "found" in answer["message"], (name, value, answer)
    for arguments in ([], "text", 3, True):
        c.seq += 1
        import json

        body = json.dumps({"seq": c.seq, "type": "request", "command": command, "arguments": arguments}).encode()
        c.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        answer = c.response(c.seq)
        assert not answer["success"] and "expected an object" in answer["message"]
    assert c.frames(real(THREAD))  # it still waits, and answers


@pytest.mark.parametrize("command", CONTROL)
def test_control_of_threads_that_arent_there(waiting, command):
    c, real = waiting
    for value in (None, "x", -1, 2**31, 2**63, 1.5, [], {}, 12345, *(() if command == "pause" else (0,))):
        answer = answered(c, command, {"threadId": value})
        assert not answer["success"] and "thread" in answer["message"], (value, answer)
    if command in ("next", "stepIn", "stepOut"):
        assert "granularity" in answered(c, command, {"threadId": real(THREAD), "granularity": "eon"})["message"]
    assert c.frames(real(THREAD))
    assert len(c.named("stopped")) == 2 and c.named("continued") == []


def test_what_comes_too_early_or_twice(client, tmp_path):
    path = written(tmp_path, "neck.msasm", NECK)

    def says(command, text, **arguments):
        answer = answered(client, command, arguments)
        assert not answer["success"] and text in answer["message"], answer

    says("launch", "expected initialize first", program=str(path))
    says("threads", "expected initialize first")
    client.initialize()
    says("initialize", "initialised already")
    says("threads", "expected launch or attach first")
    says("configurationDone", "expected launch or attach first")
    assert client.request("msvm/versions")["dap"] == 1
    client.send("launch", {"program": str(path), "shapes": ["x=1x8x4x4"], "stopOnEntry": True})
    client.event("initialized")
    says("launch", "has a program already", program=str(path))
    says("attach", "has a program already")
    client.request("configurationDone")
    says("configurationDone", "done already")
    answer = client.response(client.send("flyToTheMoon"))
    assert not answer["success"] and 'no request "flyToTheMoon"' in answer["message"]
    client.stopped("entry")


@pytest.mark.parametrize("arguments", [{"linesStartAt1": 1}, {"columnsStartAt1": "no"}, {"pathFormat": "uri"}, {"pathFormat": 3}])
def test_initialize(client, arguments):
    answer = answered(client, "initialize", arguments)
    assert not answer["success"] and next(iter(arguments)) in answer["message"]
    assert client.initialize()["supportsDisassembleRequest"] is True


def test_counting_from_zero(client, tmp_path):
    path = written(tmp_path, "neck.msasm", NECK)
    client.request("initialize", adapterID="msvm", linesStartAt1=False, columnsStartAt1=False)
    client.send("launch", {"program": str(path), "shapes": ["x=1x8x4x4"], "stopOnEntry": True})
    client.event("initialized")
    client.request("configurationDone")
    thread = client.stopped("entry")["threadId"]
    frame = client.frames(thread)[0]
    listing = client.request("msvm/listing")
    assert "TENSOR_CREATE" in listing["text"].splitlines()[frame["line"]] and frame["column"] == 0
    assert listing["lines"][0]["line"] == frame["line"]
    line = next(k for k, x in enumerate(listing["text"].splitlines()) if "OP_CALL" in x)
    (row,) = client.breakpoints("msvm://bc/0x0", [line])
    assert row["line"] == line and row["verified"]
    assert {t["label"] for t in client.request("completions", text="ms.vm.j", column=7)["targets"]} == {"ms.vm.jit_info()"}


@pytest.mark.parametrize(
    "name",
    [
        "program",
        "args",
        "cwd",
        "env",
        "python",
        "stopOnEntry",
        "inputs",
        "shapes",
        "ranges",
        "function",
        "output",
        "runs",
        "seed",
        "optimize",
        "native",
        "noDebug",
    ],
)
def test_launch_arguments(client, tmp_path, name):
    path = written(tmp_path, "neck.msasm", NECK)
    client.initialize()
    for value in (3.5, {"a": 1}, [1], [None], -1):
        answer = answered(client, "launch", {"program": str(path), "shapes": ["x=1x8x4x4"], name: value})
        assert not answer["success"] and name in answer["message"] and "found" in answer["message"], (value, answer)
    assert answered(client, "launch", {"program": str(path), "shapes": ["x=1x8x4x4"]})["success"]
