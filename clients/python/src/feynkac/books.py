"""Books from what Python has: a dict, a path, JSON text, or frames of trades and of a market."""

from __future__ import annotations

import csv
import functools
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

from .errors import BookError
from .plain import is_frame, plain, records

#: Columns of CSV whose cells may be JSON, if they begin with a bracket or a brace.
_JSON_STARTS = ("[", "{")
#: Columns of CSV that are texts, even where they look like numbers.
_TEXTS = ("id", "underlying", "currency")


def read_book(
    book: Any = None,
    *,
    trades: Any = None,
    market: Any = None,
    as_of: Any = None,
    scenarios: Any = None,
    method: Optional[str] = None,
    seed: Optional[int] = None,
    needs_trades: bool = True,
) -> Dict[str, Any]:
    """Returns a book as plain JSON values.

    `book` is a dict, JSON text, the path of a `.json` or `.ndjson` book, or a table of trades: a frame, a list of
    dicts, or the path of a `.csv` or `.parquet` file. A table needs a `market`: a dict, JSON text, a path, or a frame
    of underlyings. The other arguments take precedence over what the book has.
    """
    written = _read(book, "book")
    if isinstance(written, list):
        if trades is not None:
            raise BookError("trades", "got trades twice; give them once, as the book or as trades=")
        written, trades = {}, written
    if trades is not None:
        read = _read(trades, "trades")
        if not isinstance(read, list):
            raise BookError("trades", "expected a frame, a list of dicts, or the path of a table of trades")
        written = {**written, "trades": read}
    if market is not None:
        written = {**written, **_market(market)}
    given = {"asOf": as_of, "scenarios": scenarios, "method": method, "seed": seed}
    written = {**written, **{name: value for name, value in given.items() if value is not None}}
    found = written.get("trades")
    if found is not None:
        written["trades"] = _rows(found)
    if "market" not in written:
        raise BookError("market", "expected a market; give market=, a dict, a path, or a frame of underlyings")
    if needs_trades and found is None:
        raise BookError("trades", "expected a list of trades; give trades=, a frame or a list of dicts")
    return {name: plain(field, name) for name, field in _without_frames(written).items() if field is not None}


def _rows(found: Any) -> List[Any]:
    rows = records(found) if is_frame(found) else found
    if isinstance(rows, Mapping) or isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
        raise BookError("trades", f"expected a frame or a list of trades, got a {type(found).__name__}")
    return [nested(row) if type(row) is dict or isinstance(row, Mapping) else row for row in rows]


def nested(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns a row of a table as a trade: `payoff.digital` becomes `digital` inside `payoff`, `tag.desk` a tag."""
    trade: Dict[str, Any] = {}
    for name, cell in row.items():
        steps = _steps(name)
        if len(steps) == 1:
            trade.setdefault(name, cell)
            continue
        place = trade
        for step in steps[:-1]:
            inner = place.get(step)
            place[step] = place = dict(inner) if isinstance(inner, Mapping) else {}
        place[steps[-1]] = cell
    return trade


@functools.lru_cache(maxsize=1024)
def _steps(name: Any) -> List[str]:
    """Returns the names on the way to the field of a column. They are kept, since all rows have the same columns."""
    return ["tags", name[4:]] if isinstance(name, str) and name.startswith("tag.") else str(name).split(".")


def _read(source: Any, name: str) -> Any:
    """Reads a book, or a table of trades as a list."""
    if source is None:
        return {}
    if isinstance(source, Mapping):
        return dict(source)
    if is_frame(source):
        return records(source)
    if isinstance(source, bytes):
        source = source.decode("utf-8")
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        return _parse(source, name)
    if isinstance(source, (str, os.PathLike)):
        return _file(os.fspath(source), name)
    if hasattr(source, "__iter__"):
        return list(source)
    kind = type(source).__name__
    raise BookError("", f"expected a book as a dict, a path, JSON text or a frame of trades, got a {kind}")


def _parse(text: str, name: str) -> Any:
    def once(pairs: List[Any]) -> Dict[str, Any]:
        names = [key for key, _ in pairs]
        for key in names:
            if names.count(key) > 1:
                raise BookError("", f"{name}: the name {key!r} is there twice in one object")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as cause:
        message = f"{name}: this is not JSON: {cause.msg} in line {cause.lineno}, column {cause.colno}"
        raise BookError("", message) from cause


def _file(path: str, name: str) -> Any:
    kind = os.path.splitext(path)[1].lower()
    try:
        if kind == ".parquet":
            return _parquet(path)
        with open(path, encoding="utf-8-sig", newline="" if kind == ".csv" else None) as file:
            if kind == ".csv":
                return [_cells(row) for row in csv.DictReader(file)]
            if kind in (".ndjson", ".jsonl"):
                lines = [_parse(line, f"{path}, line {i + 1}") for i, line in enumerate(file) if line.strip()]
                is_book = bool(lines) and isinstance(lines[0], dict) and "market" in lines[0]
                return {**lines[0], "trades": lines[1:]} if is_book else lines
            return _parse(file.read(), path)
    except OSError as cause:
        hint = "" if os.sep in path or "." in path else "; JSON text begins with a brace"
        raise BookError("", f"cannot read the {name} {path!r}: {cause.strerror}{hint}") from cause
    except UnicodeDecodeError as cause:
        raise BookError("", f"{path}: this is not text in UTF-8") from cause


def _cells(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Reads the texts of a row of CSV as the command line does."""
    trade: Dict[str, Any] = {}
    for name, text in row.items():
        if name is None or text is None:
            raise BookError("trades", "a row of the CSV file has more or fewer cells than the first row names")
        if text == "":
            continue
        if name in _TEXTS or name.startswith("tag."):
            trade[name] = text
        elif text.startswith(_JSON_STARTS):
            trade[name] = _parse(text, name)
        else:
            trade[name] = _number(text)
    return trade


def _number(text: str) -> Union[float, int, str]:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if text.lower().lstrip("+-")[:1] not in ("n", "i") else text
    return text


def _parquet(path: str) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError as cause:
        message = f"{path}: reading Parquet needs pyarrow; pip install pyarrow, or give a CSV file"
        raise BookError("", message) from cause
    return records(parquet.read_table(path))


def _market(market: Any) -> Dict[str, Any]:
    """Returns the fields of a book that a market gives: of a book without trades, or of a market alone."""
    if is_frame(market):
        return {"market": {"underlyings": market}}
    read = _read(market, "market")
    if not isinstance(read, dict):
        raise BookError("market", "expected a dict, a path, JSON text, or a frame of underlyings")
    if "market" in read:
        return {name: value for name, value in read.items() if name != "trades"}
    return {"market": read}


def _without_frames(written: Mapping[str, Any]) -> Dict[str, Any]:
    """Replaces the frames of a market by dicts: underlyings and rates by their names."""
    market = written.get("market")
    if not isinstance(market, Mapping):
        return dict(written)
    replaced = dict(market)
    underlyings = market.get("underlyings")
    if is_frame(underlyings):
        rows = [nested(row) for row in records(underlyings, "market.underlyings")]
        replaced["underlyings"] = _by_name(rows, ("underlying", "name"), "underlyings")
    rates = market.get("rates")
    if is_frame(rates):
        replaced["rates"] = _rates(records(rates, "market.rates"))
    elif rates is not None and hasattr(rates, "to_dict") and not isinstance(rates, Mapping):
        replaced["rates"] = rates.to_dict()
    correlations = market.get("correlations")
    if is_frame(correlations):
        replaced["correlations"] = [list(row.values()) for row in records(correlations, "market.correlations")]
    return {**written, "market": replaced}


def _by_name(rows: List[Dict[str, Any]], names: Any, what: str) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for i, row in enumerate(rows):
        key = next((name for name in names if name in row), None)
        if key is None:
            raise BookError(f"market.{what}[{i}]", f"expected a column {names[0]!r}, or an index of that name")
        name = str(row.pop(key))
        if name in found:
            raise BookError(f"market.{what}", f"{name!r} is there twice")
        found[name] = row
    return found


def _rates(rows: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Returns rates by currency: a number, or the nodes of a curve where rows have a date."""
    rates: Dict[str, Any] = {}
    for i, row in enumerate(rows):
        if "currency" not in row:
            raise BookError(f"market.rates[{i}]", "expected a column 'currency', or an index of that name")
        currency = str(row["currency"])
        if "date" in row and "zero" in row:
            rates.setdefault(currency, []).append({"date": row["date"], "zero": row["zero"]})
        elif "rate" in row:
            rates[currency] = row["rate"]
        else:
            raise BookError(f"market.rates[{i}]", "expected the columns 'rate', or 'date' and 'zero'")
    return rates

