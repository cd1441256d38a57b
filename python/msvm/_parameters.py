"""Parameters of Python functions, as dispatchers want them."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

_signatures: weakref.WeakKeyDictionary[Any, inspect.Signature] = weakref.WeakKeyDictionary()


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Of the function itself, not of what it wraps."""
    found = _signatures.get(function)
    if found is None:
        found = _signatures[function] = inspect.signature(function, follow_wrapped=False)
    return found


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """A function's parameters, as a dispatcher wants them."""
    p = signature_of(function).parameters.values()
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
    signature = signature_of(function)
    return inspect.BoundArguments(signature, dict(zip(signature.parameters, values, strict=True)))
