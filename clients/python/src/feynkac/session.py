"""Sessions: what prices books, on a process of one's own or on a running service."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

from .books import read_book
from .errors import BookError, ConnectionError, NotSupportedError, TimeoutError, error_of
from .plain import plain
from .process import Command, LocalProcess
from .results import Results, frame_of, results_of_lines

#: Called with the number of trades done, and of all.
Progress = Callable[[int, int], None]
Names = Union[str, Sequence[str]]

_ARROW = "application/vnd.apache.arrow.stream"


class Explanation:
    """Why the value of a book changed: `frame` has a row for each trade, with a column for each term.

    `totals` and `groups` are the sums; `report` is the whole answer, as `feynkac explain --format json` writes it.
    """

    def __init__(self, report: Mapping[str, Any]) -> None:
        self.report: Dict[str, Any] = dict(report)
        self.totals: List[Dict[str, Any]] = self.report["totals"]
        self.groups: List[Dict[str, Any]] = self.report.get("groups", [])

    @property
    def frame(self) -> Any:
        """A row for each trade, as a DataFrame, or a Table without pandas."""
        rows = self.report["results"]
        first = ("id", "underlying", "currency", "status", "before", "after", "cash", "change")
        terms = list(dict.fromkeys(name for row in rows for name in row.get("terms") or {}))
        columns: Dict[str, List[Any]] = {name: [row.get(name) for row in rows] for name in first}
        columns.update({name: [(row.get("terms") or {}).get(name) for row in rows] for name in terms})
        columns.update({name: [row.get(name) for row in rows] for name in ("unexplained", "errorEstimate", "warnings")})
        columns["error"] = [(row.get("error") or {}).get("message") for row in rows]
        return frame_of(columns)


class Calibration:
    """A calibration: `book` has curves and volatilities in place of quotes, `report` says how well they fit."""

    def __init__(self, book: Mapping[str, Any], report: Mapping[str, Any]) -> None:
        self.book: Dict[str, Any] = dict(book)
        self.report: Dict[str, Any] = dict(report)


class Session:
    """A connection to a service: to `url`, or, without one, to a process of this program's own.

    `token` is the bearer token of the service. `timeout` is the seconds that a request may take, by default any number.
    Of one's own process: `command` is the command `feynkac`, `backend`, `device` and `threads` are where it computes.
    The session is a context manager; `close` ends its process. A process that has died is started again.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        timeout: Optional[float] = None,
        command: Optional[Command] = None,
        backend: str = "cpu",
        device: Optional[int] = None,
        threads: Optional[int] = None,
    ) -> None:
        self._url = url
        self._token = token
        self._timeout = timeout
        self._local: Dict[str, Any] = {"backend": backend, "device": device, "threads": threads}
        self._command = command
        self._process: Optional[LocalProcess] = None
        self._lock = threading.Lock()

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process of this session, if it has one."""
        with self._lock:
            if self._process is not None:
                self._process.close()
            self._process = None

    @property
    def url(self) -> str:
        """The address of the service. A process of one's own is started by this, if it is not running."""
        return self._place()[0]

    def price(
        self,
        book: Any = None,
        *,
        trades: Any = None,
        market: Any = None,
        as_of: Any = None,
        scenarios: Any = None,
        method: Optional[str] = None,
        seed: Optional[int] = None,
        accuracy: Optional[float] = None,
        greeks: Optional[str] = None,
        strict: Optional[bool] = None,
        sensitivity_errors: Optional[bool] = None,
        time_per_trade: Optional[float] = None,
        group_by: Optional[Names] = None,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        transport: str = "auto",
    ) -> Results:
        """Prices a book and returns its results.

        `book` is a dict, JSON text, a path, or a frame of trades; `trades` and `market` may be given apart. The options
        are those of `feynkac price`. `progress(done, total)` is called as results come. Ctrl-C cancels the run on the
        service. `transport` is "arrow" (which needs pyarrow), "json", or "auto": Arrow if pyarrow is installed.

        Raises BookError for a book or an option that cannot be used. A trade that cannot be priced is a row with its
        error; `results.check()` raises that.
        """
        read = read_book(
            book, trades=trades, market=market, as_of=as_of, scenarios=scenarios, method=method, seed=seed
        )
        options = _options(accuracy, greeks, strict, sensitivity_errors, time_per_trade, group_by)
        body = {**read, "options": options, "stream": True, "summary": True}
        ipc = _pyarrow_ipc(transport)
        with _Answer(self, "POST", "/price", body, timeout, _ARROW if ipc else None) as answer:
            total = len(read["trades"])
            return _arrow_results(ipc, answer, progress, total) if ipc else _line_results(answer, progress, total)

    def stream(
        self,
        book: Any = None,
        *,
        trades: Any = None,
        market: Any = None,
        as_of: Any = None,
        scenarios: Any = None,
        method: Optional[str] = None,
        seed: Optional[int] = None,
        accuracy: Optional[float] = None,
        greeks: Optional[str] = None,
        strict: Optional[bool] = None,
        sensitivity_errors: Optional[bool] = None,
        time_per_trade: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[Dict[str, Any]]:
        """Yields results as dicts, as they come, with all fields. To leave the loop early cancels the rest."""
        read = read_book(
            book, trades=trades, market=market, as_of=as_of, scenarios=scenarios, method=method, seed=seed
        )
        options = _options(accuracy, greeks, strict, sensitivity_errors, time_per_trade, None)
        with _Answer(self, "POST", "/price", {**read, "options": options, "stream": True}, timeout) as answer:
            yield from answer.lines()

    def explain(
        self,
        before: Any,
        after: Any,
        *,
        method: Optional[str] = None,
        sticky: Optional[str] = None,
        group_by: Optional[Names] = None,
        accuracy: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Explanation:
        """Says why the value of a book changed. `after` may be a book without trades: those of `before` are meant."""
        given = {"method": method, "sticky": sticky, "groupBy": _names(group_by), "accuracy": accuracy}
        options = {name: plain(value, f"options.{name}") for name, value in given.items() if value is not None}
        books = {"before": read_book(before), "after": read_book(after, needs_trades=False)}
        with _Answer(self, "POST", "/explain", {**books, "options": options}, timeout) as answer:
            return Explanation(answer.json())

    def calibrate(self, book: Any, *, timeout: Optional[float] = None) -> Calibration:
        """Fits curves and volatilities to the quotes of a market, by `feynkac calibrate` on this machine."""
        read = read_book(book, needs_trades=False)
        with tempfile.TemporaryDirectory(prefix="feynkac-") as folder:
            fitted = os.path.join(folder, "book.json")
            said = self._run("calibrate", ["-", "--format", "json", "--output", fitted], read, timeout)
            with open(fitted, encoding="utf-8") as file:
                return Calibration(json.load(file), json.loads(said))

    def report(self, path: Any, book: Any = None, *, timeout: Optional[float] = None, **parts: Any) -> str:
        """Prices a book and writes a report on the results, one HTML file, by the command on this machine.

        `parts` are `trades`, `market`, `as_of`, `scenarios`, `method` and `seed`, as of `price`. Returns the path.
        """
        read = read_book(book, **parts)
        target = str(os.path.abspath(os.fspath(path)))
        self._run("price", ["-", "--input-format", "json", "--format", "ndjson", "--report", target], read, timeout)
        return target

    def health(self) -> bool:
        """Tells whether the service answers. Raises ConnectionError if it cannot be reached."""
        with _Answer(self, "GET", "/health", None, None) as answer:
            return bool(answer.json().get("status") == "ok")

    def _run(self, name: str, options: List[str], book: Mapping[str, Any], timeout: Optional[float]) -> str:
        if self._url is not None:
            hint = f"use feynkac.{'report' if name == 'price' else name}, which runs on this machine"
            raise NotSupportedError(f"the service at {self._url} has no such request; {hint}")
        self._place()
        assert self._process is not None
        limit = timeout if timeout is not None else self._timeout
        try:
            done = subprocess.run(
                [*self._process.command, name, *options],
                input=json.dumps(book),
                capture_output=True,
                encoding="utf-8",
                timeout=limit,
            )
        except subprocess.TimeoutExpired as cause:
            raise TimeoutError(f"feynkac {name} took longer than {limit:g} s") from cause
        if done.returncode not in (0, 1):
            raise BookError("", done.stderr.strip().replace("feynkac: ", "") or f"feynkac {name} failed")
        return str(done.stdout)

    def _place(self) -> Tuple[str, Optional[str]]:
        if self._url is not None:
            return self._url, self._token
        with self._lock:
            if self._process is None or not self._process.is_running:
                self._process = LocalProcess(self._command, **self._local)
            return self._process.url, self._process.token


class _Answer:
    """The answer to a request. To leave its block closes the connection, by which the service gives up what is left."""

    def __init__(
        self,
        session: Session,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]],
        timeout: Optional[float],
        accept: Optional[str] = None,
    ) -> None:
        limit = timeout if timeout is not None else session._timeout
        self._limit = limit
        self._deadline = None if limit is None else time.monotonic() + limit
        url, token = session._place()
        self._url = url
        self._session = session
        headers = {"content-type": "application/json", "accept": accept or "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConnectionError(f"expected an address as http://HOST:PORT, got {url!r}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=limit)
        text = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        self._response: http.client.HTTPResponse
        try:
            self._guarded(lambda: self._connection.request(method, parts.path.rstrip("/") + path, text, headers))
            self._response = self._guarded(self._connection.getresponse)
            if self._response.status != 200:
                raise error_of(self._response.status, self._error_body())
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "_Answer":
        return self

    def __exit__(self, *_: Any) -> None:
        self._response.close()
        self._connection.close()

    @property
    def closed(self) -> bool:
        return False

    def json(self) -> Dict[str, Any]:
        found = json.loads(self._guarded(self._response.read))
        assert isinstance(found, dict)
        return found

    def lines(self) -> Iterator[Dict[str, Any]]:
        while True:
            line = self._guarded(self._response.readline)
            if line == b"":
                return
            if not line.endswith(b"\n"):
                raise self._broken(None)
            yield json.loads(line)

    def read(self, size: int = -1) -> bytes:
        """Reads bytes, as pyarrow does from a file."""
        return bytes(self._guarded(lambda: self._response.read(None if size < 0 else size)))

    def _guarded(self, act: Callable[[], Any]) -> Any:
        """Does one step on the connection within the time that is left, with this package's exceptions."""
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise self._late()
            if self._connection.sock is not None:
                self._connection.sock.settimeout(left)
        try:
            return act()
        except socket.timeout as cause:
            raise self._late() from cause
        except (OSError, http.client.HTTPException) as cause:
            raise self._broken(cause) from cause

    def _error_body(self) -> Dict[str, Any]:
        try:
            return self.json()
        except ValueError:
            return {}

    def _late(self) -> TimeoutError:
        return TimeoutError(f"the request took longer than {self._limit:g} s; give a larger timeout=")

    def _broken(self, cause: Optional[BaseException]) -> ConnectionError:
        process = self._session._process
        if process is not None:
            time.sleep(0.05)
            ended = "" if process.is_running else f"; its process has ended: {process.last_words}"
            return ConnectionError(f"the answer of the service broke off{ended}")
        if isinstance(cause, (ConnectionRefusedError, socket.gaierror)):
            return ConnectionError(f"cannot reach {self._url}: {cause}; is `feynkac serve` running there?")
        return ConnectionError(f"the connection to {self._url} broke off{f': {cause}' if cause else ''}")


def _options(
    accuracy: Optional[float],
    greeks: Optional[str],
    strict: Optional[bool],
    sensitivity_errors: Optional[bool],
    time_per_trade: Optional[float],
    group_by: Optional[Names],
) -> Dict[str, Any]:
    given = {
        "accuracy": accuracy,
        "greeks": greeks,
        "strict": strict,
        "sensitivityErrors": sensitivity_errors,
        "timePerTrade": time_per_trade,
        "groupBy": _names(group_by),
    }
    return {name: plain(value, f"options.{name}") for name, value in given.items() if value is not None}


def _names(names: Optional[Names]) -> Optional[List[str]]:
    return names.split(",") if isinstance(names, str) else None if names is None else list(names)


def _pyarrow_ipc(transport: str) -> Any:
    if transport not in ("auto", "arrow", "json"):
        raise BookError("transport", f'expected "auto", "arrow" or "json", got {transport!r}')
    if transport == "json":
        return None
    try:
        import pyarrow.ipc as ipc
    except ImportError as cause:
        if transport == "arrow":
            raise NotSupportedError("Arrow needs pyarrow: pip install pyarrow") from cause
        return None
    return ipc


def _line_results(answer: _Answer, progress: Optional[Progress], total: int) -> Results:
    records: List[Dict[str, Any]] = []
    for record in answer.lines():
        if "summary" in record:
            return results_of_lines(records, record["summary"])
        records.append(record)
        if progress is not None:
            progress(len(records), total)
    raise answer._broken(None)


def _arrow_results(ipc: Any, answer: _Answer, progress: Optional[Progress], total: int) -> Results:
    import pyarrow

    batches: List[Any] = []
    done = 0
    try:
        with ipc.open_stream(answer) as reader:
            about = _metadata(reader.schema.metadata)
            while True:
                batch, end = reader.read_next_batch_with_custom_metadata()
                if end:
                    about.update(_metadata(end))
                if batch.num_rows == 0:
                    continue
                batches.append(batch)
                done += batch.num_rows
                if progress is not None:
                    progress(done, total)
    except StopIteration:
        pass
    except pyarrow.ArrowException as cause:
        raise answer._broken(cause) from cause
    if "priced" not in about:
        raise answer._broken(None)
    table = pyarrow.Table.from_batches(batches, reader.schema)
    return Results(about, None, table)


def _metadata(pairs: Optional[Mapping[bytes, bytes]]) -> Dict[str, Any]:
    found = {}
    for key, value in dict(pairs or {}).items():
        name = bytes(key).decode().replace("feynkac.", "", 1)
        found[name] = bytes(value).decode() if name == "asOf" else json.loads(bytes(value))
    return found
