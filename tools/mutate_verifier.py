#!/usr/bin/env python3
"""Switches off each rule of the verifier and shows that a test turns red.

For each row of src/msvm/verify/rules.def report.cpp is compiled without that rule and linked into the verifier's tests, which then
must fail. Needs a configured and built tree:  tools/mutate_verifier.py [--build build/dev] [RULE ...]
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Would notice any rule that no longer speaks; the point is that the tests of the rules themselves do.
FILTER = "-Rules.EachIsExercised"


def rules() -> list[str]:
    text = (ROOT / "src/msvm/verify/rules.def").read_text()
    return re.findall(r"^MSVM_RULE\((\w+),", text, re.MULTILINE)


def compile_command(build: Path) -> tuple[list[str], Path]:
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("src/msvm/verify/report.cpp"):
            return shlex.split(entry["command"]), Path(entry["directory"])
    sys.exit(f"{build}: no compile command for verify/report.cpp; configure it first")


def link_command(build: Path) -> list[str]:
    lines = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "verify_test"], check=True, capture_output=True, text=True).stdout
    line = lines.strip().splitlines()[-1]
    # ": && c++ ... -o src/verify_test ... && :"
    return shlex.split(line.removeprefix(": && ").removesuffix(" && :"))


def mutated_test_fails(rule: str, build: Path, folder: Path) -> str:
    """Empty if a test fails without the rule, else what went wrong."""
    command, directory = compile_command(build)
    source_object = folder / f"{rule}.o"
    command = [str(source_object) if command[i - 1] == "-o" else part for i, part in enumerate(command)]
    command.insert(len(command) - 2, f"-DMSVM_MUTATED_RULE={rule}")
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        return "doesn't compile:\n" + done.stderr[-500:]
    link = link_command(build)
    program = folder / f"{rule}_test"
    at = link.index("-o")
    link[at + 1] = str(program)
    link.insert(at, str(source_object))  # before the libraries: theirs isn't taken
    done = subprocess.run(link, cwd=build, capture_output=True, text=True)
    if done.returncode != 0:
        return "doesn't link:\n" + done.stderr[-500:]
    test = subprocess.run([str(program), f"--gtest_filter={FILTER}"], cwd=build, capture_output=True, text=True, timeout=300)
    program.unlink()
    return "" if test.returncode != 0 else "every test passes without it"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("rule", nargs="*", help="only these")
    args = parser.parse_args()
    build = args.build.resolve()
    wanted = args.rule or rules()
    if unknown := set(wanted) - set(rules()):
        sys.exit(f"no such rule: {', '.join(sorted(unknown))}")
    test = subprocess.run([str(build / "src/verify_test"), f"--gtest_filter={FILTER}"], capture_output=True, cwd=build)
    if test.returncode != 0:
        sys.exit("the tests fail with all rules in place; build verify_test first")
    bad = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        for rule, problem in zip(wanted, pool.map(lambda r: mutated_test_fails(r, build, Path(folder)), wanted), strict=False):
            bad += bool(problem)
            print(f"{'NOT NOTICED' if problem else 'noticed    '} {rule}{': ' + problem if problem else ''}", flush=True)
    print(f"{len(wanted) - bad} of {len(wanted)} rules: without it a test fails")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
