"""Values of Python as JSON values: dates, decimals, numbers of numpy, frames, and what cannot be written."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import os
from typing import Any, Dict, List, Mapping

from .errors import BookError


def plain(value: Any, path: str = "") -> Any:
    """Returns a value as JSON has it.

    * A date becomes "2026-11-20", a time "2026-11-20T16:00:00+01:00"; a time without a zone is in UTC. A time of pandas
      or numpy at midnight without a zone is a day, because these have no dates.
    * Numbers of numpy, Decimal and Fraction become numbers; arrays, tuples, sets of names and Series become lists.
    * A frame becomes a list of records, without cells that are missing.
    * A field that is None, NA or NaT is left out of its object. In a list None stays.

    Raises BookError with the path of a number that is not finite, or of a value that has no JSON form.
    """
    if is_plain(value) or isinstance(value, (str, bool)):
        return value
    if type(value) is dict:
        return _object(value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _finite(float(value), path)
    if is_missing(value):
        return None
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return _finite(float(value), path)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return _time(value)
    if is_frame(value):
        return [plain(row, f"{path}[{i}]") for i, row in enumerate(records(value, path))]
    if isinstance(value, Mapping):
        return _object(value, path)
    if isinstance(value, os.PathLike):
        raise BookError(path, f"expected a value, got a path, {os.fspath(value)!r}")
    listed = _listed(value)
    if listed is not value:
        return listed if isinstance(listed, str) else plain(listed, path)
    if isinstance(value, (list, tuple, range)):
        return [plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
    kind = type(value).__name__
    raise BookError(path, f"expected a number, a text, a date, a list or a dict, got a {kind}")


#: Types whose values JSON has as they are, but for numbers that are not finite.
_PLAIN = frozenset((type(None), str, bool, int))


def is_plain(value: Any) -> bool:
    """Tells fast whether a value is one of JSON already; not for lists, dicts and derived types."""
    kind = type(value)
    return kind in _PLAIN or (kind is float and math.isfinite(value))


def is_missing(value: Any) -> bool:
    """Tells whether a value is None, or pandas' NA or NaT, or numpy's NaT."""
    kind = type(value).__name__
    return value is None or kind in ("NAType", "NaTType") or (kind == "datetime64" and str(value) == "NaT")


def is_blank(cell: Any) -> bool:
    """Tells whether a cell of a frame is missing: None, NaN, NA, NaT or an empty text."""
    if isinstance(cell, str):
        return cell == ""
    if isinstance(cell, float):
        return math.isnan(cell)
    if isinstance(cell, decimal.Decimal):
        return cell.is_nan()
    if hasattr(cell, "dtype") and getattr(cell, "shape", None) == ():
        return is_blank(cell.item()) if cell.dtype.kind in "fiub" else str(cell) == "NaT"
    if isinstance(cell, (list, tuple, Mapping)) or hasattr(cell, "tolist"):
        return False
    return is_missing(cell)


def is_frame(value: Any) -> bool:
    """Tells whether a value is a table: a DataFrame of pandas or polars, a Table of pyarrow, or one of this package."""
    if isinstance(value, (str, bytes, Mapping)):
        return False
    names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    return names is not None and not callable(names)


def records(frame: Any, path: str = "trades") -> List[Dict[str, Any]]:
    """Returns the rows of a frame as dicts, without the cells that are missing.

    The index of a DataFrame is a column if it has a name, and is left out if not.
    """
    if hasattr(frame, "reset_index"):
        names = [name for name in frame.index.names if name is not None]
        frame = frame.reset_index(drop=not names)
        repeated = [str(name) for name in set(frame.columns) if list(frame.columns).count(name) > 1]
        if repeated:
            raise BookError(path, f"column {sorted(repeated)[0]!r} is there twice")
        columns = {str(name): list(frame[name]) for name in frame.columns}
    elif hasattr(frame, "to_pydict"):  # pyarrow
        columns = frame.to_pydict()
    elif hasattr(frame, "get_columns"):  # polars
        columns = {str(name): frame[name].to_list() for name in frame.columns}
    else:
        columns = {str(name): list(frame[name]) for name in frame.columns}
    rows = zip(*columns.values())
    if not any(_has_blanks(column) for column in columns.values()):
        return [dict(zip(columns, row)) for row in rows]
    return [{name: cell for name, cell in zip(columns, row) if not is_blank(cell)} for row in rows]


def _has_blanks(column: List[Any]) -> bool:
    """Tells whether a column has a cell that is missing, fast where all of its cells have the usual types."""
    kinds = set(map(type, column))
    if kinds <= {str, int, bool}:
        return "" in column
    return not kinds <= {float, int} or any(map(math.isnan, column))


def _object(value: Mapping[Any, Any], path: str) -> Dict[str, Any]:
    fields = {}
    for name, field in value.items():
        if not isinstance(name, str):
            raise BookError(path, f"expected names that are texts, got {name!r}")
        if field is not None and is_plain(field):
            fields[name] = field
            continue
        place = f"{path}.{name}" if path else name
        field = plain(field, place)
        if field is not None:
            fields[name] = field
    return fields


def _finite(number: float, path: str) -> float:
    if math.isfinite(number):
        return number
    remedy = "leave the field out, or give None, if it is missing"
    raise BookError(path, f"expected a finite number, got {number}; {remedy}")


def _time(value: datetime.date) -> str:
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    is_pandas = type(value).__module__.startswith("pandas")
    if is_pandas and value.tzinfo is None and value.time() == datetime.time(0):
        return value.date().isoformat()
    return value.isoformat(timespec="milliseconds")


def _listed(value: Any) -> Any:
    """Returns an array, a Series or a number of numpy as a list, a number or a text; other values as they are."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "") == "M" and getattr(value, "shape", None) == ():
        text = str(value.astype("datetime64[ms]"))
        return text[:10] if text.endswith("T00:00:00.000") else text
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(value, name, None)
        if callable(convert):
            if dtype is not None and getattr(dtype, "kind", "") == "M" and hasattr(value, "astype"):
                return [plain(item) for item in value]
            return convert()
    if hasattr(value, "__float__"):
        return float(value)
    return value
