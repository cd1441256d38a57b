"""The stubs: what type checkers know of a user's file, and that the written files are those that the tables give."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import msvm

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("typed") / "user.py"
sys.path.append(str(ROOT / "tools"))

WRONG = {
    'f("a", 3)': "arg-type",
    "f(x, sclae=2.0)": "call-arg",
    "f(x).foo": "attr-defined",
    "net(x, x)": "call-arg",
    "ms.typo": "attr-defined",
    "ms.ops.reluu": "attr-defined",
    "ms.nn.Denes": "attr-defined",
    "x + object()": "operator",
    "x.summ()": "attr-defined",
    "x.sum(axes=1)": "call-arg",
    "ms.ops.relu()": "call-arg",
    "wrong: str = ms.ops.relu(x)": "assignment",
    "x.sum() + ms": "operator",
}
"""Lines that a checker must refuse, with the code of the error."""


def names() -> list[str]:
    """Lines that use every public name."""
    from msvm import nn, ops, vm

    lines = [f"ms.{n}" for n in msvm.__all__]
    lines += [f"assert_type(ms.{t.name}, ms.DType)" for t in msvm.DTYPES if t.name not in ("bool", "string")]
    for name, public in (("ops", dir(ops)), ("nn", nn.__all__), ("vm", vm.__all__)):
        lines += [f"ms.{name}.{n}" for n in public]
    return lines


def test_a_user_s_file(tmp_path):
    pytest.importorskip("mypy")
    lines = [*USER.read_text().splitlines(), *names()]
    first = len(lines) + 1
    lines += WRONG
    (tmp_path / "user.py").write_text("\n".join(lines) + "\n")
    package = tmp_path / "package"
    package.mkdir()
    (package / "msvm").symlink_to(ROOT / "python/msvm")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "user.py"]
    environment = {**os.environ, "MYPYPATH": str(package), "MYPY_CACHE_DIR": str(tmp_path / "cache")}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    errors = [line for line in found.stdout.splitlines() if ": error: " in line]
    got = {int(line.split(":")[1]): line for line in errors}
    assert found.stderr == "" and len(got) == len(errors), found.stdout + found.stderr
    for k, (line, code) in enumerate(WRONG.items(), first):
        assert f"[{code}]" in got.pop(k, "nothing"), f"{line}: {found.stdout}"
    assert got == {}


def test_the_written_files_are_those_of_the_tables():
    import gen_python_stubs

    for path, text in gen_python_stubs.stubs().items():
        assert path.read_text() == text, f"{path}: write it anew with tools/gen_python_stubs.py"
        ast.parse(text)


def test_the_tables_of_the_stubs_name_functions_and_methods():
    import gen_python_stubs as g

    from msvm import _methods, ops

    assert {*g.RETURNS, *g.FLAGS, *g.ANY, *g.ELSEWHERE} <= set(ops.__all__)
    assert set(g.METHODS) <= set(_methods._methods())
