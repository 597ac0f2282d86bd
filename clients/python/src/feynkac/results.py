"""The results of a book."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .errors import TradeFailure
from .table import Table

#: Columns of texts; all others are numbers, or lists.
TEXTS = ("id", "underlying", "currency", "status", "method", "precision", "backend", "error", "keyRates", "parameters")


class Results:
    """What `price` returns.

    * `frame`: a row for each trade, in the order of the book, as a DataFrame, or a Table without pandas.
    * `totals`, `groups`: sums by currency, and by the names of `group_by`.
    * `priced`, `failed`, `errors`: how many trades have a value, how many have none, and why.
    * `as_of`, `device`, `scenarios`: what the book was priced for, and where.
    """

    def __init__(self, about: Mapping[str, Any], columns: Optional[Mapping[str, List[Any]]], arrow: Any = None) -> None:
        self._columns = columns
        self._arrow = arrow
        self._frame: Any = None
        self.as_of: str = str(about.get("asOf", ""))
        self.device: Dict[str, str] = dict(about.get("device", {}))
        self.scenarios: Optional[Dict[str, Any]] = about.get("scenarios")
        self.priced: int = int(about.get("priced", 0))
        self.failed: int = int(about.get("failed", 0))
        self.totals: List[Dict[str, Any]] = list(about.get("totals", []))
        self.groups: List[Dict[str, Any]] = list(about.get("groups", []))

    @property
    def table(self) -> Table:
        """The results as a Table of Python values."""
        if self._columns is None:
            self._columns = self._arrow.to_pydict()
        return Table(self._columns)

    @property
    def arrow(self) -> Any:
        """The results as a Table of pyarrow, which must be installed; as the service has sent it, without a copy."""
        if self._arrow is None:
            import pyarrow

            columns = self.table.to_dict()
            fields = [(name, _arrow_type(pyarrow, name)) for name in columns]
            self._arrow = pyarrow.table(columns, schema=pyarrow.schema(fields))
        return self._arrow

    @property
    def frame(self) -> Any:
        """The results as a DataFrame; as a Table where pandas is not installed."""
        if self._frame is None:
            try:
                import pandas
            except ImportError:
                self._frame = self.table
            else:
                if self._arrow is not None:
                    self._frame = self._arrow.to_pandas()
                else:
                    self._frame = _data_frame(pandas, self.table.to_dict())
        return self._frame

    @property
    def errors(self) -> List[TradeFailure]:
        """The errors of the trades that were not priced, in the order of the book."""
        rows = zip(self.table["id"], self.table["status"], self.table["error"])
        return [_failure(id, error or "") for id, status, error in rows if status == "error"]

    def check(self) -> "Results":
        """Returns these results, or raises the error of the first trade that was not priced."""
        for error in self.errors:
            raise error
        return self

    def scenario_frame(self) -> Any:
        """The values under the scenarios of the book: a row for each trade and scenario, with the moves as columns."""
        axes = self.scenarios or {}
        names = ("time", "spot", "volatility", "rate")
        moves = _product([_moves(axes.get(name)) for name in names])
        columns: Dict[str, List[Any]] = {name: [] for name in ("id", *names, "value")}
        table = self.table
        values_of = table["scenarios"] if "scenarios" in table.columns else [None] * len(table)
        for id, values in zip(table["id"], values_of):
            for move, value in zip(moves, values or []):
                for name, cell in zip(columns, (id, *move, value)):
                    columns[name].append(cell)
        return _frame(columns)

    def __len__(self) -> int:
        return self.priced + self.failed

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        sums = "; ".join(f"{total['currency']} {total['value']:,.2f}" for total in self.totals)
        return f"<Results of {self.as_of}: {self.priced} priced{failed}{'; ' + sums if sums else ''}>"


def results_of_lines(records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Results:
    """Returns the results that came as JSON lines, with the columns that Arrow has."""
    columns = {name: [_cell(record, name) for record in records] for name in summary["columns"]}
    return Results(summary, columns)


def frame_of(columns: Mapping[str, List[Any]]) -> Any:
    """Returns columns as a DataFrame, or as a Table without pandas."""
    return _frame(columns)


def _cell(record: Mapping[str, Any], name: str) -> Any:
    if name == "error":
        error = record.get("error")
        return None if error is None else error["message"]
    if name in ("scenarios", "scenarioErrorEstimates"):
        return _flat(record.get(name))
    head, dot, tail = name.partition(".")
    cell: Any = record.get(name) if not dot else (record.get("tags" if head == "tag" else head) or {}).get(tail)
    if head == "tag" and cell is not None:
        return str(cell) if not isinstance(cell, float) or not cell.is_integer() else str(int(cell))
    if isinstance(cell, (dict, list)) and name != "warnings":
        return json.dumps(cell, ensure_ascii=False, separators=(",", ":"))
    return float(cell) if isinstance(cell, int) and not isinstance(cell, bool) else cell


def _flat(values: Any) -> Optional[List[Any]]:
    if values is None:
        return None
    flat: List[Any] = []
    for value in values:
        if isinstance(value, list):
            flat.extend(_flat(value) or [])
        else:
            flat.append(None if value is None else float(value))
    return flat


def _is_text(name: str) -> bool:
    return name in TEXTS or name == "tags" or name.startswith("tag.")


def _arrow_type(pyarrow: Any, name: str) -> Any:
    if name == "warnings":
        return pyarrow.list_(pyarrow.string())
    if name in ("scenarios", "scenarioErrorEstimates"):
        return pyarrow.list_(pyarrow.float64())
    return pyarrow.string() if _is_text(name) else pyarrow.float64()


def _data_frame(pandas: Any, columns: Mapping[str, List[Any]]) -> Any:
    lists = ("warnings", "scenarios", "scenarioErrorEstimates")
    series = {
        name: pandas.Series(cells, dtype="object" if name in lists else "str" if _is_text(name) else "float64")
        for name, cells in columns.items()
    }
    return pandas.DataFrame(series)


def _frame(columns: Mapping[str, List[Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return Table(columns)
    return pandas.DataFrame(dict(columns))


def _moves(moves: Any) -> List[Any]:
    """The moves of an axis: none, a list, or spots by name, whose combinations vary the last name the fastest."""
    if isinstance(moves, list):
        return moves
    if isinstance(moves, dict):
        return [dict(zip(moves, move)) for move in _product([list(of) for of in moves.values()])]
    return [0]


def _product(lists: List[List[Any]]) -> List[Tuple[Any, ...]]:
    combined: List[Tuple[Any, ...]] = [()]
    for items in lists:
        combined = [(*start, item) for start in combined for item in items]
    return combined


def _failure(id: Optional[str], message: str) -> TradeFailure:
    path, colon, _ = message.partition(": ")
    return TradeFailure(id, path if colon and path.startswith(("trades[", "line ", "row ")) else "", message)
