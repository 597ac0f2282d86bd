"""The exceptions of the package. All of them are a FeynkacError."""

from __future__ import annotations

import builtins
from typing import Any, Mapping, Optional


class FeynkacError(Exception):
    """The base of every exception of this package. `message` says what is wrong; `code` is for programs."""

    code = "FEYNKAC"

    def __init__(self, message: str, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class BookError(FeynkacError, ValueError):
    """A book, a trade or an option that cannot be used.

    `path` is the place in the book, such as `trades[3].strike`; it is empty where the whole is meant. `remedy` is what
    to do about it, where that is known: the part of the message behind its last semicolon.
    """

    code = "BOOK"

    def __init__(self, path: str, message: str, code: Optional[str] = None) -> None:
        text = message if path == "" or message.startswith(path) else f"{path}: {message}"
        super().__init__(text, code)
        self.path = path
        _, semicolon, remedy = text.rpartition("; ")
        self.remedy: Optional[str] = remedy if semicolon else None


class TradeFailure(BookError):
    """A trade that was not priced. `id` is the trade's; `path` and `message` say why."""

    def __init__(self, id: Optional[str], path: str, message: str, code: Optional[str] = None) -> None:
        super().__init__(path, message, code)
        self.id = id


class DeviceError(FeynkacError):
    """A device that is not there, or that was lost."""

    code = "DEVICE"


class TimeoutError(FeynkacError, builtins.TimeoutError):
    """A request that took longer than it may. The service has given it up."""

    code = "TIME"


class ConnectionError(FeynkacError, builtins.ConnectionError):
    """A service that cannot be reached, or that has gone in mid-answer."""

    code = "CONNECTION"


class StartError(ConnectionError):
    """The command `feynkac serve` is not there, or does not start."""

    code = "START"


class LimitError(FeynkacError):
    """A request that is larger than the service allows, or one too many at once."""

    code = "LIMIT"


class AccessError(FeynkacError):
    """A token that is missing or wrong."""

    code = "TOKEN"


class NotSupportedError(FeynkacError):
    """Something that the service cannot do. The message says what can."""

    code = "NOT_SUPPORTED"


def error_of(status: int, body: Mapping[str, Any]) -> FeynkacError:
    """Returns the exception for the answer of a service with a status that is not 200."""
    found = body.get("error")
    error: Mapping[str, Any] = found if isinstance(found, dict) else {}
    code = str(error.get("code", "HTTP"))
    message = str(error.get("message", f"the service answered with status {status}"))
    if code.startswith("DEVICE"):
        return DeviceError(message, code)
    if status == 401:
        return AccessError(f"{message}; give Session(url, token=…)", code)
    if status == 408:
        return TimeoutError(message, code)
    if status in (413, 429):
        return LimitError(message, code)
    if code == "NOT_FOUND":
        return NotSupportedError(message, code)
    if status in (400, 404):
        path = error.get("path") or (message.partition(":")[0] if code in ("ACCURACY", "MARKET") else "")
        return BookError(str(path), message, code)
    return FeynkacError(message, code)
