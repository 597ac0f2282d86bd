"""Pricing and risk of derivatives by Feynkac.

    import feynkac as fk

    results = fk.price("book.json", accuracy=1e-6)
    results.frame            # a DataFrame, or a Table without pandas

The first call starts `feynkac serve` on this machine; later ones use it again, and it ends with the program.
`Session(url)` talks to a running service.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, Iterator, Optional, Tuple

from .books import read_book
from .errors import (
    AccessError,
    BookError,
    ConnectionError,
    DeviceError,
    FeynkacError,
    LimitError,
    NotSupportedError,
    StartError,
    TimeoutError,
    TradeFailure,
)
from .process import Command
from .results import Results
from .session import Calibration, Explanation, Session
from .table import Table

__version__ = "0.1.0"

_sessions: Dict[Tuple[Any, ...], Session] = {}
_lock = threading.Lock()


def session(
    *,
    command: Optional[Command] = None,
    backend: str = "cpu",
    device: Optional[int] = None,
    threads: Optional[int] = None,
) -> Session:
    """Returns the session of this program's own process with these settings; it is made once."""
    name = command if command is None or isinstance(command, str) else tuple(command)
    key = (os.getpid(), name, os.environ.get("FEYNKAC_COMMAND"), backend, device, threads)
    with _lock:
        if key not in _sessions:
            _sessions[key] = Session(command=command, backend=backend, device=device, threads=threads)
        return _sessions[key]


def close() -> None:
    """Ends the processes that this program has started. The next call starts one again."""
    with _lock:
        for one in _sessions.values():
            one.close()
        _sessions.clear()


def price(book: Any = None, **options: Any) -> Results:
    """Prices a book on this machine; see Session.price.

    `command`, `backend`, `device` and `threads` choose the process.
    """
    return _session_of(options).price(book, **options)


def stream(book: Any = None, **options: Any) -> Iterator[Dict[str, Any]]:
    """Yields the results of a book as dicts, as they come; see Session.stream."""
    return _session_of(options).stream(book, **options)


def explain(before: Any, after: Any, **options: Any) -> Explanation:
    """Says why the value of a book changed; see Session.explain."""
    return _session_of(options).explain(before, after, **options)


def calibrate(book: Any, **options: Any) -> Calibration:
    """Fits curves and volatilities to quotes; see Session.calibrate."""
    return _session_of(options).calibrate(book, **options)


def report(path: Any, book: Any = None, **options: Any) -> str:
    """Prices a book and writes a report, one HTML file; see Session.report."""
    return _session_of(options).report(path, book, **options)


def _session_of(options: Dict[str, Any]) -> Session:
    own = {name: options.pop(name) for name in ("command", "backend", "device", "threads") if name in options}
    return session(**own)


__all__ = [
    "AccessError",
    "BookError",
    "Calibration",
    "ConnectionError",
    "DeviceError",
    "Explanation",
    "FeynkacError",
    "LimitError",
    "NotSupportedError",
    "Results",
    "Session",
    "StartError",
    "Table",
    "TimeoutError",
    "TradeFailure",
    "calibrate",
    "close",
    "explain",
    "price",
    "read_book",
    "report",
    "session",
    "stream",
]
