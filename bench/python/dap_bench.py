"""ms of a step in the debugger with all that an editor shows then, of 10 000 instructions disassembled, of a launch.

PYTHONPATH=tests/dap build/venv/bin/python bench/python/dap_bench.py
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/dap"))
from client import Client


def network(calls: int) -> str:
    """A chain of calls, each in a buffer of its own."""
    lines = [
        'module "chain" version 1',
        "symbol N",
        "",
        "func @main(x: f32[N, 64]) -> (y: f32[N, 64])",
        "b0:",
        "  R0 = TENSOR_CREATE input 0",
    ]
    for k in range(1, calls + 1):
        lines += [f"  R{k} = TENSOR_ALLOC [N, 64], f32, CPU(0)", f"  OP_CALL Relu(R{k - 1}) -> R{k}"]
        lines += [f"  TENSOR_FREE R{k - 1}"] if k > 1 else []
    return "\n".join([*lines, f"  RETURN R{calls}", ""])


def ms(begin: float) -> float:
    """Since then."""
    return (time.perf_counter() - begin) * 1e3


def launched(folder: str, calls: int) -> tuple[Client, int, float]:
    """At the first instruction, and how long that took."""
    path = Path(folder) / f"chain{calls}.msasm"
    path.write_text(network(calls))
    client = Client()
    begin = time.perf_counter()
    client.start(program=str(path), shapes=["x=8x64"], stopOnEntry=True)
    thread = client.stopped("entry")["threadId"]
    return client, thread, ms(begin)


def views(client: Client, thread: int) -> None:
    """What VS Code and the extension ask for at each stop."""
    client.request("threads")
    frame = client.frames(thread)[0]
    scope = client.request("scopes", frameId=frame["id"])["scopes"][0]
    part = {"start": 0, "count": 100} if "indexedVariables" in scope else {}  # an editor unfolds such a list in parts
    client.request("variables", variablesReference=scope["variablesReference"], **part)
    client.request("msvm/registers", threadId=thread, first=0, count=16)
    client.request("msvm/buffers", threadId=thread)
    client.request("msvm/call", threadId=thread)
    client.request("msvm/status", threadId=thread)
    client.request("disassemble", memoryReference=frame["instructionPointerReference"], instructionOffset=-25, instructionCount=50)


def main() -> None:
    """Prints a line each."""
    with tempfile.TemporaryDirectory() as folder:
        for calls in (30, 1000):
            client, thread, launch = launched(folder, calls)
            with client:
                steps, all_of_it = [], []
                for _ in range(60):
                    begin = time.perf_counter()
                    client.step("next", thread)
                    steps.append(ms(begin))
                    views(client, thread)
                    all_of_it.append(ms(begin))
                size = f"{3 * calls} instructions: launch to entry {launch:.0f} ms"
                step = f"a step {statistics.median(steps):.2f} ms (max {max(steps):.2f})"
                print(f"{size}; {step}, with all views {statistics.median(all_of_it):.2f} ms (max {max(all_of_it):.2f}; < 30)")
        client, thread, launch = launched(folder, 4000)
        with client:
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                rows = client.request("disassemble", memoryReference="0x0", instructionOffset=0, instructionCount=10_000)["instructions"]
                times.append(ms(begin))
            assert len(rows) == 10_000 and rows[-1]["presentationHint"] == "normal"
            rest = statistics.median(times[1:])
            print(f"10 000 of 12 000 instructions: {times[0]:.0f} ms, again {rest:.0f} ms (< 300); launch to entry {launch:.0f} ms")


if __name__ == "__main__":
    main()
