"""opt=: models are optimised unless told otherwise, programs only if told; the numbers stay."""

import numpy as np
import pytest
from programs import ADD, assembled, relu_add

import msvm


def calls(program):
    return [line.split("OP_CALL ")[1].split("(")[0] for line in program.disassemble().splitlines() if "OP_CALL " in line]


def test_models(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(relu_add().SerializeToString())
    fast, plain = msvm.onnx.load(path), msvm.onnx.load(path, opt=0)
    assert calls(fast) == ["msvm.Pointwise"]
    assert calls(plain) == ["Add", "Relu"]
    for n in (0, 1, 5):
        x = np.random.default_rng(n).normal(size=(n, 4)).astype(np.float32)
        assert np.array_equal(fast.run({"x": x})[0], plain.run({"x": x})[0])
    fast.save(tmp_path / "fast.msbc")
    assert calls(msvm.load(tmp_path / "fast.msbc")) == ["msvm.Pointwise"]


def test_programs(tmp_path):
    more = "  R3 = TENSOR_ALLOC [N, M], f32, CPU(0)\n  OP_CALL Add(R2, R0) -> R3\n  TENSOR_FREE R2\n  RETURN R3"
    twice = ADD.replace("  RETURN R2", more)
    assert calls(assembled(tmp_path, twice)) == ["Add", "Add"]
    fast = assembled(tmp_path, twice, opt=1)
    assert calls(fast) == ["msvm.Pointwise"]
    x, y = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    assert np.array_equal(fast.run({"x": x, "y": y})[0], [[2, 3, 4]] * 2)


@pytest.mark.parametrize("opt", [-1, 2])
def test_levels(tmp_path, opt):
    with pytest.raises(msvm.Error, match="load: opt: expected int, 0 to 1, found"):
        assembled(tmp_path, ADD, opt=opt)
