"""completion: what the shells offer."""

import os
import shutil
import subprocess

import pytest
from command import MSVM


def offered(msvm_cli, *words):
    done = msvm_cli("__complete", "--", *words)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    return {line.split("\t")[0] for line in lines if line != ":files"}, ":files" in lines


def test_commands(msvm_cli):
    names, files = offered(msvm_cli, "")
    assert {"run", "verify", "trace", "jit-info", "completion"} <= names and "__complete" not in names and not files
    assert offered(msvm_cli, "jit") == ({"jit-info"}, False)
    assert offered(msvm_cli, "trace", "su") == ({"summary"}, False)


def test_options_and_their_values(msvm_cli):
    names, files = offered(msvm_cli, "run", "--ca")
    assert "--cache-mode" in names and not files
    assert offered(msvm_cli, "run", "model.onnx", "--cache-mode", "") == ({"exact", "bucket", "adaptive"}, False)
    assert offered(msvm_cli, "run", "--cache-mode", "b") == ({"bucket"}, False)
    assert "--json" in offered(msvm_cli, "verify", "x.msasm", "--j")[0]


def test_programs_are_files(msvm_cli):
    assert offered(msvm_cli, "run", "") == (set(), True)
    assert offered(msvm_cli, "asm", "x.msasm", "-o", "") == (set(), True)


@pytest.mark.parametrize("words", [["no-such-command", ""], ["run", "--no-such-option", ""], ["run", "a", "b", "c", "--"], ["=", "\n"], []])
def test_what_is_not_understood_is_no_error(msvm_cli, words):
    assert msvm_cli("__complete", "--", *words).code == 0


def test_each_candidate_says_what_it_does(msvm_cli):
    for line in msvm_cli("__complete", "--", "").out.splitlines():
        assert line.split("\t")[1], line


ASK = {
    "bash": 'eval "$(msvm completion bash)"; COMP_WORDS=(msvm run --cache-mode ""); COMP_CWORD=3; _msvm; printf "%s\\n" "${COMPREPLY[@]}"',
    "zsh": "compdef() { :; }; _describe() { shift 2; print -l ${(P)1%%:*}; }"
    '; eval "$(msvm completion zsh)"; words=(msvm run --cache-mode ""); CURRENT=4; _msvm',
    "fish": 'msvm completion fish | source; complete -C "msvm run --cache-mode "',
}


@pytest.mark.parametrize("shell", ASK)
def test_in_the_shell_itself(shell, tmp_path):
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"no {shell} here")
    env = {**os.environ, "PATH": f"{MSVM.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *flags, "-c", ASK[shell]], capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path, check=False
    )
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {"exact", "bucket", "adaptive"}, done.stderr


def test_another_shell_is_refused(msvm_cli):
    done = msvm_cli("completion", "csh")
    assert done.code == 2 and "bash" in done.err
