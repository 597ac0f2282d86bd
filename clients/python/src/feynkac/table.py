"""A table of results for where pandas is not installed."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple


class Table:
    """A table with named columns of Python values; a cell that is missing is None.

    `table["value"]` is a column, `table[3]` a row as a dict; `len`, iteration over rows, `rows`, `to_dicts`, and `repr`
    for a screen. The shape and the names are those that the same results have as a DataFrame.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns: Dict[str, List[Any]] = {name: list(cells) for name, cells in columns.items()}
        lengths = {len(cells) for cells in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of one length expected, got {sorted(lengths)}")
        self._length = lengths.pop() if lengths else 0

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def rows(self) -> List[Tuple[Any, ...]]:
        """The rows as tuples."""
        return list(zip(*self._columns.values()))

    @property
    def shape(self) -> Tuple[int, int]:
        """The numbers of rows and columns."""
        return self._length, len(self._columns)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """Returns the rows as dicts."""
        return [dict(zip(self._columns, row)) for row in zip(*self._columns.values())]

    def to_dict(self) -> Dict[str, List[Any]]:
        """Returns the columns as lists."""
        return {name: list(cells) for name, cells in self._columns.items()}

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.to_dicts())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._columns:
                raise KeyError(f"{key!r}; the columns are {', '.join(self._columns)}")
            return self._columns[key]
        if isinstance(key, slice):
            return Table({name: cells[key] for name, cells in self._columns.items()})
        return {name: cells[key] for name, cells in self._columns.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._columns == other._columns

    def __repr__(self) -> str:
        shown = [name for name in self._columns if any(cell not in (None, [], "") for cell in self._columns[name])]
        some = self._length > 20
        places = [*range(10), *range(self._length - 10, self._length)] if some else list(range(self._length))
        cells = [[name, *(_text(self._columns[name][i]) for i in places)] for name in shown]
        widths = [max(len(text) for text in column) for column in cells]
        lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths)) for line in zip(*cells)]
        if some:
            lines.insert(11, "…")
        return "\n".join([*lines, f"[{self._length} rows, {len(self._columns)} columns]"])


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= 40 else f"{text[:39]}…"
