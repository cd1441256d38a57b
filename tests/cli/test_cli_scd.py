"""scd: the table, regions, and what a stream of shapes would queue."""

import json
from pathlib import Path

import pytest

MODELS = Path.home() / ".cache/msvm/models"

IMAGE = """
module "image" version 1
symbol N, H, W, L
func @main(x: f32[N, 3, H, W]) -> f32[N, 3, H, W]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1

func @resized(x: f32[N, 3, H, W]) -> (f32[N, 3, 64, 64], i64[4, L])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = SCALAR_CONST 64 captured "size"                                ; model.py:14
  R2 "z" = TENSOR_ALLOC [N, 3, R1, R1], f32, CPU(0)                   ; model.py:15
  OP_CALL Resize(R0; R1, R1) -> R2 {axes: [2, 3], mode: "nearest"}    ; model.py:15
  OP_CALL NonZero(R2) -> new R3 "where": i64[4, L]                    ; model.py:16
  RETURN (R2, R3)
"""


@pytest.fixture
def image(tmp_path):
    (tmp_path / "image.msasm").write_text(IMAGE)
    return "image.msasm"


def functions(done):
    assert done.code == 0, done.err
    return {f["function"]: f for f in json.loads(done.out)["functions"]}


def test_tensors(msvm_cli, image):
    f = functions(msvm_cli("scd", image, "--json"))
    x, y = f["main"]["tensors"]
    assert (x["name"], x["scd"], x["dims"]) == ("x", 0.25, ["symbolic:N", "3", "symbolic:H", "symbolic:W"])
    assert y["kinds"] == ["free", "const", "bound", "bound"]
    z, where = f["resized"]["tensors"][1:]
    assert z["broken"] and z["scd"] == 0 and "model.py:14" in z["reason"] and "ms.symbolic_mul(H, 2)" in z["mend"]
    assert where["broken"] and where["place"] == "model.py:16" and "upper bound" in where["mend"]


def test_text(msvm_cli, image):
    done = msvm_cli("scd", image, "--all")
    assert done.code == 0 and done.err == ""
    assert "region 0: instructions 1 to 2, 1 call; symbols: N (free), H, W" in done.out
    assert "border: instruction 4 (NonZero), model.py:16: the call allocates its output" in done.out
    one = msvm_cli("scd", image, "--function", "resized").out
    assert "@resized" in one and "@main" not in one and "borders: the call allocates its output (1)" in one


def stream(msvm_cli, image, *args):
    return functions(msvm_cli("scd", image, "--json", "--stream", *args))["main"]["regions"][0]["stream"]


def test_streams(msvm_cli, image, tmp_path):
    s = stream(msvm_cli, image, "; ".join(f"{1 + k}x3x224x224" for k in range(8)))
    assert [(q["run"], q["box"], q["scd"]) for q in s["queued"]] == [(3, "N*_H224_W224", 1.0)]
    assert s["runs"] == 8 and s["met_an_entry"] == 5 and s["refused"][0]["why"] == "too few runs"
    s = stream(msvm_cli, image, "; ".join(f"1x3x{100 + k}x{200 + k}" for k in range(20)))
    assert s["queued"] == []
    assert s["refused"][-1]["why"] == "fixes nothing" and s["refused"][-1]["scd"] == 0.5 and s["refused"][-1]["runs"] == 18
    (tmp_path / "shapes.txt").write_text("x=1x3x320x320  # one\nx=1x3x640x480\n" * 4)
    s = stream(msvm_cli, image, "shapes.txt")
    assert [(q["run"], q["box"]) for q in s["queued"]] == [(5, "N*_H320_W320"), (6, "N*_H640_W480")]


def test_options_of_the_trigger(msvm_cli, image):
    s = stream(msvm_cli, image, "2x3x20x20; 3x3x30x30", "-n", "2", "--buckets", "1,8,32")
    assert [q["box"] for q in s["queued"]] == ["N2-8_H9-32_W9-32"]
    s = stream(msvm_cli, image, "2x3x20x20", "-n", "2", "--jit-threshold", "2")
    assert [q["run"] for q in s["queued"]] == [2]
    s = stream(msvm_cli, image, "1x3x20x1; 1x3x20x2; 1x3x20x3", "--scd-threshold", "0.75")
    assert [q["box"] for q in s["queued"]] == ["N*_H20_W*"]


def test_errors(msvm_cli, image):
    for args, part in (
        (["--stream", "1x3x2"], "found 3 axes"),
        (["--stream", "1x4x2x2"], "axis 1 (3) must be 3"),
        (["--stream", "q=1"], "no input q"),
        (["--function", "no"], "none of that name"),
        (["--buckets", "8,1"], "ascending"),
    ):
        done = msvm_cli("scd", image, *args)
        assert done.code == 1 and part in done.err and done.err.count("\n") == 1, done.err
    assert msvm_cli("scd", image, "--stream", "nothing.txt").code == 3
    assert msvm_cli("scd", image, "--jit-threshold", "0").code == 2


# Models without control flow on data are one region; the others say what divides them.
@pytest.mark.parametrize("name", ["ppocrv4_det", "ppocrv4_rec", "resnet50", "unet", "minilm", "yolo_neck", "ppocr_cls"])
def test_a_model_without_control_flow_is_one_region(msvm_cli, name):
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"{path.name} isn't there")
    (f,) = functions(msvm_cli("scd", path, "--json")).values()
    assert len(f["regions"]) == 1, f["borders"][:5]
    assert f["borders"] == []
