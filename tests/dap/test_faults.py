"""The three programs of examples/faults: what is wrong can be read from what the debugger shows, as docs/faults.md tells."""

from pathlib import Path

FAULTS = Path(__file__).resolve().parents[2] / "examples/faults"


def start(client, name, **arguments):
    client.start(program=str(FAULTS / f"{name}.msasm"), stopOnEntry=True, **arguments)
    return client.stopped("entry")["threadId"]


def registers(client, thread):
    return {r["reg"]: r for r in client.request("msvm/registers", threadId=thread, count=100)["registers"]}


def to_call(client, thread, operator):
    """At the next OP_CALL of the operator: what goes into it."""
    for _ in range(60):
        call = client.request("msvm/call", threadId=thread)
        if call and call.get("op") == operator:
            return call
        client.step("next", thread)
    raise AssertionError(f"no {operator} came")


def test_broken_binding(client):
    thread = start(client, "broken_binding", shapes=["picture=1x3x48x64"])
    call = to_call(client, thread, "Resize")
    seen = registers(client, thread)
    height, width = seen["R5"]["shape"][2:]
    assert (height["value"], width["value"]) == (96, 96)  # of a picture of 48 by 64
    assert (width["symbol"], seen["R4"]["name"]) == ("R4", "out_width")  # twice R2,
    assert (seen["R2"]["name"], seen["R2"]["value"]) == ("width", "48")  # which holds the height:
    assert 'R2 "width" = SHAPE_PROPAGATE R0, 2' in client.request("msvm/listing", program=0)["text"]
    assert [d["value"] for d in call["inputs"][0]["shape"]] == [1, 3, 48, 64]


def test_wrong_phi(client):
    thread = start(client, "wrong_phi", shapes=["rows=3x4"])
    totals, added = [], []
    for _ in range(3):
        to_call(client, thread, "Add")
        client.step("next", thread)
        seen = registers(client, thread)
        assert seen["R6"]["changed"] and not seen["R3"]["changed"]
        totals.append(client.request("msvm/tensor", threadId=thread, expression="R3")["values"])
        added.append(client.request("msvm/tensor", threadId=thread, expression="R6")["values"])
    assert totals == [[0, 0, 0, 0]] * 3  # what the loop carries never becomes what it has added
    assert all(any(row) for row in added)
    listing = client.request("msvm/listing", program=0)["text"]
    assert "b2: R3]" in next(line for line in listing.splitlines() if "TENSOR_PHI" in line)


def test_missing_propagation(client):
    thread = start(client, "missing_propagation", shapes=["features=1x8x16x16"])
    [program] = client.request("msvm/scd")["programs"]
    up = next(t for t in program["tensors"] if t["name"] == "up")
    assert up["scd"] == 0 and "neck.py:5" in up["reason"] and up["mend"]
    to_call(client, thread, "Sigmoid")
    symbols = [d["symbol"] for d in registers(client, thread)["R1"]["shape"]]
    assert symbols[2:] == ["P", "Q"]  # fresh ones: nothing says that they are 2*H and 2*W
