"""What fails says where, what was expected, what was found. One class per kind of failure."""

import re
from collections.abc import Sequence
from typing import Any


class Error(RuntimeError):
    """Base of all errors that the core reports."""


class InputError(Error, ValueError):
    """Names, ranks, dtypes, sizes or values that the program doesn't take."""


class RangeError(InputError, IndexError):
    """Positions or values outside of what they index or of their dtype."""


class FileError(Error, OSError):
    """A file that can't be read, or isn't what it claims to be."""


class VerificationError(Error):
    """A module that breaks a rule of the bytecode; the message holds every finding."""


class UnsupportedError(Error, NotImplementedError):
    """An operator, attribute, dtype or version that isn't there."""


class LimitError(Error, MemoryError):
    """The run would exceed the bytes, instructions or time it was given."""


BY_CODE: dict[str, type[Error]] = {
    "invalid argument": InputError,
    "shape mismatch": InputError,
    "out of range": RangeError,
    "size overflow": InputError,
    "malformed file": FileError,
    "not found": FileError,
    "input/output error": FileError,
    "verification failed": VerificationError,
    "unsupported": UnsupportedError,
    "resource limit": LimitError,
}


_raised: list[tuple[type[BaseException], tuple[object, ...]]] = []
_numbers: dict[object, int] = {}
_MARK = re.compile(r"\[\[python (\d+)\]\] ")


def mark(cls: type[BaseException], args: tuple[object, ...]) -> str:
    """Text in the message of an instruction that ends a program as ``raise cls(*args)`` does."""
    key = (cls, args)
    try:
        number = _numbers.setdefault(key, len(_raised))
    except TypeError:  # arguments that can't be hashed
        number = len(_raised)
    if number == len(_raised):
        _raised.append(key)
    return f"[[python {number}]] "


def pending(cls: type[BaseException], args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    """As ``mark``, for arguments that are known only when the program runs: each is ``(template, number)``.

    A template is text that the program's values fill in; a number is the place of a value that is the argument itself.
    """
    _raised.append((_Pending, (cls, args, kwargs)))
    return f"[[python {len(_raised) - 1}]] "


class _Pending(Exception):  # noqa: N818 - never raised
    pass


def raise_pending(text: str, values: Sequence[Any]) -> None:
    """Raises what ``pending`` was told of, with the values of the program."""
    found = _MARK.match(text)
    if found is None or _raised[int(found[1])][0] is not _Pending:
        return
    what: Any = _raised[int(found[1])][1]
    cls, args, kwargs = what

    def value(spec: Any) -> Any:
        template, number = spec
        return values[number] if template is None else template.format(*values)

    e = cls(*map(value, args), **{k: value(v) for k, v in kwargs.items()})
    e.add_note("  " + text[found.end() :])
    raise e


def make(code: str, message: str) -> BaseException:
    """The exception for a status of the core."""
    found = None if code == "verification failed" else _MARK.search(message)  # who compiles looks at that himself
    if found and int(found[1]) < len(_raised):
        cls, args = _raised[int(found[1])]
        e = cls(*args)
        e.add_note("  " + message[: found.start()] + message[found.end() :])
        return e
    return BY_CODE.get(code, Error)(message)
