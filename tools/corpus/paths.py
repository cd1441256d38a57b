"""Where downloaded and generated files live: outside the clone, shared by all clones of a user."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`$MSVM_CACHE`, else the user's cache folder; created if need be."""
    base = os.environ.get("MSVM_CACHE")
    path = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "msvm"
    path.mkdir(parents=True, exist_ok=True)
    return path


def model_path(name: str) -> Path:
    """The model's `.onnx` file; it is there once `python -m corpus` has run."""
    return cache_dir() / "models" / f"{name}.onnx"


def replace_with(path: Path, data: bytes) -> None:
    """Write `path` whole or not at all, also when two processes do it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(path)
