"""docs/custom_operators.md: its Python examples run, its C example compiles."""

import re
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/custom_operators.md"


def blocks(language):
    """At the lines where they stand."""
    text = PAGE.read_text()
    return ["\n" * text.count("\n", 0, m.start(1)) + m[1] for m in re.finditer(rf"```{language}\n(.*?)```", text, re.S)]


def test_python_examples(capsys):
    found = blocks("python")
    assert len(found) == 3
    names: dict = {}
    for block in found:
        exec(compile(block, str(PAGE), "exec"), names)
    assert capsys.readouterr().out == "rows: 4\n"
    names.clear()  # its functions stay registered, and with them their globals


def test_c_example(tmp_path):
    (source,) = blocks("c")
    (tmp_path / "k.c").write_text('#include "msvm/kernels/operator_c.h"\n' + source)
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    command += [f"-I{ROOT / 'src'}", "-c", tmp_path / "k.c", "-o", tmp_path / "k.o"]
    subprocess.run(command, check=True, timeout=60)
