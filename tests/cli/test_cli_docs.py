"""docs/cli.md, docs/optimizer.md, docs/disassembly.md: their commands are run and print what they say; `...` stands for anything."""

import os
import re
import subprocess

import pytest
from command import MSVM, ROOT

PAGE = ROOT / "docs/cli.md"


@pytest.mark.parametrize("page, least", [("cli.md", 10), ("optimizer.md", 1), ("disassembly.md", 1), ("debugging.md", 1)])
def test_examples(tmp_path, page, least):
    text = (ROOT / "docs" / page).read_text()
    for name, content in re.findall(r"```msasm (\S+)\n(.*?)```", text, re.S):
        (tmp_path / name).write_text(content)
    (tmp_path / "bin").mkdir()
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "bin/msvm").symlink_to(MSVM)
    env = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "MSVM_NUM_THREADS": "2",
        "MSVM_CACHE_DIR": str(tmp_path / "code"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }
    count = 0
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, expected = step.split("\n", 1)
            p = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
                check=False,
            )
            assert p.returncode == 0, (command, p.stdout)
            pattern = r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*") for word in expected.split())
            assert re.fullmatch(r"\s*" + pattern + r"\s*", p.stdout, re.S), (command, p.stdout)
            count += 1
    assert count >= least


def test_every_pass_is_there(msvm_cli, add):
    section = (ROOT / "docs/optimizer.md").read_text().split("## The passes")[1].split("\n## ")[0]
    table = re.findall(r"^\| `(\w+)` \|", section, re.M)
    names = msvm_cli("opt", add, "--passes", "tidy").err.split("there are ")[1]
    assert names.strip().split(", ") == table


def test_every_option_is_there(msvm_cli):
    text = PAGE.read_text()
    for command in (
        "run",
        "import-onnx",
        "opt",
        "verify",
        "asm",
        "dis",
        "info",
        "scd",
        "cap dump",
        "jit-info",
        "explain",
        "compile",
        "monitor",
        "report",
        "debug",
        "dap",
        "cache list",
    ):
        for option in re.findall(r"^ .*?(--[a-z-]+)", msvm_cli(*command.split(), "--help").out, re.M):
            assert option in text or option == "--help" or (option == "--output" and "`-o" in text), (command, option)
