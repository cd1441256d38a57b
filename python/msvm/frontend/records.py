"""Named tuples and objects of dataclasses that a function makes: tuples with names inside; dataclasses get their class back at the end."""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any

from .._errors import UnsupportedError


def is_named(cls: type) -> bool:
    """A class of ``typing.NamedTuple`` or ``collections.namedtuple`` that makes its objects as it was given."""
    maker = next((c for c in cls.__mro__ if "__new__" in c.__dict__), object)
    return issubclass(cls, tuple) and "_make" in maker.__dict__


def is_record_class(cls: type) -> bool:
    """A dataclass whose objects are what they are made of."""
    if not dataclasses.is_dataclass(cls) or issubclass(cls, tuple):
        return False
    own = cls.__dict__.get("__dataclass_params__")
    fields = dataclasses.fields(cls)
    if own is None or not own.init or hasattr(cls, "__post_init__") or not all(f.init and f.name[0] != "_" for f in fields):
        raise UnsupportedError(
            f"an object of the dataclass {cls.__name__} is made inside the function, which does more than to keep its fields "
            f"(__init__, __post_init__, init=False, names that begin with _); make it outside, or return a tuple"
        )
    return True


@functools.lru_cache(maxsize=256)
def record_class(cls: type) -> Any:
    """The tuple with names that stands for objects of a dataclass."""
    names = [f.name for f in dataclasses.fields(cls)]
    return type(cls.__name__, (collections.namedtuple(cls.__name__, names),), {"__slots__": (), "__msvm_class__": cls})


def class_of(v: Any) -> Any:
    """The dataclass that a value stands for an object of; None: it is something else."""
    return getattr(type(v), "__msvm_class__", None) if isinstance(v, tuple) else None


def not_a_sequence(v: Any, what: str) -> None:
    cls = class_of(v)
    if cls is not None:
        raise TypeError(f"'{cls.__name__}' object is not {what}")


def _object(cls: Any, names: tuple[str, ...], values: list[Any]) -> Any:
    return cls(**dict(zip(names, values, strict=True)))


def maker_of(v: Any) -> Any:
    """What makes the result of a list of its parts."""
    cls = class_of(v)
    return type(v)._make if cls is None else functools.partial(_object, cls, v._fields)
