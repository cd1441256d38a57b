"""Options of the process: what functions and programs that are made from now on start from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from . import _core
from ._errors import InputError

GRAPH_MODE: Final = 0
PYNATIVE_MODE: Final = 1

_lock = threading.Lock()
_given: Mapping[str, Any] = {}  # replaced as a whole, never changed
_defaults: Final = {o["name"]: o["default"] for o in _core.OPTIONS if "set_context" in o["given"]}
_of_jit: Final = frozenset(o["name"] for o in _core.OPTIONS if "jit" in o["given"])
_of_engine: Final = frozenset(o["name"] for o in _core.OPTIONS if o["applies"] == "engine" and "jit" in o["given"])

# Options that only say something with a certain cache_mode. Inherited ones give way to a mode that is asked for.
_OF_MODE: Final = {"bucket_boundaries": "bucket", "shape_policy": "adaptive"}


def set_context(*, jit_config: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Set options of the process; ``docs/python.md`` has the table. None puts an option back to its default.

    ``jit_config`` is a mapping of options that ``jit`` takes, the same as giving them by themselves. Functions and programs that exist
    already keep what they were made with. Raises ``InputError`` for unknown options, and for values out of range; then nothing changes.
    """
    global _given
    if jit_config is not None:
        if not isinstance(jit_config, Mapping):
            raise InputError(f"set_context: jit_config is a mapping of options, found {type(jit_config).__name__}")
        options = {**_core.check_options(dict(jit_config), "jit"), **options}
    checked = _core.check_options(options, "set_context")
    with _lock:
        merged = {k: v for k, v in _given.items() if k not in options} | checked
        _core.check_together(merged)
        if "capability_db" in checked:
            _core.make_engine(merged)  # a file that is refused is refused here
        _given = merged
    for follow in _followers:
        follow()


_followers: list[Callable[[], None]] = []


def on_change(follow: Callable[[], None]) -> None:
    """``follow`` is called after each change."""
    _followers.append(follow)


def options_of_engine() -> dict[str, Any]:
    """Those of the context that say which engine serves: threads, memory, kernels."""
    return {k: v for k, v in _given.items() if k in _of_engine}


def get_context(name: str | None = None) -> Any:
    """The value of one option, or a dict of all. Raises ``InputError`` for unknown names."""
    given = _given
    if name is None:
        return {**_defaults, **given}
    if name == "jit_config":
        return {k: v for k, v in given.items() if k in _of_jit}
    if name not in _defaults:
        _core.check_options({name: None}, "get_context")
        _core.check_options({name: None}, "set_context")
    return given.get(name, _defaults[name])


def options_for(place: str, options: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """What ``_core.load`` and the like take: ``options``, else the context's, else ``defaults``.

    ``place`` (``jit``, ``load``, ``onnx.load``) says which options are possible, and is named in errors.
    """
    checked = _core.check_options(dict(options), place)
    inherited = dict(_given)
    mode = checked.get("cache_mode")
    if mode is not None:
        inherited = {k: v for k, v in inherited.items() if _OF_MODE.get(k, mode) == mode}
    merged = {**defaults, **inherited, **checked}
    _core.check_together(merged)
    return merged


def pynative() -> bool:
    """Whether jitted functions run eagerly."""
    return bool(_given.get("mode", GRAPH_MODE) == PYNATIVE_MODE)
