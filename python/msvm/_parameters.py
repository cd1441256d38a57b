"""Parameters of Python functions, as dispatchers want them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any


@functools.lru_cache(maxsize=4096)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """A function's parameters, as a dispatcher wants them."""
    p = _signature(function).parameters.values()
    kinds = [x.kind for x in p]
    return {
        "parameters": [x.name for x in p],
        "defaults": {x.name: x.default for x in p if x.default is not x.empty},
        "keyword_only": kinds.count(inspect.Parameter.KEYWORD_ONLY),
        "varargs": inspect.Parameter.VAR_POSITIONAL in kinds,
        "varkw": inspect.Parameter.VAR_KEYWORD in kinds,
        "name": function.__name__,
    }


def arguments(function: Callable[..., Any], values: Sequence[Any]) -> inspect.BoundArguments:
    """Values by parameter, as a dispatcher's signature rebuilds them, for a call of the function."""
    signature = _signature(function)
    return inspect.BoundArguments(signature, dict(zip(signature.parameters, values, strict=True)))
