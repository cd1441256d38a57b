import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.extend(str(ROOT / part) for part in ("build/release/python", "tests/python"))


@dataclass
class Done:
    """A finished command: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def msvm_cli(tmp_path):
    """Runs `msvm ARGS` in the test's own folder."""

    from command import MSVM

    def run(*args, stdin="", env=None):
        p = subprocess.run(
            [MSVM, *map(str, args)],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            errors="replace",
            env={**os.environ, "MSVM_NUM_THREADS": "1", "MSVM_CACHE_DIR": str(tmp_path / "code"), **(env or {})},
        )
        assert p.returncode in (0, 1, 2, 3), (args, p.returncode, p.stderr)
        if p.returncode != 0:
            assert p.stderr.strip() or "--json" in args, f"{args}: exit code {p.returncode} without a word"
        return Done(p.returncode, p.stdout, p.stderr)

    return run


@pytest.fixture
def add(tmp_path):
    from programs import ADD

    (tmp_path / "add.msasm").write_text(ADD)
    return "add.msasm"


@pytest.fixture
def relu(tmp_path):
    from programs import relu_add

    (tmp_path / "relu.onnx").write_bytes(relu_add().SerializeToString())
    return "relu.onnx"
