"""Native code from the command line: jit-info, explain, compile and --bundle, cache, compilers that aren't there."""

import json
import os
import pty
import re
import subprocess

import pytest
from command import MSVM

CHAIN = """
module "chain" version 1
symbol N, H, W
func @main(x: f32[N, 3, H, W], y: f32[W]) -> (z: f32[N, 3, H, W])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Mul(R0, R1) -> R2                     ; model.py:3
  R3 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Exp(R2) -> R3                         ; model.py:4
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Add(R3, R0) -> R4                     ; model.py:5
  TENSOR_FREE R3
  R5 "z" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL MaxPool(R4) -> R5 {kernel_shape: [3, 3], pads: [1, 1, 1, 1]}   ; model.py:6
  TENSOR_FREE R4
  RETURN R5
"""
SHAPES = ("-s", "x=1x3x16x24", "-s", "y=24")
NO_COMPILER = {"MSVM_CC": "/nonexistent/msvm-cc"}

pytestmark = pytest.mark.skipif(not (MSVM.parent / "msvm-cc").exists(), reason="this build has no compiler")


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.msasm").write_text(CHAIN)
    return "chain.msasm"


def data(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_jit_info_as_json(msvm_cli, chain):
    j = data(msvm_cli("jit-info", chain, *SHAPES, "-n", "20", "--wait-for-code", "--no-code-cache", "--json"))
    (region,) = j["regions"]
    assert [(e["tier"], e["outcome"]) for e in region["entries"]] == [(2, "compiled"), (1, "compiled")]
    assert region["entries"][0]["box"] == "N*_H16_W24" and region["entries"][0]["alias"] == "jit_24x16"
    assert all(
        re.fullmatch(r"jit_cache_[0-9a-f]{8}_N.*", e["name"]) and e["code_bytes"] > 0 and e["compile_ms"] > 0 for e in region["entries"]
    )
    assert region["calls"] == 4 and region["fused_calls"] == 3 and len(region["fused"]) == 1
    assert "MaxPool (model.py:6)" in region["not_fused"][0]
    assert (
        sum(e["hits"] for e in region["entries"]) == region["native"] == j["native"] > j["specialised"] == region["entries"][0]["hits"] > 0
    )
    assert j["hit_rate"] == pytest.approx(j["native"] / j["runs"]) and j["specialised_hit_rate"] == pytest.approx(
        j["specialised"] / j["runs"]
    )
    assert j["window"]["runs"] == j["runs"]
    assert j["compiled"] == 2 and j["from_disk"] == j["failed"] == j["evicted"] == 0 and j["slow_path"] == []
    compiler = j["compiler"]
    assert compiler["compiled"] == 2 and list(compiler["phases"]) == ["Parse", "Optimize", "CodeGen"] and compiler["starts"] == 1
    assert 0 < sum(p["seconds"] for p in compiler["phases"].values()) <= compiler["seconds"]
    assert compiler["outcomes"]["compiled"] == 2
    assert [e["kind"] for e in j["events"]] == ["analysed", "compiled", "hot patch", "compiled", "hot patch"]


def test_jit_info_as_tables(msvm_cli, chain):
    args = (*SHAPES, "-n", "20", "--wait-for-code", "--no-code-cache")
    done = msvm_cli("jit-info", chain, *args)
    assert done.code == 0 and done.err == ""
    assert re.search(r"^hit rate +\d+\.\d % \(\d+ of \d+\); of the latest", done.out, re.M)
    assert re.search(r"^entry +alias +tier +hits +code +came +compiled in$", done.out, re.M)
    assert re.search(r"^jit_cache_\w+_N\*_H16_W24 +jit_24x16 +2 +\d+ +[\d.]+ KiB +compiled ", done.out, re.M)
    assert re.search(r"^phase +in all +mean +longest\nParse .*\nOptimize .*\nCodeGen ", done.out, re.M)
    assert re.search(r"^ *[\d.]+ s +hot patch +jit_cache_\w+_N\*_H16_W24 \(tier 2\)$", done.out, re.M)
    run = msvm_cli("run", chain, *args, "--jit-info")
    assert "entry" in run.out and "output z:" in run.out and re.search(r"^hit rate +\d", run.out, re.M)
    assert data(msvm_cli("run", chain, *args, "--jit-info", "--json"))["jit"]["compiled"] == 2


def test_machine_code(msvm_cli, chain):
    args = ("jit-info", chain, *SHAPES, "-n", "20", "--wait-for-code", "--no-code-cache", "--compile-timeout", "60")
    hot = msvm_cli(*args, "--asm")
    assert hot.code == 0 and hot.err == "" and "\x1b" not in hot.out
    assert re.match(
        r"entry jit_cache_\w+_N\*_H16_W24 = jit_24x16\nof @main instructions \d+ to \d+; tier 2; sizes N\*_H16_W24\n1 kernel, \d+ bytes",
        hot.out,
    )
    assert re.search(r"^  ; v\d+ = exp v\d+ : f32 +instr \d+; model.py:4$", hot.out, re.M)
    assert re.search(r"^ +[0-9a-f]+  vmulps [yz]mm", hot.out, re.M)
    assert re.search(r"^calls beside the kernels\n  instruction \d+ MaxPool \(model.py:6\): \w+", hot.out, re.M)
    for name in ("jit_24x16", "N*_H16_W24"):
        assert msvm_cli(*args, "--asm", name).out == hot.out
    j = data(msvm_cli(*args, "--asm", "N*_H*_W*", "--json"))
    assert j["tier"] == 1 and j["kernels"][0]["lines"][0]["address"].startswith("0x") and j["calls"][0]["operator"] == "MaxPool"
    assert {p for line in j["kernels"][0]["ir"] for p in line["places"]} == {"model.py:3", "model.py:4", "model.py:5"}
    none = msvm_cli(*args, "--asm", "nobody")
    assert none.code != 0 and none.err.startswith('error: there is no entry "nobody"; there are: jit_cache_') and none.err.count("\n") == 1
    early = msvm_cli("jit-info", chain, *SHAPES, "-n", "1", "--asm", env=NO_COMPILER)
    assert early.code != 0 and "there are no entries" in early.err


def test_machine_code_in_colour(msvm_cli, chain, tmp_path):
    command = [
        str(MSVM),
        "jit-info",
        chain,
        *SHAPES,
        "-n",
        "20",
        "--wait-for-code",
        "--no-code-cache",
        "--compile-timeout",
        "60",
        "-q",
        "--asm",
    ]
    ours, theirs = pty.openpty()
    try:
        p = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:
            pass  # its end has closed
        assert p.wait(60) == 0, p.stderr.read()
    finally:
        os.close(ours)
    assert b"\x1b[1mentry jit_cache_" in shown and b"\x1b[36mj" in shown


def test_names_are_printable(msvm_cli, tmp_path):
    (tmp_path / "odd.msasm").write_text(CHAIN.replace('"chain"', '"a\\x1b[31m"').replace("model.py:3", "bad\x1b[2J.py:3"))
    for args in (
        ["jit-info", "odd.msasm", *SHAPES],
        ["jit-info", "odd.msasm", *SHAPES, "-n", "8", "--wait-for-code", "--asm"],
        ["explain", "odd.msasm"],
        ["explain", "odd.msasm", "--asm"],
    ):
        done = msvm_cli(*args)
        assert "\x1b" not in done.out + done.err


def test_without_a_compiler(msvm_cli, chain):
    for env in (NO_COMPILER, {"MSVM_CC": "/bin/false"}):
        j = data(msvm_cli("jit-info", chain, *SHAPES, "--wait-for-code", "--no-code-cache", "--json", env=env))
        assert j["native"] == 0 and j["failed"] >= 1 and j["regions"][0]["entries"] == []
        assert ("no compiler at /nonexistent/msvm-cc (MSVM_CC)" if env is NO_COMPILER else "compiler crashed") in j["slow_path"][0][
            "reason"
        ]
    done = msvm_cli("jit-info", chain, *SHAPES, "--wait-for-code", "--no-code-cache", env=NO_COMPILER)
    assert done.code == 0 and "no entries yet" in done.out and "set MSVM_CC to the path" in done.out
    done = msvm_cli("run", chain, *SHAPES, "--wait-for-code", "--no-code-cache", "--no-fallback", env=NO_COMPILER)
    assert done.code == 1 and "can't be compiled (no compiler" in done.err and "fallback is off" in done.err and done.err.count("\n") == 1
    done = msvm_cli("explain", chain, "--asm", env=NO_COMPILER)
    assert done.code == 3 and "no compiler at /nonexistent/msvm-cc" in done.err


def test_a_kernel_that_is_gone(msvm_cli, chain, tmp_path):
    sections = json.loads(msvm_cli("cap", "dump").out)["sections"]
    gone = {k: [] for k in sections if k.startswith("maxpool")}
    assert gone
    (tmp_path / "gone.json").write_text(json.dumps({"format": 1, "device": "CPU(0)", "sections": gone}))
    args = ("run", chain, *SHAPES, "--capability-db", "gone.json")
    assert msvm_cli(*args).code == 0
    done = msvm_cli(*args, "--no-fallback")
    assert done.code == 1 and "Kernel not found for op MaxPool (f32) on device CPU(0)" in done.err and "model.py:6" in done.err


def test_explain(msvm_cli, chain):
    (f,) = data(msvm_cli("explain", chain, *SHAPES, "--json"))["functions"]
    (region,) = f["regions"]
    assert [s["name"] for s in region["symbols"]] == ["N", "H", "W"] and [s["free"] for s in region["symbols"]] == [True, False, False]
    (group,) = region["groups"]
    assert [(m["operator"], m["place"]) for m in group["members"]] == [("Mul", "model.py:3"), ("Exp", "model.py:4"), ("Add", "model.py:5")]
    (pool,) = region["not_fused"]
    assert pool["operator"] == "MaxPool" and pool["place"] == "model.py:6" and pool["reason"]
    assert region["code"]["verdict"] == "queued" and region["code"]["box"] == "N*_H16_W24" and region["code"]["scd"] == 1.0
    text = msvm_cli("explain", chain, *SHAPES).out
    assert "symbols: N (free), H, W" in text and "not fused: instruction" in text and "code for x=1x3x16x24 y=24: N*_H16_W24 after" in text
    none = data(msvm_cli("explain", chain, *SHAPES, "--no-graph-kernel", "--json"))["functions"][0]["regions"][0]
    assert none["groups"] == [] and {n["reason"] for n in none["not_fused"]} == {"graph kernels are off"}
    for args, part in (
        (["--region", "7"], "--region 7"),
        (["--function", "no"], "none of that name"),
        (["-s", "x=1x4x2x2"], "must be 3"),
        (["-s", "q=1"], "no input q"),
    ):
        done = msvm_cli("explain", chain, *args)
        assert done.code == 1 and part in done.err, done.err
    assert msvm_cli("explain", chain, "--isa", "z80").code == 2


def test_code_of_a_region(msvm_cli, chain):
    done = msvm_cli("explain", chain, "--loops", "--ir", "--asm", "--isa", "avx2")
    assert done.code == 0, done.err
    loops = done.out[done.out.index("loops version 1") : done.out.index("; ModuleID")]
    assert "kernel " in loops and re.search(r"v\d+ = mul v\d+, v\d+ : f32", loops) and "n0" in loops
    assert re.search(r"^define .*void @mul_exp_add\(", done.out, re.M)
    assembly = done.out[done.out.rindex("\t.text") :]
    assert "vmulps" in assembly and "ymm" in assembly and "zmm" not in assembly
    # The calls above the kernel, and the loop program's lines above their instructions.
    assert re.search(r"# fused Mul, Exp, Add.*\n#   instruction 3 Mul, model.py:3\n(#.*\n)*\w+:", assembly)
    lines = assembly.splitlines()
    multiply = next(k for k, line in enumerate(lines) if re.match(r"\s+# v\d+ = mul", line))
    assert any("vmulps" in line for line in lines[multiply : multiply + 3]), lines[multiply : multiply + 5]
    for tool in (".cfi_", ".loc", ".Ltmp"):
        assert tool not in assembly
    fixed = data(msvm_cli("explain", chain, *SHAPES, "--loops", "--json"))["functions"][0]["regions"][0]
    assert "the code below" not in msvm_cli("explain", chain, "--no-graph-kernel", "--loops").out
    assert "inner n" in loops and "inner 24" in fixed["loops"]


def compiled(msvm_cli, chain, *args, env=None):
    return data(msvm_cli("compile", chain, "-o", "chain.native", *SHAPES, "--json", *args, env=env))


def test_a_bundle_needs_no_compiler(msvm_cli, chain, tmp_path):
    j = compiled(msvm_cli, chain)
    assert j["images"] == 2 and [(e["box"], e["tier"]) for e in j["entries"]] == [("N*_H16_W24", 2), ("N*_H*_W*", 1)]
    args = (chain, *SHAPES, "-n", "20", "--wait-for-code", "--no-code-cache", "--no-fallback", "--bundle", "chain.native", "--json")
    j = data(msvm_cli("jit-info", *args, env=NO_COMPILER))
    assert j["compiled"] == j["failed"] == 0 and j["from_disk"] == 2 and j["compiler"]["starts"] == 0
    assert [(e["tier"], e["outcome"]) for e in j["regions"][0]["entries"]] == [(2, "from disk"), (1, "from disk")]
    assert j["specialised"] > 0
    (shape,) = data(msvm_cli("run", *args, env=NO_COMPILER))["shapes"]
    assert "native" in shape["mode"]


def test_bundles_that_are_refused(msvm_cli, chain, tmp_path):
    compiled(msvm_cli, chain)
    run = ("run", chain, *SHAPES, "-n", "1", "--bundle", "chain.native")
    theirs = {**NO_COMPILER, "MSVM_CACHE_DIR": str(tmp_path / "theirs")}
    done = msvm_cli(*run, env=theirs)
    assert done.code == 1 and "signed by this user's key" in done.err and "--trust-native" in done.err and "output" not in done.out
    assert msvm_cli(*run, "--trust-native", env=theirs).code == 0
    good = (tmp_path / "chain.native").read_bytes()
    for at in (0, 20, len(good) // 2, len(good) - 1):
        (tmp_path / "chain.native").write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        done = msvm_cli(*run)
        assert done.code == 1 and "signed by this user's key" in done.err, at
    (tmp_path / "chain.native").write_bytes(good[:13] + b"?" + good[14:])  # the build's name
    done = msvm_cli(*run, "--trust-native")
    assert done.code == 1 and "another build of MSVM" in done.err
    (tmp_path / "chain.native").write_bytes(good[: len(good) // 2])
    assert msvm_cli(*run, "--trust-native").code == 1
    assert msvm_cli("run", chain, *SHAPES, "--bundle", "nowhere.native").code == 3


def test_what_can_be_compiled(msvm_cli, chain, tmp_path):
    j = compiled(msvm_cli, chain, "--range-of", "W=8:64")
    assert [e["box"] for e in j["entries"]] == ["N*_H16_W8-64", "N*_H*_W*"]
    j = data(msvm_cli("compile", chain, "-o", "b", "--tier1-only", "--json"))
    assert [e["tier"] for e in j["entries"]] == [1] and j["images"] == 1
    j = data(msvm_cli("compile", chain, "-o", "b", "--stream", "x=1x3x8x8 y=8; x=2x3x8x8 y=8; x=1x3x4x4 y=4", "--json"))
    assert sorted(e["box"] for e in j["entries"]) == ["N*_H*_W*", "N*_H4_W4", "N*_H8_W8"]
    j = compiled(msvm_cli, chain, "--cache-mode", "bucket", "--buckets", "8,32")
    assert j["entries"][0]["box"] == "N0-8_H9-32_W9-32"
    text = msvm_cli("compile", chain, "-o", "b", *SHAPES)
    assert re.search(r"^entry +tier +code\njit_cache_", text.out) and re.search(
        r"^b: \d images? of native code: \d compiled in .*, \d from the cache$", text.out, re.M
    )
    for args, part in (
        (["--range-of", "W"], "SYMBOL=LOW:HIGH"),
        (["--range-of", "W=9:8"], "LOW <= HIGH"),
        (["--range-of", "Q=1:2"], "no region has a symbol Q; there are: N, H, W"),
        (["--tier1-only", "--range-of", "W=1:2"], "--tier1-only"),
        (["-s", "x=1x4x2x2"], "must be 3"),
    ):
        done = msvm_cli("compile", chain, "-o", "wrong.native", *args)
        assert done.code == 1 and part in done.err and not (tmp_path / "wrong.native").exists(), done.err
    assert msvm_cli("compile", chain).code == 2
    done = msvm_cli("compile", chain, "-o", "wrong.native", "--no-code-cache", env=NO_COMPILER)
    assert done.code == 1 and "has no code for" in done.err and "no compiler" in done.err and not (tmp_path / "wrong.native").exists()


def test_the_cache(msvm_cli, chain, tmp_path):
    env = {"MSVM_CACHE_DIR": str(tmp_path / "kept")}
    assert msvm_cli("cache", "path", env=env).out == f"{tmp_path / 'kept'}\n"
    assert msvm_cli("cache", "list", env=env).out == "0 entries, 0 B\n" and msvm_cli("cache", "size", env=env).out == "0\n"
    assert not (tmp_path / "kept").exists()
    args = ("jit-info", chain, *SHAPES, "-n", "20", "--wait-for-code", "--json")
    assert data(msvm_cli(*args, env=env))["compiled"] == 2
    assert data(msvm_cli(*args, env=env))["from_disk"] == 2
    # The one for all sizes was used last.
    assert data(msvm_cli(*args, "--tier", "1", env=env))["from_disk"] == 1
    entries = data(msvm_cli("cache", "list", "--json", env=env))
    assert [re.sub("jit_cache_[0-9a-f]+_", "", e["label"]) for e in entries] == ["N*_H*_W*", "N*_H16_W24"]
    assert all(e["same_build"] and e["bytes"] > 0 and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", e["used"]) for e in entries)
    assert int(msvm_cli("cache", "size", env=env).out) == sum(e["bytes"] for e in entries)
    table = msvm_cli("cache", "list", "--folder", tmp_path / "kept").out
    assert re.search(r"^used last +bytes +build +code\n\d{4}-.* +\d+ +this +jit_cache_", table) and "2 entries, " in table
    other = data(msvm_cli("cache", "list", "--json", env={**env, **NO_COMPILER}))
    assert [e["same_build"] for e in other] == [False, False]
    assert msvm_cli("cache", "clear", env=env).out == "2 entries removed\n"
    assert msvm_cli("cache", "clear", env=env).out == "0 entries removed\n"
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = msvm_cli("cache", "list", "--folder", tmp_path / "open")
    assert done.code != 0 and str(tmp_path / "open") in done.err
    assert msvm_cli("cache").code == 2
