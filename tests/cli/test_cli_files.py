"""import-onnx, asm, dis, verify, info, cap: from one form of a program to another, and what they say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

MODELS = Path.home() / ".cache/msvm/models"
COMMANDS = ["run", "import-onnx", "verify", "asm", "dis", "info", "scd", "cap", "monitor", "report"]


@pytest.mark.parametrize("command", [*COMMANDS, "cap dump", "cap check"])
def test_help(msvm_cli, command):
    done = msvm_cli(*command.split(), "--help")
    assert done.code == 0 and done.err == ""
    if " " not in command:
        assert re.search(r"Examples?:\s+msvm " + command, done.out)


def test_usage(msvm_cli):
    assert re.fullmatch(r"msvm \d+\.\d+\.\d+ .*\n", msvm_cli("--version").out)
    top = msvm_cli("--help")
    assert all(c in top.out for c in COMMANDS)
    for args in (
        [],
        ["frob"],
        ["run"],
        ["verify"],
        ["asm"],
        ["dis"],
        ["cap"],
        ["cap", "check"],
        ["run", "x", "--frob"],
        ["run", "x", "-n", "0"],
        ["run", "x", "-t", "-1"],
    ):
        assert msvm_cli(*args).code == 2, args
    for limit in ("--max-memory", "--max-instructions", "--max-seconds"):
        assert msvm_cli("run", "x", limit, "-1").code == 2


@pytest.mark.parametrize("command", ["run", "verify", "dis", "info", "scd", "import-onnx", "asm"])
def test_a_file_that_is_not_there(msvm_cli, command):
    path = "no.onnx" if command == "import-onnx" else "no.msasm" if command == "asm" else "no.msbc"
    done = msvm_cli(command, path)
    assert done.code == 3 and done.out == ""
    assert path in done.err and done.err.startswith("error: ") and done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "verify", "dis", "info", "asm"])
def test_a_folder(msvm_cli, tmp_path, command):
    (tmp_path / "a.msasm").mkdir()
    assert msvm_cli(command, "a.msasm").code == 3


def test_import_onnx(msvm_cli, relu, tmp_path):
    done = msvm_cli("import-onnx", relu)
    assert done.code == 0 and re.match(r"relu\.msbc: \d+ instructions, 1 constants; import ", done.out)
    assert msvm_cli("import-onnx", relu, "-o", "sub.msbc").code == 0
    assert (tmp_path / "sub.msbc").read_bytes() == (tmp_path / "relu.msbc").read_bytes()
    assert msvm_cli("import-onnx", relu, "-o", "nowhere/x.msbc").code == 3
    assert msvm_cli("import-onnx", relu, "-o", "/dev/null").code == 3
    assert Path("/dev/null").is_char_device()
    assert not list(tmp_path.glob("*.tmp"))


def test_unsupported_operators(msvm_cli, tmp_path):
    from programs import model

    nodes = [helper.make_node("Frob", ["x"], ["a"]), helper.make_node("Nicate", ["a"], ["y"])]
    proto = model(nodes, [("x", TensorProto.FLOAT, ["N"])], [("y", TensorProto.FLOAT, ["N"])])
    (tmp_path / "bad.onnx").write_bytes(proto.SerializeToString())
    for command in ("import-onnx", "run", "info"):
        done = msvm_cli(command, "bad.onnx")
        assert done.code == 1 and "Frob" in done.err and "Nicate" in done.err and "bad.onnx" in done.err
    assert not (tmp_path / "bad.msbc").exists()


def test_asm_and_dis(msvm_cli, add, tmp_path):
    assert msvm_cli("asm", add).code == 0
    data = (tmp_path / "add.msbc").read_bytes()
    text = msvm_cli("dis", "add.msbc").out
    (tmp_path / "again.msasm").write_text(text)
    assert msvm_cli("asm", "again.msasm", "-o", "again.msbc").code == 0
    assert (tmp_path / "again.msbc").read_bytes() == data
    assert msvm_cli("dis", add).out == text
    assert msvm_cli("asm", "-", "-o", "piped.msbc", stdin=text).code == 0
    assert (tmp_path / "piped.msbc").read_bytes() == data
    assert msvm_cli("dis", "add.msbc", "-o", "out.msasm").code == 0
    assert (tmp_path / "out.msasm").read_text() == text
    assert re.search(r"RETURN R2 +; 0x[0-9a-f]+", msvm_cli("dis", "add.msbc", "--offsets").out)


def test_asm_refuses_what_is_no_text(msvm_cli, add, tmp_path):
    msvm_cli("asm", add)
    before = (tmp_path / "add.msbc").read_bytes()
    assert msvm_cli("asm", "add.msbc").code == 1
    assert (tmp_path / "add.msbc").read_bytes() == before
    done = msvm_cli("asm", "-", stdin="module")
    assert done.code == 1 and "-o" in done.err


def test_asm_reports_all_errors(msvm_cli, tmp_path):
    (tmp_path / "bad.msasm").write_text('module "bad" version 1\nfunc @f() -> (i64)\nb0:\n  FROB\n  RETURN (; 1\n')
    done = msvm_cli("asm", "bad.msasm")
    assert done.code == 1 and "bad.msasm:4:" in done.err and "bad.msasm:5:" in done.err
    assert not (tmp_path / "bad.msbc").exists()
    findings = json.loads(msvm_cli("verify", "bad.msasm", "--json").out)
    assert findings and findings[0]["code"].startswith("MSV")


def test_constants_of_any_size_come_back(msvm_cli, tmp_path):
    from programs import model

    w = helper.make_tensor("w", TensorProto.FLOAT, [1000], np.random.default_rng(0).random(1000, np.float32).tobytes(), raw=True)
    s = helper.make_tensor("s", TensorProto.STRING, [2], [b"a", "größe".encode()])
    nodes = [helper.make_node("Add", ["x", "w"], ["y"]), helper.make_node("Identity", ["s"], ["z"])]
    proto = model(nodes, [("x", TensorProto.FLOAT, [1000])], [("y", TensorProto.FLOAT, [1000]), ("z", TensorProto.STRING, [2])], [w, s])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    round_trip(msvm_cli, tmp_path, tmp_path / "m.onnx")
    assert len(msvm_cli("dis", "m.msbc").out) < 2000 < len(msvm_cli("dis", "m.msbc", "--full").out)


def round_trip(msvm_cli, tmp_path, path):
    for args in (["import-onnx", path, "-o", "m.msbc"], ["dis", "m.msbc", "--full", "-o", "m.msasm"], ["asm", "m.msasm", "-o", "n.msbc"]):
        done = msvm_cli(*args)
        assert done.code == 0, done.err
    assert (tmp_path / "m.msbc").read_bytes() == (tmp_path / "n.msbc").read_bytes()
    assert msvm_cli("verify", "m.msbc", "--data").code == 0


@pytest.mark.parametrize("name", ["ppocr_cls", "silero_vad", "basic_pitch", "magika", "khmersm", "ppocrv4_det"])
def test_real_models_come_back(msvm_cli, tmp_path, name):
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"{path} isn't there; `python -m corpus` fetches it")
    round_trip(msvm_cli, tmp_path, path)


def test_verify(msvm_cli, add, tmp_path):
    done = msvm_cli("verify", add)
    assert done.code == 0 and re.search(r"5 instructions, \d+ conditions proved, 0 left to run-time checks", done.out)
    done = msvm_cli("verify", add, "--json")
    assert done.code == 0 and json.loads(done.out) == []
    (tmp_path / "bad.msasm").write_text(
        (tmp_path / add).read_text().replace("Add(R0, R1)", "Add(R0, R7)").replace("RETURN R2", "RETURN R3")
    )
    done = msvm_cli("verify", "bad.msasm")
    assert done.code == 1 and "R7" in done.err and "R3" in done.err and "bad.msasm:9" in done.err and "bad.msasm:10" in done.err
    done = msvm_cli("verify", "bad.msasm", "--json")
    assert done.code == 1 and {f["place"]["line"] for f in json.loads(done.out)} >= {9, 10}
    assert msvm_cli("run", "bad.msasm").code == 1
    done = msvm_cli("verify", "no.msbc", "--json")
    assert done.code == 3 and json.loads(done.out)[0]["place"] == {"file": "no.msbc"}


def test_verify_data(msvm_cli, relu, tmp_path):
    msvm_cli("import-onnx", relu)
    data = bytearray((tmp_path / "relu.msbc").read_bytes())
    at = data.index(np.arange(4, dtype=np.float32).tobytes())
    data[at] ^= 1
    (tmp_path / "relu.msbc").write_bytes(data)
    assert msvm_cli("verify", "relu.msbc").code == 0
    done = msvm_cli("verify", "relu.msbc", "--data")
    assert done.code == 1 and "relu.msbc" in done.err
    done = msvm_cli("verify", "relu.msbc", "--data", "--json")
    assert done.code == 1 and json.loads(done.out)[0]["code"] == "MSV0101"


def test_broken_files(msvm_cli, relu, tmp_path):
    msvm_cli("import-onnx", relu)
    data = (tmp_path / "relu.msbc").read_bytes()
    onnx_data = (tmp_path / relu).read_bytes()
    for n in (0, 3, 20, len(data) // 2, len(data) - 1):
        (tmp_path / "b.msbc").write_bytes(data[:n])
        for command in ("run", "dis", "info", "verify"):
            done = msvm_cli(command, "b.msbc")
            assert done.code == 1 and done.err.startswith("error: ") and "b.msbc" in done.err
    for n in (0, 3, 20, len(onnx_data) // 2):
        (tmp_path / "b.onnx").write_bytes(onnx_data[:n])
        done = msvm_cli("import-onnx", "b.onnx")
        assert done.code == 1 and done.err.startswith("error: ") and "b.onnx" in done.err


def test_info(msvm_cli, add, relu):
    done = msvm_cli("info", add)
    assert (
        done.code == 0 and "symbols: N in [0, 64], M" in done.out and "input   x: f32[N, M]" in done.out and "operators: Add 1" in done.out
    )
    j = json.loads(msvm_cli("info", add, "--json").out)
    assert j["name"] == "add" and j["symbols"] == [{"name": "N", "min": 0, "max": 64}, {"name": "M", "min": 0}]
    assert j["functions"][0]["inputs"][1] == {"name": "y", "type": "f32[M]"} and j["functions"][0]["operators"] == {"Add": 1}
    assert json.loads(msvm_cli("info", relu, "--json").out)["constants"] == {"count": 1, "bytes": 16}


def test_info_constraints(msvm_cli, tmp_path):
    (tmp_path / "c.msasm").write_text("""module "c" version 1
symbol W in [1, 64] multiple_of 32
func @main(x: f32[N, W], y: f32[M]) -> (f32[N])
b0:
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R1 -> R2
  RETURN R2
""")
    done = msvm_cli("info", "c.msasm", "--constraints")
    assert (
        done.code == 0 and "symbols: W in [1, 64] multiple of 32, N, M" in done.out and re.search("check   instruction 2: M == N", done.out)
    )
    j = json.loads(msvm_cli("info", "c.msasm", "--constraints", "--json").out)
    assert j["symbols"][0] == {"name": "W", "min": 1, "max": 64, "divisor": 32, "remainder": 0}
    assert any("N" in c and "M" in c for c in j["functions"][0]["checks"])


def test_names_of_any_bytes(msvm_cli, tmp_path):
    (tmp_path / "n.msasm").write_text(
        'module "\\xff\\x00" version 1\nproducer "\\xfe"\nfunc @"\\xff"("\\x1b[2J": i64) -> (i64)\nb0:\n  RETURN (; 1)\n'
    )
    assert msvm_cli("asm", "n.msasm").code == 0
    for args in (["info", "n.msbc", "--json"], ["run", "n.msbc", "--json"]):
        done = msvm_cli(*args)
        assert done.code == 0
        json.loads(done.out)
    assert "\x1b" not in msvm_cli("info", "n.msbc").out + msvm_cli("run", "n.msbc", "-s", "\x1b[2J=1").err
    assert msvm_cli("dis", "n.msbc", "-o", "again.msasm").code == 0
    assert msvm_cli("asm", "again.msasm").code == 0
    assert (tmp_path / "n.msbc").read_bytes() == (tmp_path / "again.msbc").read_bytes()


def test_output_that_cannot_be_written(msvm_cli, add, tmp_path):
    import subprocess

    from command import MSVM

    for args in (["info", add], ["dis", add], ["cap", "dump"], ["verify", add], ["run", add, "-s", "x=1x2", "-s", "y=2", "--json"]):
        with Path("/dev/full").open("w") as full:
            p = subprocess.run([MSVM, *args], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert p.returncode == 3 and p.stderr.startswith("error: "), (args, p)


def test_cap_dump(msvm_cli, tmp_path):
    db = json.loads(msvm_cli("cap", "dump").out)
    assert db["format"] == 1 and db["device"] == "CPU(0)" and "matmul_f32" in db["sections"]
    assert msvm_cli("cap", "dump", "-o", "cap.json").code == 0
    assert json.loads((tmp_path / "cap.json").read_text()) == db
    done = msvm_cli("cap", "check", "cap.json")
    assert done.code == 0 and "accepted" in done.out and "0 kernels changed" in done.out


def patch(msvm_cli, section, change):
    db = json.loads(msvm_cli("cap", "dump").out)
    kernels = db["sections"][section]
    change(kernels)
    return {"format": db["format"], "device": db["device"], "isa": db["isa"], "sections": {section: kernels}}


def test_a_patch_takes_a_kernel_out(msvm_cli, add, tmp_path):
    args = ["run", add, "-s", "x=2x3", "-s", "y=3", "-k", "--json"]
    (before,) = [k["kernel"] for k in json.loads(msvm_cli(*args).out)["kernels"] if k["operator"] == "Add"]

    def change(kernels):
        for k in kernels:
            if k["name"] == before:
                k["enabled"] = False

    (tmp_path / "p.json").write_text(json.dumps(patch(msvm_cli, "add_f32", change)))
    done = msvm_cli("cap", "check", "p.json")
    assert done.code == 0 and f"add_f32: {before} is taken out" in done.out and "1 kernel changed" in done.out
    for more, env in ((["--capability-db", "p.json"], {}), ([], {"MSVM_CAPABILITY_DB": "p.json"})):
        (after,) = [k["kernel"] for k in json.loads(msvm_cli(*args, *more, env=env).out)["kernels"] if k["operator"] == "Add"]
        assert after != before
    dumped = json.loads(msvm_cli("cap", "dump", "--patch", "p.json").out)
    assert [k["enabled"] for k in dumped["sections"]["add_f32"] if k["name"] == before] == [False]


def test_a_patch_with_other_costs(msvm_cli, tmp_path):
    def change(kernels):
        kernels[0]["costs"][0]["overhead_ns"] += 1

    (tmp_path / "p.json").write_text(json.dumps(patch(msvm_cli, "add_f32", change)))
    done = msvm_cli("cap", "check", "p.json")
    assert done.code == 0 and "has other costs" in done.out and "1 kernel changed" in done.out


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "p.json"),
        ("{", "p.json"),
        ("[]", "p.json"),
        ("{}", "format"),
        ('{"format": 99, "device": "CPU(0)", "isa": "scalar", "sections": {}}', "format"),
        ('{"format": 1, "device": "GPU(0)", "isa": "avx2", "sections": {}}', "GPU"),
        ('{"format": 1, "device": "CPU(0)", "isa": "sse9", "sections": {}}', "isa: expected"),
        ('{"format": 1, "device": "CPU(0)", "isa": "ISA", "sections": {"add_f32": 3}}', "add_f32"),
        ('{"format": 1, "device": "CPU(0)", "isa": "ISA", "frob": 1, "sections": {}}', "frob"),
        ("[" * 100000, "p.json"),
    ],
)
def test_bad_patches(msvm_cli, add, tmp_path, text, what):
    isa = json.loads(msvm_cli("cap", "dump").out)["isa"] if "ISA" in text else ""
    (tmp_path / "p.json").write_text(text.replace("ISA", isa))
    for args in (["cap", "check", "p.json"], ["cap", "dump", "--patch", "p.json"], ["run", add, "--capability-db", "p.json"]):
        done = msvm_cli(*args)
        assert done.code == 1 and what in done.err and "p.json" in done.err, done
    assert msvm_cli("cap", "check", "no.json").code == 3
