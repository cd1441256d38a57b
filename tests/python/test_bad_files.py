"""Files from strangers: one clear error each, the process goes on, nothing leaks."""

import os
import random
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from programs import ADD, assembled, loaded, model, relu_add

import msvm

FEED = {"x": np.zeros((1, 4), np.float32)}


@pytest.fixture(autouse=True)
def still_usable(tmp_path):
    """A program loaded before is as good as ever afterwards."""
    (tmp_path / "before").mkdir()  # its weights are mapped: the file must stay as it is
    program = loaded(tmp_path / "before", relu_add())
    yield
    assert program.run(FEED)[0].tolist() == [[0, 1, 2, 3]]


def test_files_that_are_not_there(tmp_path):
    for load in (msvm.load, msvm.onnx.load, msvm.disassemble):
        for path in (tmp_path / "no.msbc", tmp_path / "no.onnx", tmp_path, "", "/dev/null"):
            with pytest.raises(msvm.FileError) as e:
                load(path)
            assert isinstance(e.value, OSError) and str(path) in str(e.value)
    with pytest.raises(msvm.FileError, match=r"no\.msasm"):
        msvm.load(tmp_path / "no.msasm")
    with pytest.raises(msvm.InputError, match="zero byte"):
        msvm.load("a\0b.msbc")
    with pytest.raises(TypeError):
        msvm.load(3)
    unreadable = tmp_path / "unreadable.msbc"
    unreadable.write_bytes(b"x")
    unreadable.chmod(0)
    with pytest.raises(msvm.FileError):
        msvm.load(unreadable)


def tries_of(data: bytes, seed: int, flips: int):
    """Every prefix of a few lengths, then single and multiple flipped bits."""
    at = random.Random(seed)
    for n in sorted({0, 1, 2, 4, 7, 8, 16, 31, 64, len(data) // 2, len(data) - 8, len(data) - 1} & set(range(len(data)))):
        yield data[:n]
    for _ in range(flips):
        changed = bytearray(data)
        for _ in range(at.choice([1, 1, 2, 8])):
            changed[at.randrange(len(data))] ^= 1 << at.randrange(8)
        yield bytes(changed)


def open_all(load, path, tries):
    """Each is either refused with an Error, or a program that runs or says why not."""
    refused = 0
    for data in tries:
        path.write_bytes(data)
        try:
            program = load(path)
        except msvm.Error as e:
            assert str(e).strip()
            refused += 1
            continue
        program.set_limits(max_bytes=1 << 26, max_instructions=10000, max_seconds=1)
        try:
            program.run(dict.fromkeys(program.inputs, FEED["x"]))
        except msvm.Error as e:
            assert str(e).strip()
    return refused


def test_broken_msbc(tmp_path):
    loaded(tmp_path, relu_add()).save(tmp_path / "a.msbc")
    assert open_all(msvm.load, tmp_path / "b.msbc", tries_of((tmp_path / "a.msbc").read_bytes(), 1, 300)) > 20


def test_broken_onnx(tmp_path):
    assert open_all(msvm.onnx.load, tmp_path / "b.onnx", tries_of(relu_add().SerializeToString(), 2, 300)) > 20


def test_truncated_msbc_is_always_refused(tmp_path):
    loaded(tmp_path, relu_add()).save(tmp_path / "a.msbc")
    data = (tmp_path / "a.msbc").read_bytes()
    for n in range(0, len(data) - 1, 5):
        (tmp_path / "b.msbc").write_bytes(data[:n])
        with pytest.raises(msvm.FileError, match=r"b\.msbc"):
            msvm.load(tmp_path / "b.msbc")


@pytest.mark.parametrize("content", [b"hello", b"\x00" * 4096, b"\xff" * 4096, b"PK\x03\x04", os.urandom(1000), b'module "x"'])
def test_made_by_hand(tmp_path, content):
    (tmp_path / "a.msbc").write_bytes(content)
    (tmp_path / "a.onnx").write_bytes(content)
    with pytest.raises(msvm.FileError, match=r"a\.msbc"):
        msvm.load(tmp_path / "a.msbc")
    with pytest.raises(msvm.Error, match=r"a\.onnx"):
        msvm.onnx.load(tmp_path / "a.onnx")


def test_text_with_errors_names_them_all(tmp_path):
    text = ADD.replace("OP_CALL Add", "OP_CALLS Add").replace("CPU(0)", "GPU(0)")
    with pytest.raises(msvm.FileError) as e:
        assembled(tmp_path, text)
    assert "program.msasm:8:" in str(e.value) and "program.msasm:9:" in str(e.value)
    with pytest.raises(msvm.FileError):
        assembled(tmp_path, "\0\xff" * 100)


def test_programs_that_break_a_rule(tmp_path):
    with pytest.raises(msvm.VerificationError) as e:
        assembled(tmp_path, ADD.replace("Add(R0, R1)", "Add(R0, R7)"))
    assert "R7" in str(e.value) and "program.msasm:9" in str(e.value)
    with pytest.raises(msvm.VerificationError, match="Frobnicate"):
        assembled(tmp_path, ADD.replace("Add(", "Frobnicate("))


def test_all_unsupported_operators_in_one_error(tmp_path):
    nodes = [
        helper.make_node("Frob", ["x"], ["a"], name="one"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Nicate", ["b"], ["c"], domain="com.example", name="two"),
        helper.make_node("Frob", ["c"], ["y"], name="three"),
    ]
    proto = model(nodes, [("x", TensorProto.FLOAT, ["N"])], [("y", TensorProto.FLOAT, ["N"])])
    proto.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(msvm.UnsupportedError) as e:
        loaded(tmp_path, proto)
    message = str(e.value)
    assert isinstance(e.value, NotImplementedError)
    assert "Frob" in message and "com.example" in message and "Nicate" in message
    assert "one" in message and "two" in message
    assert "Relu" not in message


def test_too_new_an_opset(tmp_path):
    with pytest.raises(msvm.Error, match="999"):
        loaded(
            tmp_path,
            model(
                [helper.make_node("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, ["N"])], [("y", TensorProto.FLOAT, ["N"])], opset=999
            ),
        )


def external(location: str, **more: int) -> onnx.ModelProto:
    proto = relu_add()
    (w,) = proto.graph.initializer
    w.ClearField("raw_data")
    w.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        entry = w.external_data.add()
        entry.key, entry.value = key, str(value)
    return proto


def test_external_data(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"????" + np.arange(4, dtype=np.float32).tobytes())
    assert loaded(tmp_path, external("w.bin", offset=4, length=16)).run(FEED)[0].tolist() == [[0, 1, 2, 3]]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    assert loaded(tmp_path, external("sub/w.bin")).run(FEED)[0].tolist() == [[0, 1, 2, 3]]


def test_external_data_outside_its_folder(tmp_path):
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(64))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(64))
    (folder / "link.bin").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    locations = [
        os.fspath(secret),
        "../secret.bin",
        "./../secret.bin",
        "up/secret.bin",
        "link.bin",
        "",
        ".",
        "no.bin",
        "w.bin\0",
        "/dev/zero",
        "sub/../../secret.bin",
    ]
    for location in locations:
        with pytest.raises(msvm.Error, match="w"):
            loaded(folder, external(location))
    wrong = [
        {"offset": -1},
        {"offset": 60},
        {"offset": 2**63 - 1},
        {"offset": 2**64 - 8, "length": 16},
        {"length": 15},
        {"length": 2**63},
        {"offset": "x"},
    ]
    for more in wrong:
        with pytest.raises(msvm.Error, match="w"):
            loaded(folder, external("w.bin", **more))


def test_constants_beyond_the_file(tmp_path):
    for dims in ([2**62, 4], [-1], [2**31, 2**31, 2**31], [5], [3]):
        proto = relu_add()
        del proto.graph.initializer[0].dims[:]
        proto.graph.initializer[0].dims.extend(dims)
        with pytest.raises(msvm.Error, match="w"):
            loaded(tmp_path, proto)


def test_sizes_beyond_memory(tmp_path):
    """An Expand to an absurd size: an error of the run, before memory is taken."""
    nodes = [helper.make_node("Expand", ["x", "shape"], ["y"])]
    proto = model(nodes, [("x", TensorProto.FLOAT, [1]), ("shape", TensorProto.INT64, [3])], [("y", TensorProto.FLOAT, ["A", "B", "C"])])
    program = loaded(tmp_path, proto)
    x = np.zeros(1, np.float32)
    for shape in ([1 << 20, 1 << 20, 1], [2**62, 2**62, 4], [2**63 - 1] * 3, [2**40, 1, 1]):
        with pytest.raises(msvm.Error) as e:
            program.run({"x": x, "shape": np.array(shape)})
        assert isinstance(e.value, (msvm.LimitError, msvm.InputError)), e.value
    with pytest.raises(msvm.InputError):
        program.run({"x": x, "shape": np.array([-2, 1, 1])})
    assert program.run({"x": x, "shape": np.array([2, 3, 4])})[0].shape == (2, 3, 4)
    assert program.run({"x": x, "shape": np.array([0, 2**40, 1])})[0].shape == (0, 2**40, 1)


def test_size_arithmetic_that_overflows(tmp_path):
    text = """module "overflow" version 1
func @main(n: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0
  R1 = SHAPE_CALC mul R0, 4611686018427387904
  RETURN (; R1)
"""
    program = assembled(tmp_path, text)
    with pytest.raises(msvm.InputError, match="overflow"):
        program.run({"n": 4})
    assert program.run({"n": 1}) == [4611686018427387904]


def test_cyclic_and_dangling_graphs(tmp_path):
    float_n = [("x", TensorProto.FLOAT, ["N"])], [("y", TensorProto.FLOAT, ["N"])]
    bad = [
        [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Relu", ["b"], ["y"])],
        [helper.make_node("Relu", ["nowhere"], ["y"])],
        [helper.make_node("Relu", ["x"], ["z"])],
        [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Relu", ["x"], ["y"])],
        [helper.make_node("Relu", [], ["y"])],
        [helper.make_node("Relu", ["x", "x", "x"], ["y"])],
        [helper.make_node("Add", ["x", ""], ["y"])],
        [helper.make_node("Softmax", ["x"], ["y"], axis=7)],
        [helper.make_node("Softmax", ["x"], ["y"], axis="one")],
        [helper.make_node("Cast", ["x"], ["y"], to=9999)],
        [helper.make_node("If", ["x"], ["y"])],
    ]
    for nodes in bad:
        with pytest.raises(msvm.Error) as e:
            loaded(tmp_path, model(nodes, *float_n))
        assert str(e.value).strip()


def test_nesting_without_end(tmp_path):
    """Subgraphs 2000 deep: an error, not the end of the stack."""
    inner = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y0"])], "g", [], [helper.make_tensor_value_info("y0", TensorProto.FLOAT, None)]
    )
    data = inner.SerializeToString()

    def field(number: int, payload: bytes) -> bytes:
        n, size = len(payload), b""
        while True:
            size += bytes([n & 127 | (128 if n > 127 else 0)])
            n >>= 7
            if not n:
                return bytes([number << 3 | 2]) + size + payload

    for _ in range(2000):
        attribute = field(1, b"then_branch") + field(6, data) + b"\xa0\x01\x05"
        data = field(1, field(1, b"x") + field(2, b"y") + field(4, b"If") + field(5, attribute))
    (tmp_path / "deep.onnx").write_bytes(b"\x08\x09" + field(7, data) + field(8, b"\x10\x12"))
    with pytest.raises(msvm.Error):
        msvm.onnx.load(tmp_path / "deep.onnx")


def test_functions_that_call_themselves(tmp_path):
    body = [helper.make_node("F", ["a"], ["b"], domain="local")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = helper.make_function("local", "F", ["a"], ["b"], body, [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)])
    proto = model(
        [helper.make_node("F", ["x"], ["y"], domain="local")],
        [("x", TensorProto.FLOAT, ["N"])],
        [("y", TensorProto.FLOAT, ["N"])],
        functions=[f],
    )
    proto.opset_import.append(helper.make_opsetid("local", 1))
    with pytest.raises(msvm.Error, match="F"):
        loaded(tmp_path, proto)


def test_names_that_are_no_text(tmp_path):
    """Any bytes may stand in a name; what isn't UTF-8 shows as \\xNN."""
    data = relu_add().SerializeToString().replace(b"\x01x", b"\x01\xff")
    (tmp_path / "bytes.onnx").write_bytes(data)
    try:
        program = msvm.onnx.load(tmp_path / "bytes.onnx")
    except msvm.Error as e:
        assert str(e)
        return
    assert program.inputs == ["\\xff"]
    assert program.run({"\\xff": FEED["x"]})[0].tolist() == [[0, 1, 2, 3]]
