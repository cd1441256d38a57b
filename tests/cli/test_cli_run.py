"""run: inputs from files and shapes, streams, limits, tables, JSON, results."""

import io
import json
import re
import struct
import zipfile

import numpy as np
import pytest

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([10, 20, 30], np.float32)


def shapes(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["shapes"]


def test_shapes_and_tables(msvm_cli, add):
    done = msvm_cli("run", add, "-s", "x=2x3", "--shape", "y=3", "-n", "5", "-k", "--tier", "0")
    assert done.code == 0 and done.err == ""
    assert re.search(r"add.msasm: loaded and verified in .*; 1 thread\n", done.out)
    assert re.search(r"shape +runs +mode +first +median +p99\nx=2x3 y=3 +5 +interpreter ", done.out)
    assert re.search(r"operator +kernel +calls +time +per call +share\n", done.out) and re.search(r"Add +\w+ +1 ", done.out)
    assert re.search(r"output z: f32\[2, 3\] = \[.*\]\n$", done.out)
    assert msvm_cli("run", add, "-s", "x=2x3", "-s", "y=3").out.split("output")[1] == done.out.split("output")[1]
    other = msvm_cli("run", add, "-s", "x=2x3", "-s", "y=3", "--seed", "2")
    assert other.out.split("output")[1] != done.out.split("output")[1]


def test_json(msvm_cli, add):
    done = msvm_cli("run", add, "-s", "x=2x3", "-s", "y=3", "-n", "4", "-k", "--json", "-t", "2", "--tier", "0")
    j = json.loads(done.out)
    assert j["program"] == "add.msasm" and j["threads"] == 2 and j["load_ns"] > 0
    (row,) = j["shapes"]
    assert row["shape"] == "x=2x3 y=3" and row["runs"] == 4 and row["mode"] == "interpreter"
    assert row["first_ns"] > 0 and row["p99_ns"] >= row["median_ns"] > 0
    assert [k["calls"] for k in j["kernels"] if k["operator"] == "Add"] == [1]
    assert j["outputs"][0]["name"] == "z" and j["outputs"][0]["value"].startswith("f32[2, 3] = [")


def test_streams(msvm_cli, add, tmp_path):
    inline = shapes(msvm_cli("run", add, "--stream", "x=1x2 y=2; x=0x4 y=4; x=1x2 y=2", "-n", "2", "--json"))
    assert [(s["shape"], s["runs"]) for s in inline] == [("x=1x2 y=2", 4), ("x=0x4 y=4", 2)]
    (tmp_path / "x=stream.txt").write_text("# a comment\nx=1x2 y=2\n\nx=0x4 y=4  # another\r\n")
    (tmp_path / "s").write_text("x=1x2 y=2;x=0x4 y=4")
    for name in ("x=stream.txt", "s"):
        assert [s["shape"] for s in shapes(msvm_cli("run", add, "--stream", name, "--json"))] == ["x=1x2 y=2", "x=0x4 y=4"]
    rest = shapes(msvm_cli("run", add, "-s", "y=3", "--stream", "x=1x3; x=2x3", "--json"))
    assert [s["shape"] for s in rest] == ["x=1x3 y=3", "x=2x3 y=3"]
    done = msvm_cli("run", add, "--stream", "streams.txt")
    assert done.code == 3 and "streams.txt" in done.err
    done = msvm_cli("run", add, "--stream", " ; ")
    assert done.code == 1 and "no shapes" in done.err


def test_one_input_needs_no_name(msvm_cli, relu):
    assert [s["shape"] for s in shapes(msvm_cli("run", relu, "--stream", "1x4; 3x4", "--json"))] == ["x=1x4", "x=3x4"]


@pytest.mark.parametrize(
    "spec", ["x=", "x=2x", "x=x2", "x=2xx3", "x=-1x3", "x=2.5x3", "x= 2x3", "x=99999999999999999999", "=2x3", "2x3", "z=1", "x=2x3y"]
)
def test_bad_shapes(msvm_cli, add, spec):
    done = msvm_cli("run", add, "-s", spec, "-s", "y=3")
    assert done.code == 1 and f"--shape {spec}: " in done.err


@pytest.mark.parametrize("spec", ["x", "x=1", "x=a:b", "x=1:", "x=:1", "x=1:2z", "x=2:1", "x=nan:1", "x=0:inf", "z=0:1"])
def test_bad_ranges(msvm_cli, add, spec):
    done = msvm_cli("run", add, "-s", "x=2x3", "-s", "y=3", "--range", spec)
    assert done.code == 1 and f"--range {spec}: " in done.err


def test_ranges(msvm_cli, tmp_path):
    from programs import copy_program

    for dtype, low, high in (
        ("f32", 2, 3),
        ("i64", 5, 9),
        ("u8", -1e30, 1e30),
        ("i32", -1e30, 1e30),
        ("f16", 0, 1),
        ("bf16", 1, 2),
        ("bool", 0, 1),
    ):
        copy_program(tmp_path, dtype, 1)
        args = ["run", "program.msasm", "-s", "100", "--range", f"x={low}:{high}", "-n", "1", "-o", "y.npy"]
        assert msvm_cli(*args).code == 0
        y = np.load(tmp_path / "y.npy")
        if dtype != "bf16":
            assert y.astype(np.float64).min() >= low and y.astype(np.float64).max() <= high
            assert len(np.unique(y)) > 1


def test_wrong_sizes_name_the_input(msvm_cli, add):
    done = msvm_cli("run", add, "-s", "x=2x3", "-s", "y=4")
    assert done.code == 1 and "at x=2x3 y=4: input 1 (y): expected f32[M], found f32[4]: axis 0 must be 3" in done.err
    done = msvm_cli("run", add, "-s", "x=2x3")
    assert done.code == 1 and "--shape y=SIZES or --input y=FILE.npy" in done.err
    done = msvm_cli("run", add, "-s", "x=65x3", "-s", "y=3")
    assert done.code == 1 and "N is 65, it must be in [0, 64]" in done.err


def test_npy_and_npz(msvm_cli, add, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    done = msvm_cli("run", add, "-i", "x=x.npy", "--input", "y=y.npy", "-o", "z.npy")
    assert done.code == 0 and "output z: f32[2, 3] = [10, 21, 32, 13, 24, 35]" in done.out
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), X + Y)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "in.npz", x=X, y=Y)
        assert msvm_cli("run", add, "-i", "in.npz", "-o", "out.npz").code == 0
        with np.load(tmp_path / "out.npz") as out:
            assert list(out) == ["z"]
            np.testing.assert_array_equal(out["z"], X + Y)
    assert msvm_cli("run", add, "-i", "x=x.npy", "-s", "y=3", "-n", "1").code == 0
    assert msvm_cli("run", add, "-i", "in.npz", "-o", "nowhere/z.npy").code == 3
    assert msvm_cli("run", add, "-i", "in.npz", "-o", "nowhere/z.npz").code == 3


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
def test_every_dtype(msvm_cli, tmp_path, dtype):
    from programs import copy_program

    t = np.dtype(dtype)
    copy_program(tmp_path, {"f": "f", "i": "i", "u": "u", "b": "bool"}[t.kind] + ("" if dtype == "?" else str(8 * t.itemsize)), 2)
    for x in (np.array([[0, 1, 0], [1, 1, 0]], t), np.zeros((0, 3), t)):
        np.save(tmp_path / "x.npy", x)
        assert msvm_cli("run", "program.msasm", "-i", "x=x.npy", "-n", "1", "-o", "y.npy").code == 0
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == t
        np.testing.assert_array_equal(y, x)


def test_rank_zero_and_bfloat16(msvm_cli, tmp_path):
    from programs import copy_program

    copy_program(tmp_path, "f32", 0)
    np.save(tmp_path / "x.npy", np.float32(2.5))
    assert "= [2.5]" in msvm_cli("run", "program.msasm", "-i", "x=x.npy", "-n", "1", "-o", "y.npy").out
    assert np.load(tmp_path / "y.npy").shape == ()
    assert "f32[] = " in msvm_cli("run", "program.msasm", "-s", "scalar").out
    copy_program(tmp_path, "bf16", 1)
    np.save(tmp_path / "x.npy", np.array([0x3F80, 0x7FC0], np.uint16))
    assert msvm_cli("run", "program.msasm", "-i", "x=x.npy", "-n", "1", "-o", "y.npy").code == 0
    assert np.load(tmp_path / "y.npy").tolist() == [0x3F80, 0x7FC0]


def test_scalars(msvm_cli, tmp_path):
    from programs import SCALARS

    (tmp_path / "s.msasm").write_text(SCALARS)
    np.savez(tmp_path / "in.npz", i=np.int64(7), r=np.float64(2.5), b=np.bool_(True))
    done = msvm_cli("run", "s.msasm", "-i", "in.npz")
    assert done.code == 0 and "output 0: 7\noutput 1: 2.5\noutput 2: true\n" in done.out
    assert msvm_cli("run", "s.msasm", "--range", "i=3:3").out.count("output 0: 3\n") == 1


def test_bad_input_files(msvm_cli, add, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    rest = ["-i", "y=y.npy", "-n", "1"]
    buffer = io.BytesIO()
    np.save(buffer, X)
    good = buffer.getvalue()

    def header(text, body=b""):
        text = text.encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body

    saved = {}
    for name, a in (
        ("dtype", X.astype("f8")),
        ("complex", X.astype("c8")),
        ("big", X.astype(">f4")),
        ("fortran", np.asfortranarray(X)),
        ("rank", X[0]),
        ("text", np.array(["a"])),
    ):
        buffer = io.BytesIO()
        np.save(buffer, a)
        saved[name] = buffer.getvalue()
    files = {
        **{f"cut at {n}": good[:n] for n in (0, 5, 7, 9, 20, len(good) - 1)},
        "no magic": b"x" + good[1:],
        "negative": header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", bytes(24)),
        "overflow": header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", bytes(24)),
        "huge": header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", bytes(24)),
        "no shape": header("{'descr': '<f4', 'fortran_order': False, }", bytes(24)),
        "no dtype": header("{'shape': (2, 3), }", bytes(24)),
        "rank 9": header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", bytes(24)),
        **saved,
    }
    for name, content in files.items():
        (tmp_path / "bad.npy").write_bytes(content)
        done = msvm_cli("run", add, "-i", "x=bad.npy", *rest)
        assert done.code == 1 and done.err.startswith("error: ") and done.out == "", (name, done)
        assert "bad.npy" in done.err or "input 0 (x)" in done.err or "rank" in done.err, (name, done)
    wrong = [["x.npy"], ["z=x.npy"], ["x=no.npy"], ["no.npz"], ["x=y.npy"], ["x=x.npy", "-s", "x=2x3"]]
    for args in wrong:
        done = msvm_cli("run", add, "-i", *args, *rest)
        assert done.code == (3 if "no." in args[0] else 1), (args, done)


def test_bad_archives(msvm_cli, add, tmp_path):
    np.savez(tmp_path / "good.npz", x=X, y=Y)
    good = (tmp_path / "good.npz").read_bytes()
    for content in (b"", b"PK", good[: len(good) // 2], b"x" * 100):
        (tmp_path / "bad.npz").write_bytes(content)
        done = msvm_cli("run", add, "-i", "bad.npz")
        assert done.code == 1 and "bad.npz" in done.err
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as z:
        z.writestr("x.npy", b"nothing")
    done = msvm_cli("run", add, "-i", "bad.npz")
    assert done.code == 1 and "bad.npz:x" in done.err
    np.savez(tmp_path / "more.npz", x=X, y=Y, z=Y)
    done = msvm_cli("run", add, "-i", "more.npz")
    assert done.code == 1 and "no input z" in done.err


def test_results_into_the_right_kind_of_file(msvm_cli, tmp_path):
    (tmp_path / "two.msasm").write_text("""module "two" version 1
func @main(x: f32[N]) -> (a: f32[N], i64, f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R2
  RETURN (R1, R2; N)
""")
    np.save(tmp_path / "x.npy", Y)
    done = msvm_cli("run", "two.msasm", "-i", "x=x.npy", "-o", "out.npy")
    assert done.code == 1 and ".npz" in done.err
    assert msvm_cli("run", "two.msasm", "-i", "x=x.npy", "-o", "out.npz").code == 0
    with np.load(tmp_path / "out.npz") as out:
        assert {k: v.tolist() for k, v in out.items()} == {"a": Y.tolist(), "output1": 3, "output2": Y.tolist()}


def test_limits(msvm_cli, add, tmp_path):
    from programs import FOREVER

    (tmp_path / "f.msasm").write_text(FOREVER)
    for limit in (["--max-instructions", "1000"], ["--max-seconds", "0.01"]):
        done = msvm_cli("run", "f.msasm", *limit)
        assert done.code == 1 and "limit" in done.err
    done = msvm_cli("run", add, "-s", "x=64x1000", "-s", "y=1000", "--max-memory", "1000")
    assert done.code == 1 and "1000" in done.err
    done = msvm_cli("run", add, "-s", "x=9223372036854775807x9223372036854775807", "-s", "y=1")
    assert done.code == 1 and "overflow" in done.err
    done = msvm_cli("run", add, "-s", "x=1x9000000000000000", "-s", "y=1")
    assert done.code == 1 and done.err.startswith("error: ")
    assert msvm_cli("run", add, "-s", "x=1x1", "-s", "y=1", "-q").code == 0


def test_threads(msvm_cli, add):
    args = ["run", add, "-s", "x=1x2", "-s", "y=2", "--json"]
    assert json.loads(msvm_cli(*args, env={"MSVM_NUM_THREADS": "2"}).out)["threads"] == 2
    assert json.loads(msvm_cli(*args, "-t", "3").out)["threads"] == 3
    assert msvm_cli(*args, "-t", "5000").code == 2


def test_kernels_by_time(msvm_cli, relu):
    done = msvm_cli("run", relu, "-s", "500x4", "-k", "-q")
    assert done.code == 0 and re.search(r"^(Add|Relu|\S+) +\S* +\d+ ", done.out, re.M) and "100.0%" not in done.out
