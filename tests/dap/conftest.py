import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/dap"))


@pytest.fixture
def environment(tmp_path):
    """Of a program: our module, one thread, a code cache and a run folder of the test's own."""
    for folder in ("code", "run"):
        (tmp_path / folder).mkdir(mode=0o700)
    return {
        "PYTHONPATH": str(ROOT / "build/release/python"),
        "MSVM_NUM_THREADS": "1",
        "MSVM_CACHE_DIR": str(tmp_path / "code"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }


@pytest.fixture
def client(environment):
    """Connected to an adapter that isn't initialised."""
    from client import Client

    with Client(env=environment) as c:
        yield c


@pytest.fixture
def launched(client, environment, tmp_path):
    """Launches a Python program from its text: (client, path). Breakpoints are marks, or rows with "line" a mark.

    ``client.said``: what setBreakpoints answered.
    """
    from python_programs import line_of, written

    def launch(text, *marks, name="program.py", filters=None, **arguments):
        path = written(tmp_path, name, text)
        rows = [{**m, "line": line_of(path, m["line"])} if isinstance(m, dict) else line_of(path, m) for m in marks]
        client.said = client.start(
            breakpoints={path: rows} if rows else None,
            filters=filters,
            program=str(path),
            python=sys.executable,
            **{"cwd": str(tmp_path), "env": environment, **arguments},
        )
        return client, path

    return launch
