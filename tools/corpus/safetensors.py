"""Reads the safetensors format: a little-endian length, a JSON table of contents, then the data."""

import json
import struct
from pathlib import Path

import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """The file's tensors by name. A dtype that numpy lacks (such as BF16) is an error."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    contents = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in contents.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"{path.name}: {name} has dtype {entry['dtype']}, which is not supported")
        tensors[name] = np.frombuffer(data[begin:end], _DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
