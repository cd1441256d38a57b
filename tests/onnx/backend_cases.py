"""The node tests of the `onnx` package, as models with inputs and expected outputs.

`python backend_cases.py [FILTER]` runs them all and prints what differs: the list in `not_passed.txt` is made from it.
"""

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

NOT_PASSED = Path(__file__).with_name("not_passed.txt")


def load_cases() -> list:
    """Every node test case, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(load_model_tests(kind="node"), key=lambda case: case.name)


def not_passed() -> dict[str, str]:
    """Name of a case -> why it isn't passed."""
    lines = [line.split("#")[0].split(maxsplit=1) for line in NOT_PASSED.read_text().splitlines()]
    return {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines if line}


def compare(want: list, got: list, rtol: float, atol: float) -> None:
    """Raises AssertionError where a result differs in type, shape or value."""
    assert len(want) == len(got), f"{len(got)} outputs, {len(want)} expected"
    for w, g in zip(want, got, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        if w.dtype.name == "bfloat16" and g.dtype == np.uint16:
            g = g.view(w.dtype)  # numpy has no bfloat16 of its own
        assert w.shape == g.shape, f"shape {g.shape}, expected {w.shape}"
        if w.dtype == object or w.dtype.kind in "US":
            assert [str(v) for v in w.ravel()] == [str(v) for v in g.ravel()]
            continue
        assert w.dtype == g.dtype, f"dtype {g.dtype}, expected {w.dtype}"
        if w.dtype.name in ("float16", "bfloat16"):
            rtol, atol = max(rtol, 1e-2), max(atol, 1e-3)
        if w.dtype.kind in "fc" or w.dtype.name == "bfloat16":
            np.testing.assert_allclose(g.astype(np.float64), w.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
        else:
            np.testing.assert_array_equal(g, w)


def _freeze(model: onnx.ModelProto, names: list[str], values: list) -> onnx.ModelProto:
    """The model with its integers and bools after the first input as constants: axes, axis and the like must be known on import."""
    frozen = onnx.ModelProto()
    frozen.CopyFrom(model)
    for name, value in list(zip(names, values, strict=False))[1:]:
        if value.dtype in (np.int64, np.int32, np.bool_) and value.ndim <= 1:
            frozen.graph.initializer.append(numpy_helper.from_array(value, name))
    return frozen


def _as_array(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if value is None or isinstance(value, list) else np.asarray(value)


def run_case(case, folder: Path) -> None:
    """Imports and runs one case; raises what went wrong."""
    import msvm.onnx

    import msvm

    path = folder / "case.onnx"
    names = [i.name for i in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        values = [_as_array(v) for v in inputs]
        path.write_bytes(case.model.SerializeToString())
        try:
            program = msvm.onnx.load(path, num_threads=1)
        except msvm.UnsupportedError as e:
            if "must be a constant" not in str(e):
                raise
            model = _freeze(case.model, names, values)
            path.write_bytes(model.SerializeToString())
            program = msvm.onnx.load(path, num_threads=1)
        wanted = set(program.inputs)
        got = program.run({n: v for n, v in zip(names, values, strict=False) if v is not None and n in wanted})
        compare([_as_array(v) for v in outputs], got, max(case.rtol, 1e-3), max(case.atol, 1e-6))


def failures(pattern: str) -> Iterator[tuple[str, str]]:
    """Name and reason of each case that isn't passed."""
    with tempfile.TemporaryDirectory() as folder:
        for case in load_cases():
            if pattern not in case.name:
                continue
            try:
                run_case(case, Path(folder))
            except Exception as e:
                text = " ".join(str(e).split())
                yield case.name, f"{type(e).__name__}: {text[:300]}"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build/release/python"))
    for name, why in failures(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(name, why, flush=True)
