"""Cells made of a sequence of cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._errors import InputError
from .cell import Cell


class _Sequence(Cell):
    """Cells by position, or by the names of a dict."""

    def __init__(self, *cells: Any) -> None:
        super().__init__()
        self.items: tuple[Cell, ...] = ()
        if len(cells) == 1 and isinstance(cells[0], dict):
            self._names = list(cells[0])
            self._take(cells[0].values())
        else:
            self._names = []
            self._take(cells[0] if len(cells) == 1 and isinstance(cells[0], (list, tuple)) else cells)

    def _take(self, cells: Iterable[Any]) -> None:
        found = tuple(cells)
        for c in found:
            if not isinstance(c, Cell):
                raise InputError(f"{type(self).__name__}: expected cells, found {type(c).__name__}")
        self.items = found
        self._names = (self._names + [str(k) for k in range(len(self._names), len(found))])[: len(found)]

    def _members(self) -> Iterator[tuple[str, Any]]:
        return iter(zip(self._names, self.items, strict=True))

    def append(self, cell: Cell) -> Any:
        """Adds a cell at the end."""
        self._take((*self.items, cell))
        return self

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Adds cells at the end."""
        self._take((*self.items, *cells))
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Adds a cell before a position; names by position move."""
        new = list(self.items)
        new.insert(index, cell)
        self._names = [str(k) for k in range(len(new))]
        self._take(new)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*self.items[index])
        return self.items[index]

    def __setitem__(self, index: int, cell: Cell) -> None:
        new = list(self.items)
        new[index] = cell
        self._take(new)


class SequentialCell(_Sequence):
    """Each cell gets what the one before gives. ``cells``: one by one, as a list, or as a dict with names."""

    def construct(self, x: Any) -> Any:
        """The last cell's result."""
        for cell in self.items:
            x = cell(x)
        return x


class CellList(_Sequence):
    """Cells to iterate over and to index; it can't be called itself."""
