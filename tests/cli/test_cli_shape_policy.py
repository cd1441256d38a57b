"""--shape-policy and --save-shape-policy: what the adaptive mode has learnt goes from one process to the next."""

import json
import re

STREAM = ";".join(f"x={n}x6 y=6" for n in [3, 5] * 60)
ADAPTIVE = ("--cache-mode", "adaptive", "--no-code-cache", "--tier", "2")


def test_saved_and_loaded(msvm_cli, add, tmp_path):
    done = msvm_cli("run", add, "--stream", STREAM, "-n", "2", *ADAPTIVE, "--save-shape-policy", "policy.json")
    assert done.code == 0, done.err
    policy = json.loads((tmp_path / "policy.json").read_text())
    assert policy["format"] == "msvm shape policy" and policy["version"] == 1
    (region,) = policy["regions"]
    assert region["function"] == "main" and region["symbols"]
    assert sum(s["weight"] for s in region["sizes"]) > 50
    # A box of sizes that don't come is there because the policy says so.
    region["boxes"] = [{"box": {region["symbols"][0]: 77}, "weight": 100, "saving": 0.1}]
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    stream = ("-s", "x=3x6", "-s", "y=6", "-n", "3", "--jit-info")
    found = r"_N77_"  # an entry that no run asked for
    with_policy = msvm_cli("run", add, *stream, *ADAPTIVE, "--shape-policy", "policy.json")
    assert with_policy.code == 0 and re.search(found, with_policy.out), with_policy.out + with_policy.err
    assert not re.search(found, msvm_cli("run", add, *stream, *ADAPTIVE).out)


def test_errors(msvm_cli, add, tmp_path):
    run = ("run", add, "-s", "x=2x3", "-s", "y=3")
    done = msvm_cli(*run, "--shape-policy", "none.json", "--cache-mode", "adaptive")
    assert done.code != 0 and "shape policy none.json: the file can't be read" in done.err
    (tmp_path / "old.json").write_text('{"format": "msvm shape policy", "version": 7, "program": "p", "regions": []}')
    done = msvm_cli(*run, "--shape-policy", "old.json", "--cache-mode", "adaptive")
    assert done.code != 0 and "shape policy old.json: version: expected 1, found 7" in done.err
    done = msvm_cli(*run, "--shape-policy", "old.json")
    assert done.code != 0 and re.search("cache_mode is exact", done.err)
    done = msvm_cli(*run, "--save-shape-policy", "p.json")
    assert done.code != 0 and "only adaptive learns one" in done.err
