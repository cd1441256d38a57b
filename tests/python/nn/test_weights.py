"""Weights from and to files: what is written is read again; what breaks the format is a FileError, whatever bytes it holds."""

import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ops.oracle import array

import msvm
import msvm as ms
from msvm import nn

DTYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def tensors():
    found = {f"{d}.{len(s)}": ms.Tensor(array(s, d)) for d in DTYPES for s in [(), (0, 3), (5,), (2, 3)]}
    found["half"] = ms.ops.cast(np.array([1.5, -2.0], np.float32), "bfloat16")
    return found


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_what_is_written_is_read(tmp_path, ending):
    path = tmp_path / f"w.{ending}"
    save, load = getattr(nn, f"save_{ending}"), getattr(nn, f"load_{ending}")
    for _ in range(2):
        save(tensors(), path)
    got = load(path)
    assert list(got) == list(tensors())
    for name, t in tensors().items():
        assert got[name].dtype is t.dtype and got[name].shape == t.shape
        np.testing.assert_array_equal(got[name].asnumpy(), t.asnumpy())
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    save({}, path)
    assert load(path) == {}


def test_the_format_is_the_standard_one(tmp_path):
    path = tmp_path / "w.safetensors"
    nn.save_safetensors({"a": np.array([1.0, 2.0], np.float32), "b": np.array([[7]], np.int64)}, path, {"made": "here"})
    raw = path.read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + n])
    assert header == {
        "__metadata__": {"made": "here"},
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "I64", "shape": [1, 1], "data_offsets": [8, 16]},
    }
    assert n % 8 == 0 and raw[8 + n :] == np.array([1.0, 2.0], np.float32).tobytes() + struct.pack("<q", 7)
    assert nn.load_metadata(path) == {"made": "here"}


def file_of(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def one(**change):
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **change}}


BAD = {
    "empty": b"",
    "short": b"1234567",
    "length beyond the file": struct.pack("<Q", 1 << 40) + b"{}",
    "length that wraps": b"\xff" * 8 + b"{}",
    "no JSON": file_of(b"{"),
    "no text": file_of(b"\xff\xfe"),
    "a list": file_of([]),
    "deep": file_of(b"[" * 100000),
    "an entry that is a number": file_of({"a": 1}),
    "unknown dtype": file_of(one(dtype="F8"), b"\0" * 8),
    "dtype that is a list": file_of(one(dtype=["F32"]), b"\0" * 8),
    "negative size": file_of(one(shape=[-2]), b"\0" * 8),
    "size that is a float": file_of(one(shape=[2.0]), b"\0" * 8),
    "size that is a bool": file_of(one(shape=[True]), b"\0" * 8),
    "huge sizes": file_of(one(shape=[1 << 62, 1 << 62]), b"\0" * 8),
    "many axes": file_of(one(shape=[1] * 9), b"\0" * 8),
    "no shape": file_of({"a": {"dtype": "F32", "data_offsets": [0, 8]}}, b"\0" * 8),
    "offsets backwards": file_of(one(data_offsets=[8, 0]), b"\0" * 8),
    "offsets beyond the file": file_of(one(data_offsets=[0, 16], shape=[4]), b"\0" * 8),
    "offsets that don't fit": file_of(one(data_offsets=[0, 4]), b"\0" * 8),
    "three offsets": file_of(one(data_offsets=[0, 4, 8]), b"\0" * 8),
    "overlap": file_of({**one(), "b": one()["a"]}, b"\0" * 8),
    "gap": file_of(one(data_offsets=[4, 12]), b"\0" * 12),
    "bytes left": file_of(one(), b"\0" * 9),
    "a name twice": file_of(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    "metadata of numbers": file_of({"__metadata__": {"a": 1}}),
    "a bool of 2": file_of({"a": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}}, b"\x02"),
}


@pytest.mark.parametrize("what", BAD)
def test_broken_files(tmp_path, what):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(BAD[what])
    with pytest.raises(msvm.FileError, match=r"bad\.safetensors: "):
        nn.load_safetensors(path)


def test_files_that_are_not_there(tmp_path):
    for load in (nn.load_safetensors, nn.load_npz):
        with pytest.raises(msvm.FileError):
            load(tmp_path / "none.x")
        with pytest.raises(msvm.FileError):
            load(tmp_path)
    with pytest.raises(msvm.FileError):
        nn.save_safetensors({"a": np.zeros(1)}, tmp_path / "none" / "x.safetensors")
    with pytest.raises(msvm.InputError, match=r"expected \.safetensors or \.npz"):
        nn.save_checkpoint({}, tmp_path / "x.ckpt")


@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_files(tmp_path_factory, data):
    """A byte changed, cut off or added: the tensors, or a FileError."""
    folder = tmp_path_factory.mktemp("damaged")
    for ending in ("safetensors", "npz"):
        path = folder / f"w.{ending}"
        getattr(nn, f"save_{ending}")({"a": np.arange(3, dtype=np.float32), "b": np.array([True])}, path)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw)
        try:
            for t in getattr(nn, f"load_{ending}")(path).values():
                t.asnumpy().sum()
        except msvm.Error:
            pass


def test_npz_without_pickles(tmp_path):
    path = tmp_path / "w.npz"
    np.savez(path, a=np.array([{}], dtype=object))
    with pytest.raises(msvm.FileError):
        nn.load_npz(path)
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(msvm.FileError, match="single array"):
        nn.load_npz(tmp_path / "a.npy")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.norm = nn.BatchNorm1d(4)
        self.out = nn.Dense(4, 2)

    def construct(self, ids):
        return self.out(self.norm(self.embed(ids)))


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_cells_and_files(tmp_path, ending):
    a, b, ids = Net(), Net(), np.array([1, 4, 0])
    path = tmp_path / f"net.{ending}"
    a.save(path)
    assert not np.allclose(np.asarray(a(ids)), np.asarray(b(ids)))
    assert b.load(path) == ([], [])
    np.testing.assert_array_equal(np.asarray(a(ids)), np.asarray(b(ids)))
    ms.nn.save_checkpoint(a, path)
    assert set(nn.load_checkpoint(path, Net())) == set(a.parameters_dict())


def test_names_that_do_not_fit(tmp_path):
    net = Net()
    state = {name: p.asnumpy().copy() for name, p in net.parameters_and_names()}
    before = {k: v.copy() for k, v in state.items()}
    missing = dict(list(state.items())[1:])
    with pytest.raises(msvm.InputError, match=r"without a value: embed\.embedding_table"):
        net.load_state(missing)
    with pytest.raises(msvm.InputError, match="of no parameter: extra"):
        net.load_state({**state, "extra": np.zeros(1)})
    assert net.load_state({**missing, "extra": np.zeros(1)}, strict=False) == (["embed.embedding_table"], ["extra"])
    with pytest.raises(msvm.InputError, match=r"parameter out\.bias: expected float32\[2\], found float32\[3\]"):
        net.load_state({**state, "out.bias": np.zeros(3, np.float32), "norm.gamma": np.full(4, 9, np.float32)})
    for name, p in net.parameters_and_names():
        np.testing.assert_array_equal(p.asnumpy(), before[name])


def test_names_of_torch():
    net = Net()
    state = {
        "embed.weight": array((5, 4)),
        "norm.weight": array((4,)),
        "norm.bias": array((4,), seed=1),
        "norm.running_mean": array((4,), seed=2),
        "norm.running_var": array((4,), "float32", 0.5, 2),
        "norm.num_batches_tracked": np.array(7),
        "out.weight": array((2, 4)),
        "out.bias": array((2,)),
    }
    assert net.load_state(state) == ([], [])
    np.testing.assert_array_equal(net.norm.moving_mean.asnumpy(), state["norm.running_mean"])
