"""What goes in: every kind of array, without copies where possible; and everything that must be refused."""

import sys

import numpy as np
import pytest
from onnx import TensorProto, helper
from programs import ADD, SCALARS, assembled, copy_program, loaded, model, relu_add

import msvm


def check_copy(program, x):
    (y,) = program.run({"x": x})
    np.testing.assert_array_equal(y, x)
    assert y.dtype == x.dtype.newbyteorder("=")
    return y


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"])
def test_every_dtype(tmp_path, dtype):
    names = {"f": "float", "i": "int", "u": "uint"}
    t = np.dtype("bool" if dtype == "bool" else names[dtype[0]] + dtype[1:])
    check_copy(
        copy_program(tmp_path, dtype, 2), (np.arange(12).reshape(3, 4) % 2 if dtype == "bool" else np.arange(12).reshape(3, 4)).astype(t)
    )


def test_layouts(tmp_path):
    program = copy_program(tmp_path, "f32", 2)
    base = np.arange(48, dtype=np.float32).reshape(6, 8)
    read_only = base.copy()
    read_only.setflags(write=False)
    unaligned = np.zeros(base.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(6, 8)
    unaligned[:] = base
    packed = np.zeros(5, np.dtype([("a", "u1"), ("b", "<f4")]))["b"].reshape(5, 1)
    arrays = {
        "plain": base,
        "read-only": read_only,
        "transposed": base.T,
        "every other": base[::2, ::3],
        "negative strides": base[::-1, ::-2],
        "broadcast": np.broadcast_to(base[:1], (6, 8)),
        "Fortran": np.asfortranarray(base),
        "big-endian": base.astype(">f4"),
        "unaligned": unaligned,
        "in a struct": packed,
        "empty": base[:0],
        "empty, strided": base[3:3:-1, ::2],
        "one element": base[2:3, 4:5],
    }
    for name, x in arrays.items():
        before = x.copy()
        y = check_copy(program, x)
        np.testing.assert_array_equal(x, before, err_msg=name)
        assert y.flags.c_contiguous, name


def test_rank_zero_and_python_values(tmp_path):
    program = copy_program(tmp_path, "f64", 0)
    for x in (np.array(2.5), np.float64(2.5), 2.5):
        (y,) = program.run({"x": x})
        assert y.shape == () and y == 2.5
    (y,) = copy_program(tmp_path, "i64", 1).run({"x": [1, 2, 3]})
    assert y.tolist() == [1, 2, 3]
    (y,) = copy_program(tmp_path, "f32", 1).run({"x": memoryview(np.ones(3, np.float32))})
    assert y.tolist() == [1, 1, 1]


def test_bfloat16(tmp_path):
    program = copy_program(tmp_path, "bf16", 1)
    bits = np.array([0x3F80, 0xBF80, 0x7FC0], np.uint16)
    (y,) = program.run({"x": bits})
    assert y.dtype == np.uint16 and y.tolist() == bits.tolist()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    (y,) = program.run({"x": np.array([1.0, -1.0], ml_dtypes.bfloat16)})
    assert y.view(ml_dtypes.bfloat16).tolist() == [1.0, -1.0]


def test_strings(tmp_path):
    proto = model([helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, ["N"])], [("y", TensorProto.STRING, ["N"])])
    program = loaded(tmp_path, proto)
    for words in (["a", "", "größer als fünfzehn Byte \N{GRINNING FACE}"], []):
        for x in (np.array(words, dtype=object), np.array(words, dtype=np.str_)):
            (y,) = program.run({"x": x})
            assert y.tolist() == words and y.dtype == object
    for wrong in (np.array([1.0]), np.array([b"a"]), np.array(["a", 3], dtype=object), np.array(["\ud800"], dtype=object)):
        with pytest.raises(msvm.InputError, match=r"input 0 \(x\): expected string\[N\]"):
            program.run({"x": wrong})


def test_scalars(tmp_path):
    program = assembled(tmp_path, SCALARS)
    assert program.run({"i": 7, "r": 2.5, "b": True}) == [7, 2.5, True]
    assert program.run({"i": np.int64(7), "r": np.array([2.5]), "b": np.bool_(False)}) == [7, 2.5, False]
    good = {"i": 7, "r": 2.5, "b": True}
    wrong = [("i", 2.5), ("i", [1, 2]), ("i", 2**64 - 1), ("i", "7"), ("b", 1), ("b", 2.0), ("r", "x")]
    for name, value in wrong:
        with pytest.raises(msvm.InputError, match=rf"\({name}\): expected "):
            program.run({**good, name: value})
    assert program.run(good) == [7, 2.5, True]


def test_read_in_place(tmp_path):
    """No copy: the pool holds the result alone, and an array is neither kept nor changed."""
    program = copy_program(tmp_path, "f32", 1)
    x = np.arange(1 << 20, dtype=np.float32)
    references = sys.getrefcount(x)
    before = program.counters()
    others = msvm.memory_stats()["in_use"]
    (y,) = program.run({"x": x})
    assert sys.getrefcount(x) == references
    assert not np.shares_memory(x, y)
    in_use = msvm.memory_stats()["in_use"] - others
    assert x.nbytes <= in_use < 1.5 * x.nbytes
    assert program.counters()["runs"] == before["runs"] + 1


WRONG = [
    ({"x": np.zeros((2, 3), np.float32)}, r"takes the inputs x, y; missing: y"),
    ({"x": np.zeros((2, 3), np.float32), "y": np.zeros(3, np.float32), "z": 1}, r"unknown: z"),
    ({}, r"missing: x, y"),
    ({"x": np.zeros((2, 3), np.float32), 3: np.zeros(3, np.float32)}, r"missing: y; unknown: 3"),
    ({"x": np.zeros((2, 3)), "y": np.zeros(3, np.float32)}, r"input 0 \(x\): expected f32\[N, M\], found f64\[2, 3\]"),
    ({"x": np.zeros(3, np.float32), "y": np.zeros(3, np.float32)}, r"input 0 \(x\): expected f32\[N, M\], found f32\[3\]"),
    (
        {"x": np.zeros((2, 3), np.float32), "y": np.zeros(4, np.float32)},
        r"input 1 \(y\): expected f32\[M\], found f32\[4\]: axis 0 must be 3",
    ),
    ({"x": np.zeros((65, 3), np.float32), "y": np.zeros(3, np.float32)}, r"input 0 \(x\).*N is 65, it must be in \[0, 64\]"),
    ({"x": np.zeros((2, 3), np.complex64), "y": np.zeros(3, np.float32)}, r"input 0 \(x\): expected f32\[N, M\], found .*complex64"),
    ({"x": np.zeros((2, 3), "M8[s]"), "y": np.zeros(3, np.float32)}, r"input 0 \(x\): expected f32\[N, M\], found .*datetime64"),
    ({"x": np.zeros((2, 3), object), "y": np.zeros(3, np.float32)}, r"input 0 \(x\): expected f32\[N, M\], found .*object"),
    ({"x": np.zeros((1,) * 9, np.float32), "y": np.zeros(3, np.float32)}, r"input 0 \(x\).*rank 9"),
    ({"x": [[1.0], [1.0, 2.0]], "y": np.zeros(3, np.float32)}, r"input x: "),
    ({"x": None, "y": np.zeros(3, np.float32)}, r"input 0 \(x\)"),
    ([np.zeros((2, 3), np.float32)], r"takes a mapping"),
]


@pytest.mark.parametrize(("feed", "message"), WRONG, ids=[m[:24] for _, m in WRONG])
def test_wrong_inputs(tmp_path, feed, message):
    program = assembled(tmp_path, ADD)
    with pytest.raises(msvm.InputError, match=message) as e:
        program.run(feed)
    assert isinstance(e.value, msvm.Error) and isinstance(e.value, ValueError)
    del e
    (z,) = program.run({"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)})
    assert z.tolist() == [[2, 2, 2]] * 2


def test_a_model_names_the_input(tmp_path):
    program = loaded(tmp_path, relu_add())
    with pytest.raises(msvm.InputError, match=r"input 0 \(x\): expected f32\[N, 4\], found f32\[2, 5\]"):
        program.run({"x": np.zeros((2, 5), np.float32)})
    assert program.run({"x": np.full((1, 4), -2, np.float32)})[0].tolist() == [[0, 0, 0, 1]]
