"""A loaded program: named inputs in, list of arrays out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _context, _core, _registry
from ._errors import FileError, InputError


class Program:
    """A verified program. Safe to call from several threads at once; the GIL is released while it runs."""

    def __init__(self, core: _core.Executable) -> None:
        self._core = core
        self.inputs: list[str] = core.input_names()
        """Names of the inputs, in order."""
        self.outputs: list[str] = core.output_names()
        """Names of the outputs, in order."""
        _registry.add(self)

    def executables(self) -> list[_core.Executable]:
        """The one compiled program behind it, for ``msvm.vm``."""
        return [self._core]

    @property
    def input_types(self) -> dict[str, str]:
        """Declared types, e.g. ``{"x": "f32[N, 3, H, W]"}``."""
        return dict(zip(self.inputs, self._core.input_types(), strict=True))

    @property
    def output_types(self) -> dict[str, str]:
        return dict(zip(self.outputs, self._core.output_types(), strict=True))

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata that the model came with."""
        return self._core.metadata()

    def run(self, feed: Mapping[str, Any]) -> list[Any]:
        """Run once.

        ``feed`` maps each input's name to an array of the declared dtype and rank. Arrays are read in place, read-only and
        strided ones too; those with negative strides, foreign byte order or unaligned elements are copied first. bfloat16 comes
        and goes as its bits in uint16. Returns one numpy array per output, or int, float, bool where the output's type says so;
        arrays own their memory. If an input is an ``msvm.Tensor``, results are tensors. Raises ``InputError`` for names, dtypes, ranks
        and sizes that don't fit.
        """
        if not isinstance(feed, Mapping):
            raise InputError(f"run takes a mapping from names to arrays, found {type(feed).__name__}")
        if len(feed) != len(self.inputs) or any(k not in feed for k in self.inputs):
            self._complain_about_names(feed)
        results = self._core.run([self._array(name, feed[name]) for name in self.inputs])
        if any(isinstance(v, _core.Tensor) for v in feed.values()):
            return [_core.Tensor(v) if isinstance(v, np.ndarray) else v for v in results]
        return results

    def cancel(self) -> None:
        """End every run of this program that has begun, in whatever thread, with an ``Error``."""
        self._core.cancel()

    def __call__(self, *inputs: Any) -> list[Any]:
        """As ``run``, with a mapping, or the inputs in order. In a function under ``@msvm.jit`` it becomes part of that."""
        return self.run(self.feed(inputs))

    def feed(self, inputs: tuple[Any, ...]) -> Mapping[str, Any]:
        """The mapping from names that a call with these arguments means."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            return inputs[0]
        if len(inputs) != len(self.inputs):
            raise InputError(f"the program takes the inputs {', '.join(self.inputs)}; {len(inputs)} are given")
        return dict(zip(self.inputs, inputs, strict=True))

    def profile(self, on: bool | None = None) -> list[dict[str, Any]]:
        """Per instruction: text, runs, nanoseconds, kernel. ``profile(True)`` starts counting, ``profile(False)`` ends it."""
        if on is not None:
            self._core.set_profiling(on)
        return self._core.profile()

    def counters(self) -> dict[str, int]:
        """Runs, failed runs, instructions, calls, allocations, native regions since the program was loaded."""
        return self._core.counters()

    def jit_info(self) -> str:
        """Regions, their native code and its hits, what was fused, hit rates: as text."""
        return self._core.jit_info()

    def set_limits(self, max_bytes: int = 0, max_instructions: int = 0, max_seconds: float = 0.0) -> None:
        """Bytes of live tensors, instructions and wall time that a run may use; 0 = no limit."""
        self._core.set_limits(max_bytes, max_instructions, max_seconds)

    def disassemble(self) -> str:
        """The program as assembly text."""
        return self._core.disassemble()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program as ``.msbc``."""
        if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - a rename would put the file in a device's place
            raise FileError(f"{os.fsdecode(path)}: not a regular file")
        self._core.save(os.fsencode(path))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{k}: {t}" for k, t in self.input_types.items())
        outputs = ", ".join(f"{k}: {t}" for k, t in self.output_types.items())
        return f"<msvm.Program ({inputs}) -> ({outputs})>"

    def _repr_html_(self) -> str:
        import html

        def row(kind: str, name: str, declared: str) -> str:
            return f"<tr><td>{kind}</td><td>{html.escape(name)}</td><td><code>{html.escape(declared)}</code></td></tr>"

        rows = [row("input", *item) for item in self.input_types.items()] + [row("output", *item) for item in self.output_types.items()]
        name = html.escape(self._core.options()["name"] or self._core.jit_view()["program"] or "Program")
        return f"<table><caption>{name}</caption><tbody>{''.join(rows)}</tbody></table>"

    @staticmethod
    def _array(name: str, value: Any) -> np.ndarray[Any, Any]:
        try:
            a = np.asarray(value)
        except (ValueError, TypeError) as e:
            raise InputError(f"input {name}: {e}") from e
        if a.dtype.name == "bfloat16":  # of the package ml_dtypes
            a = a.view(np.uint16)
        native = a.dtype.isnative and a.flags.aligned and all(s >= 0 and s % max(1, a.itemsize) == 0 for s in a.strides)
        return a if native else np.array(a, dtype=a.dtype.newbyteorder("="), order="C")

    def _complain_about_names(self, feed: Mapping[str, Any]) -> None:
        missing = [k for k in self.inputs if k not in feed]
        unknown = [k for k in feed if k not in self.inputs]
        parts = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(map(str, unknown))}"] * bool(unknown)
        raise InputError(f"the program takes the inputs {', '.join(self.inputs)}; {'; '.join(parts)}")


def load(path: str | os.PathLike[str], **options: Any) -> Program:
    """Load and verify a ``.msbc`` or ``.msasm`` file; options as in the table of ``docs/python.md``.

    Operators stay as the file has them unless ``opt=1`` asks for the optimiser.
    """
    return Program(_core.load(os.fsencode(path), _context.options_for("load", options, opt=0)))


def save(program: Any, path: str | os.PathLike[str]) -> None:
    """Write a program, or a jitted function, as ``.msbc``: what ``load`` reads."""
    write = getattr(program, "save", None)
    if write is None:
        raise InputError(f"save takes a Program or a jitted function, found {type(program).__name__}")
    write(path)


def disassemble(path: str | os.PathLike[str]) -> str:
    """The assembly text of a ``.msbc`` or ``.msasm`` file, verified or not; constants above 256 bytes are left out."""
    return _core.disassemble(os.fsencode(path))
