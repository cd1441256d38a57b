"""What numbers in rules may be written in, and how values are written for people."""

from __future__ import annotations

RATIO, COUNT, PER_SECOND, MILLISECONDS, BYTES = "0 to 1", "count", "1/s", "ms", "bytes"

SUFFIXES: dict[str, dict[str, float]] = {
    RATIO: {"%": 0.01},
    COUNT: {},
    PER_SECOND: {},
    MILLISECONDS: {"ms": 1, "s": 1e3},
    BYTES: {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
}
"""Unit of a metric → what may follow a number that is compared with it, and its factor."""

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
"""What may follow a number of time, and its factor."""


def shown(value: float | None, unit: str) -> str:
    """With its unit, three or four digits."""
    if value is None:
        return "no value"
    if unit == BYTES:
        for factor, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if abs(value) >= factor:
                return f"{value / factor:.3g} {name}"
        return f"{value:.0f} bytes"
    if unit == RATIO:
        return f"{value:.3f}"
    number = f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.3g}"
    return number + {MILLISECONDS: " ms", PER_SECOND: " a second"}.get(unit, "")


def shown_seconds(seconds: float) -> str:
    """``90 s``, ``5 min``, ``2 h 10 min``."""
    s = round(seconds)
    if s < 120:
        return f"{s} s"
    if s < 7200:
        return f"{s // 60} min" + (f" {s % 60} s" if s % 60 else "")
    return f"{s // 3600} h {s % 3600 // 60} min"
