"""Where ``print`` within programs goes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


def write(template: str, values: Sequence[Any]) -> None:
    """Writes the text with its values, numpy arrays and ints, to ``sys.stdout`` as it is now."""
    out = sys.stdout
    if out is not None:
        out.write(template.format(*values))
