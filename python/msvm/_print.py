"""Where ``print`` within programs goes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ._errors import raise_pending

_NUMBERS = ("float64", "int64", "bool")


def _number(v: Any) -> Any:
    """Python's own numbers come as tensors of rank 0."""
    return v.item() if getattr(v, "shape", None) == () and v.dtype.name in _NUMBERS else v


def write(template: str, values: Sequence[Any]) -> None:
    """Writes the text with its values, numpy arrays and ints, to ``sys.stdout`` as it is now."""
    values = [_number(v) for v in values]
    if template.startswith("[[python "):
        raise_pending(template, values)
    out = sys.stdout
    if out is not None:
        out.write(template.format(*values))
