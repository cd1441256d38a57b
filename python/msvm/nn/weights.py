"""Weights from and to files: safetensors and npz.

A safetensors file: 8 bytes, little-endian, the length of a header; the header, JSON: name → dtype, shape and the begin and end of the
tensor's bytes behind it, and ``__metadata__``, texts by name; then the bytes. Files are read by mapping them: tensors are views.
"""

from __future__ import annotations

import io
import json
import math
import mmap
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from .._errors import FileError, InputError
from ..frontend.values import DTYPE
from .cell import Cell
from .parameter import Parameter

_NAMES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
_CODES = {name: code for code, name in _NAMES.items()}
MAX_HEADER = 100_000_000

_ALIASES = {
    "gamma": ("weight",),
    "beta": ("bias",),
    "moving_mean": ("running_mean",),
    "moving_variance": ("running_var",),
    "embedding_table": ("weight",),
}
"""The last part of a parameter's name → how torch names the same."""
_IGNORED = ("num_batches_tracked",)

Path_ = str | os.PathLike[str]


def _bad(path: Path_, why: str) -> FileError:
    return FileError(f"{os.fspath(path)}: {why}")


# --- safetensors ---------------------------------------------------------------------------------------------------------


def load_safetensors(path: Path_) -> dict[str, _core.Tensor]:
    """Tensors by name, in the order of the file. They are views of the mapped file: don't write into it meanwhile, replace it by renaming.

    Errors: FileError for a file that can't be read, or breaks the format in any way; nothing of it is taken then.
    """
    return _read_safetensors(path)[0]


def load_metadata(path: Path_) -> dict[str, str]:
    """The texts by name that a safetensors file came with."""
    return _read_safetensors(path)[1]


def _read_safetensors(path: Path_) -> tuple[dict[str, _core.Tensor], dict[str, str]]:
    try:
        with Path(path).open("rb") as f:
            size = os.fstat(f.fileno()).st_size
            if size < 8:
                raise _bad(path, f"expected a safetensors file, found {size} bytes")
            data: Any = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as e:
        raise _bad(path, e.strerror or str(e)) from e
    except ValueError as e:
        raise _bad(path, str(e)) from e
    n = int.from_bytes(data[:8], "little")
    if n > MAX_HEADER or 8 + n > size:
        raise _bad(path, f"the header would be {n} bytes, the file has {size}: it isn't safetensors, or cut off")
    header = _header(path, data[8 : 8 + n])
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise _bad(path, "__metadata__ must hold texts")
    return _tensors(path, header, data, 8 + n, size), metadata


def _header(path: Path_, raw: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _bad(path, "a name stands twice in the header")
        return found

    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as e:
        raise _bad(path, f"the header isn't JSON: {e}") from None
    if not isinstance(header, dict):
        raise _bad(path, "the header isn't an object")
    return header


def _is_size(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 1 << 63


def _tensors(path: Path_, header: dict[str, Any], data: Any, start: int, size: int) -> dict[str, _core.Tensor]:
    out: dict[str, _core.Tensor] = {}
    spans: list[tuple[int, int]] = []
    view = np.frombuffer(data, np.uint8)
    for name, entry in header.items():
        if not isinstance(entry, dict):
            raise _bad(path, f"tensor {name!r}: expected an object")
        dtype = DTYPE.get(_NAMES.get(entry.get("dtype") if isinstance(entry.get("dtype"), str) else "", ""))  # type: ignore[arg-type]
        shape, offsets = entry.get("shape"), entry.get("data_offsets")
        if dtype is None:
            raise _bad(path, f"tensor {name!r}: the dtype {entry.get('dtype')!r} isn't one of {', '.join(_NAMES)}")
        if not isinstance(shape, list) or not all(map(_is_size, shape)) or len(shape) > 8:
            raise _bad(path, f"tensor {name!r}: the shape {shape!r} isn't a list of at most 8 sizes")
        if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
            raise _bad(path, f"tensor {name!r}: data_offsets {offsets!r} isn't a begin and an end")
        begin, end = offsets
        if not begin <= end <= size - start:
            raise _bad(path, f"tensor {name!r}: its bytes {begin} to {end} lie outside the file, which has {size - start}")
        if end - begin != math.prod(shape) * dtype.itemsize:
            raise _bad(path, f"tensor {name!r}: {end - begin} bytes don't hold {dtype.name}{shape}")
        spans.append((begin, end))
        part = view[start + begin : start + end]
        raw = "uint16" if dtype.name == "bfloat16" else dtype.numpy
        if dtype.kind == "b" and part.size and part.max() > 1:
            raise _bad(path, f"tensor {name!r}: a bool is neither 0 nor 1")
        array = part.view(raw) if part.ctypes.data % dtype.itemsize == 0 else part.copy().view(raw)
        out[name] = _core.Tensor(array.reshape(shape), dtype)
    spans.sort()
    at = 0
    for begin, end in spans:
        if begin != at:
            raise _bad(path, f"the tensors' bytes {'overlap' if begin < at else 'leave a gap'} at {begin}")
        at = end
    if at != size - start:
        raise _bad(path, f"{size - start - at} bytes behind the last tensor belong to nothing")
    return out


def save_safetensors(tensors: dict[str, Any], path: Path_, metadata: dict[str, str] | None = None) -> None:
    """Writes tensors by name. A file that is there is replaced by renaming, so that mappings of it stay whole.

    Errors: FileError where it can't be written; InputError for dtypes that the format doesn't have.
    """
    header: dict[str, Any] = {}
    if metadata:
        header["__metadata__"] = {str(k): str(v) for k, v in metadata.items()}
    arrays, at = [], 0
    for name, t in _of_arrays(tensors).items():
        array, dtype = t
        if dtype not in _CODES:
            raise InputError(f"{name}: dtype {dtype} can't be written to safetensors")
        header[name] = {"dtype": _CODES[dtype], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        arrays.append(array)
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    _replace(path, [len(text).to_bytes(8, "little"), text, *(a.tobytes() if not a.flags.c_contiguous else a.data for a in arrays)])


def _of_arrays(tensors: dict[str, Any]) -> dict[str, tuple[np.ndarray[Any, Any], str]]:
    """Dense arrays and the names of their dtypes; bfloat16 as its bits."""
    out = {}
    for name, t in tensors.items():
        found = t if isinstance(t, _core.Tensor) else _core.Tensor(np.asarray(t))
        array = np.asarray(found.asnumpy())
        if found.dtype.name == "bfloat16":
            array = array.view(np.uint16)
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        out[name] = (np.array(array, order="C", copy=None), found.dtype.name)
    return out


def _replace(path: Path_, parts: list[Any]) -> None:
    target = Path(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent or ".", prefix=f".{target.name}.", delete=False) as f:
            temporary = Path(f.name)
            for part in parts:
                f.write(part)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as e:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise _bad(path, e.strerror or str(e)) from e


# --- npz -----------------------------------------------------------------------------------------------------------------


def load_npz(path: Path_) -> dict[str, _core.Tensor]:
    """Tensors by name. Errors: FileError for a file that can't be read or isn't npz, and for arrays that can't be tensors."""
    out: dict[str, _core.Tensor] = {}
    try:
        archive: Any = np.load(path, allow_pickle=False)
        if not hasattr(archive, "files"):
            raise _bad(path, "expected an npz archive, found a single array")
        with archive:
            for name in archive.files:
                array = archive[name]
                bits = array.dtype == np.uint16 and name.endswith(_BF16)
                out[name.removesuffix(_BF16) if bits else name] = _core.Tensor(array, DTYPE["bfloat16"]) if bits else _core.Tensor(array)
    except FileError:
        raise
    except OSError as e:
        raise _bad(path, e.strerror or str(e)) from e
    except Exception as e:  # zipfile, zlib and numpy have errors of all kinds for broken files
        raise _bad(path, f"it can't be read as npz: {e}") from e
    return out


_BF16 = ":bfloat16"


def save_npz(tensors: dict[str, Any], path: Path_) -> None:
    """Writes tensors by name, uncompressed; the name of a bfloat16 tensor, which goes as its bits, gets ``:bfloat16`` behind it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, (array, dtype) in _of_arrays(tensors).items():
            with archive.open(f"{name}{_BF16 if dtype == 'bfloat16' else ''}.npy", "w", force_zip64=True) as f:
                np.lib.format.write_array(f, array, allow_pickle=False)
    _replace(path, [buffer.getbuffer()])


# --- cells ---------------------------------------------------------------------------------------------------------------


def load_file(path: Path_) -> dict[str, _core.Tensor]:
    """Tensors by name from a ``.safetensors`` or ``.npz`` file. Errors: InputError for another ending."""
    ending = Path(path).suffix.lower()
    if ending == ".safetensors":
        return load_safetensors(path)
    if ending == ".npz":
        return load_npz(path)
    raise InputError(f"{os.fspath(path)}: expected .safetensors or .npz")


def save_file(tensors: dict[str, Any], path: Path_) -> None:
    """Writes tensors by name to a ``.safetensors`` or ``.npz`` file. Errors: InputError for another ending."""
    ending = Path(path).suffix.lower()
    if ending == ".safetensors":
        save_safetensors(tensors, path)
    elif ending == ".npz":
        save_npz(tensors, path)
    else:
        raise InputError(f"{os.fspath(path)}: expected .safetensors or .npz")


def save_weights(cell: Cell, path: Path_) -> None:
    """Writes a cell's parameters, by name."""
    save_file(dict(cell.parameters_and_names()), path)


def load_weights(cell: Cell, path: Path_, strict: bool = True) -> tuple[list[str], list[str]]:
    """``Cell.load_state`` from a file."""
    try:
        return assign(cell, load_file(path), strict)
    except InputError as e:
        raise InputError(f"{os.fspath(path)}: {e}") from None


def assign(cell: Cell, state: dict[str, Any], strict: bool) -> tuple[list[str], list[str]]:
    """See ``Cell.load_state``."""
    left = {name: v for name, v in state.items() if not name.endswith(_IGNORED)}
    missing: list[str] = []
    found: list[tuple[str, Parameter, _core.Tensor]] = []
    for name, p in cell.parameters_and_names():
        key = next((k for k in _names_of(name) if k in left), None)
        if key is None:
            missing.append(name)
            continue
        v = left.pop(key)
        t = v if isinstance(v, _core.Tensor) else _core.Tensor(np.asarray(v))
        if t.shape != p.shape or t.dtype is not p.dtype:
            raise InputError(f"parameter {name}: expected {p.dtype.name}{list(p.shape)}, found {t.dtype.name}{list(t.shape)}")
        found.append((name, p, t))
    if strict and (missing or left):
        parts = [f"without a value: {', '.join(missing)}"] if missing else []
        parts += [f"of no parameter: {', '.join(left)}"] if left else []
        raise InputError(f"names don't fit; {'; '.join(parts)}; with strict=False they are left alone")
    for _, p, t in found:
        p.set_data(t)
    return missing, list(left)


def _names_of(name: str) -> list[str]:
    head, _, last = name.rpartition(".")
    return [name, *(f"{head}.{a}" if head else a for a in _ALIASES.get(last, ()))]


def save_checkpoint(save_obj: Any, ckpt_file_name: Path_) -> None:
    """Writes the parameters of a cell, or tensors by name (a dict, or a list of dicts with name and data)."""
    if isinstance(save_obj, Cell):
        save_weights(save_obj, ckpt_file_name)
        return
    if isinstance(save_obj, list):
        save_obj = {entry["name"]: entry["data"] for entry in save_obj}
    save_file(save_obj, ckpt_file_name)


def load_checkpoint(ckpt_file_name: Path_, net: Cell | None = None, strict_load: bool = False) -> dict[str, Parameter]:
    """Parameters by name from a file; where a cell is given, it takes them."""
    tensors = load_file(ckpt_file_name)
    if net is not None:
        assign(net, dict(tensors), strict_load)
    return {name: Parameter(t, name) for name, t in tensors.items()}


def load_param_into_net(net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False) -> tuple[list[str], list[str]]:
    """``net.load_state``: names that were missing, and those of nothing there."""
    return assign(net, dict(parameter_dict), strict_load)
