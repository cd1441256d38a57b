"""opt, --opt and --explain."""

import json
import re

import pytest

CHAIN = """module "chain" version 1
symbol N

func @main(x: f32[N, 8]) -> (y: f32[N, 8])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 8], f32, CPU(0)
  OP_CALL Exp(R0) -> R1 ; m.onnx:1 from "first"
  R2 = TENSOR_ALLOC [N, 8], f32, CPU(0)
  OP_CALL Neg(R1) -> R2 ; m.onnx:2 from "second"
  TENSOR_FREE R1
  RETURN R2
"""

CONV = """module "conv" version 1
symbol N, H, W
const %w f32[32, 16, 3, 3] = fill(0.125)

func @main(x: f32[N, 16, H, W]) -> f32[N, 32, H, W]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 32, H, W], f32, CPU(0)
  OP_CALL Conv(R0, R1) -> R2 {pads: [1, 1, 1, 1]} ; m.onnx:1 from "conv_1"
  RETURN R2
"""


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.msasm").write_text(CHAIN)
    return "chain.msasm"


def test_opt_prints_and_writes(msvm_cli, chain, tmp_path):
    text = msvm_cli("opt", chain).out
    assert 'msvm.Pointwise(R0) -> R1 {body: ["Exp(i0)", "Neg(s0)"]}' in text and '"first", "second"' in text and "opt_level 1" in text
    done = msvm_cli("opt", chain, "-o", "fast.msbc")
    assert re.fullmatch(r"fast.msbc: 4 instructions of 7; [\d.]+ ms\n", done.out)
    assert msvm_cli("opt", chain, "-o", "fast.msasm").code == 0
    assert (tmp_path / "fast.msasm").read_text() == msvm_cli("dis", "fast.msbc").out.replace(" (not verified)", "")
    assert "msvm.Pointwise" not in msvm_cli("opt", chain, "--no-fusion").out
    assert "OP_CALL Neg" in msvm_cli("opt", chain, "--passes", "copies,fold").out
    done = msvm_cli("opt", chain, "--passes", "fold,tidy")
    assert done.code == 1 and "there is no pass tidy; there are copies, fold, cse" in done.err
    (tmp_path / "bad.msasm").write_text(CHAIN.replace("RETURN R2", "RETURN R1"))
    done = msvm_cli("opt", "bad.msasm")
    assert done.code == 1 and "MSV0" in done.err and "report this" not in done.err


def test_levels(msvm_cli, chain, relu):
    def kernels(*args):
        return {k["operator"] for k in json.loads(msvm_cli("run", *args, "-n", "1", "-k", "--json", "--tier", "0").out)["kernels"]}

    assert {"Exp", "Neg"} <= kernels(chain, "-s", "2x8")
    assert "msvm.Pointwise" in kernels(chain, "-s", "2x8", "--opt", "1")
    assert "msvm.Pointwise" in kernels(relu, "-s", "2x4")
    assert {"Add", "Relu"} <= kernels(relu, "-s", "2x4", "--opt", "0")
    assert msvm_cli("run", chain, "--opt", "2").code == 2
    for level, count in (("0", 2), ("1", 1)):
        assert msvm_cli("import-onnx", relu, "-o", "m.msbc", "--opt", level).code == 0
        assert msvm_cli("dis", "m.msbc").out.count("OP_CALL") == count


def explained(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["explain"]


def test_explain(msvm_cli, chain):
    done = msvm_cli("run", chain, "-s", "2x8", "--explain")
    assert re.search(r"\ninstruction 2: Exp from first\n  f32\[2, 8\]\n    kernel +expected\n", done.out)
    assert re.search(r"\n    \w+ +\d.* ns +chosen\n", done.out)
    calls = explained(msvm_cli("run", chain, "--stream", "2x8; 300x8", "-n", "2", "--json", "--explain", "--tier", "0"))
    assert [c["operator"] for c in calls] == ["Exp", "Neg"] and calls[0]["origins"] == ["first"]
    assert [s["inputs"] for s in calls[0]["shapes"]] == [["f32[2, 8]"], ["f32[300, 8]"]]
    for kernels in (s["kernels"] for c in calls for s in c["shapes"]):
        (chosen,) = [k for k in kernels if k["chosen"]]
        assert all("reason" in k or k["expected_ns"] >= chosen["expected_ns"] for k in kernels)
        assert any(k["kernel"].startswith("ref_") for k in kernels)
    assert [c["operator"] for c in explained(msvm_cli("run", chain, "-s", "2x8", "--json", "--explain=second"))] == ["Neg"]
    assert [c["operator"] for c in explained(msvm_cli("run", chain, "-s", "2x8", "--json", "--explain=Exp"))] == ["Exp"]
    assert explained(msvm_cli("run", chain, "-s", "2x8", "--json", "--explain=nobody")) == []
    assert "no call to explain" in msvm_cli("run", chain, "-s", "2x8", "--explain=nobody").out
    (fused,) = explained(msvm_cli("run", chain, "-s", "2x8", "--opt", "1", "--json", "--explain=second"))
    assert fused["operator"] == "msvm.Pointwise" and fused["origins"] == ["first", "second"]


def test_one_call_takes_different_kernels(msvm_cli, tmp_path):
    """The kernels' table names all of them for the one operator."""
    (tmp_path / "conv.msasm").write_text(CONV)
    done = msvm_cli("run", "conv.msasm", "--stream", "1x16x1x1; 1x16x56x56; 4x16x64x64", "-n", "1", "-k", "--json", "--explain")
    (call,) = explained(done)
    chosen = {k["kernel"] for s in call["shapes"] for k in s["kernels"] if k["chosen"]}
    (row,) = [k for k in json.loads(done.out)["kernels"] if k["operator"] == "Conv"]
    assert set(row["kernel"].split(", ")) == chosen
    if json.loads(msvm_cli("cap", "dump").out)["isa"] != "scalar":
        assert len(chosen) > 1


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512"])
def test_the_instruction_set_is_forced(msvm_cli, tmp_path, isa):
    """No kernel of a later instruction set is looked at, and one of that set runs."""
    order = ["scalar", "avx2", "avx512"]
    if order.index(isa) > order.index(json.loads(msvm_cli("cap", "dump").out)["isa"]):
        pytest.skip("not on this machine")
    (tmp_path / "conv.msasm").write_text(CONV)
    (tmp_path / "chain.msasm").write_text(CHAIN)
    for args in (("conv.msasm", "-s", "1x16x24x24"), ("chain.msasm", "-s", "64x8")):
        for level in "01":
            calls = explained(msvm_cli("run", *args, "-n", "1", "--opt", level, "--json", "--explain", env={"MSVM_ISA": isa}))
            assert calls
            for shape in (s for c in calls for s in c["shapes"]):
                names = [k["kernel"] for k in shape["kernels"]]
                foreign = order[order.index(isa) + 1 :]
                assert not [n for n in names if n.split("_")[0] in foreign], names
                (chosen,) = [k["kernel"] for k in shape["kernels"] if k["chosen"]]
                assert isa == "scalar" or chosen.startswith(isa), names
