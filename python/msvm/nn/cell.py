"""The base of all cells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ParamSpec, Protocol, TypeVar

from .._errors import InputError
from .parameter import Parameter, ParameterTuple

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Constructs(Protocol[P, R]):
    def construct(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Cell:
    """A part of a network: parameters, other cells, and ``construct``, which says what it computes.

    Parameters and cells that are assigned to attributes are found by the names of these; a call runs ``construct``, eagerly or as a part
    of a function under ``@msvm.jit``. Cells are for inference: there are no gradients.
    """

    def __init__(self, auto_prefix: bool = True) -> None:
        self.auto_prefix = auto_prefix
        self.training = False

    def __call__(self: _Constructs[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs ``construct``."""
        return self.construct(*args, **kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the cell computes; subclasses say it."""
        raise NotImplementedError(f"{type(self).__name__} has no construct")

    # --- what it owns -----------------------------------------------------------------------------------------------------

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Attributes in the order in which they were made."""
        return iter(vars(self).items())

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below it, each once, with their names: attributes joined by points."""
        return _walk(self, name_prefix, set())

    def name_cells(self) -> dict[str, Cell]:
        """The cells right below this one, by name."""
        return {name: v for name, v in self._members() if isinstance(v, Cell)}

    def cells(self) -> list[Cell]:
        """The cells right below this one."""
        return list(self.name_cells().values())

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters of this cell, and with ``expand`` of all below, each once, with their names."""
        seen: set[int] = set()
        for prefix, cell in self.cells_and_names(name_prefix) if expand else iter([(name_prefix, self)]):
            for name, v in cell._members():
                several = isinstance(v, ParameterTuple)
                for k, p in enumerate(v if several else (v,)):
                    if not isinstance(p, Parameter) or id(p) in seen:
                        continue
                    seen.add(id(p))
                    full = f"{prefix}.{name}" if prefix else name
                    if several:
                        full = f"{full}.{k}"
                    if p.name is None:
                        p.name = full
                    yield full, p

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Parameters of this cell, and with ``expand`` of all below."""
        return (p for _, p in self.parameters_and_names(expand=expand))

    def parameters_dict(self) -> dict[str, Parameter]:
        """All parameters by name."""
        return dict(self.parameters_and_names())

    state = parameters_dict

    def trainable_params(self) -> list[Parameter]:
        """Parameters with ``requires_grad``."""
        return [p for p in self.get_parameters() if p.requires_grad]

    def untrainable_params(self) -> list[Parameter]:
        """Parameters without ``requires_grad``, as running means."""
        return [p for p in self.get_parameters() if not p.requires_grad]

    def insert_child_to_cell(self, name: str, cell: Cell) -> None:
        """Adds a cell under a name. Errors: InputError where the name is taken."""
        if hasattr(self, name):
            raise InputError(f"{type(self).__name__} has {name} already")
        setattr(self, name, cell)

    # --- modes ------------------------------------------------------------------------------------------------------------

    def set_train(self, mode: bool = True) -> Cell:
        """Says of this cell and all below whether they train. Cells that would compute something else then refuse to run."""
        for _, cell in self.cells_and_names():
            cell.training = bool(mode)
        return self

    def train(self, mode: bool = True) -> Cell:
        """``set_train``."""
        return self.set_train(mode)

    def eval(self) -> Cell:
        """``set_train(False)``."""
        return self.set_train(False)

    # --- weights ----------------------------------------------------------------------------------------------------------

    def load_state(self, state: dict[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """Takes the parameters' elements from tensors or arrays by name; returns names that were missing, and those of nothing here.

        Torch's names of the same parameters (weight for gamma or embedding_table, running_mean for moving_mean, …) do too.
        Errors: InputError for shapes and dtypes that differ; with ``strict`` for the names too. Then nothing has changed.
        """
        from .weights import assign

        return assign(self, state, strict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all parameters to a ``.safetensors`` or ``.npz`` file."""
        from .weights import save_weights

        save_weights(self, path)

    def load(self, path: str | os.PathLike[str], strict: bool = True) -> tuple[list[str], list[str]]:
        """``load_state`` from a file."""
        from .weights import load_weights

        return load_weights(self, path, strict)

    # --- text -------------------------------------------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """What stands in the parentheses of the text form."""
        return ""

    def __repr__(self) -> str:
        below = [f"({name}): {cell!r}".replace("\n", "\n  ") for name, cell in self.name_cells().items()]
        head = f"{type(self).__name__}<{self.extend_repr()}"
        return head + "".join(f"\n  {line}" for line in below) + ("\n>" if below else ">")


def _walk(cell: Cell, prefix: str, seen: set[int]) -> Iterator[tuple[str, Cell]]:
    if id(cell) in seen:
        return
    seen.add(id(cell))
    yield prefix, cell
    for name, below in cell.name_cells().items():
        yield from _walk(below, f"{prefix}.{name}" if prefix else name, seen)
