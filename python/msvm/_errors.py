"""What fails says where, what was expected, what was found. One class per kind of failure."""


class Error(RuntimeError):
    """Base of all errors that the core reports."""


class InputError(Error, ValueError):
    """Names, ranks, dtypes, sizes or values that the program doesn't take."""


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
    "out of range": InputError,
    "size overflow": InputError,
    "malformed file": FileError,
    "not found": FileError,
    "input/output error": FileError,
    "verification failed": VerificationError,
    "unsupported": UnsupportedError,
    "resource limit": LimitError,
}


def make(code: str, message: str) -> Error:
    """The exception for a status of the core."""
    return BY_CODE.get(code, Error)(message)
