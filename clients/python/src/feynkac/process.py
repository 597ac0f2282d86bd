"""The local process: `feynkac serve` on loopback, found, started, kept and ended."""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, List, Optional, Sequence, Union

from .errors import DeviceError, StartError

Command = Union[str, Sequence[str]]

#: A request of one's own process may be as large and as slow as it likes.
_LIMITS = [
    *("--max-bytes", "400000000"),
    *("--max-trades", "10000000"),
    *("--max-seconds", "604800"),
    *("--finest-accuracy", "1e-8"),
]


def find_command(command: Optional[Command] = None) -> List[str]:
    """Returns the command line of `feynkac`.

    The first that is there: `command`; the variable FEYNKAC_COMMAND; `node_modules/.bin/feynkac` in this folder or one
    above; `feynkac` on the PATH; `npx feynkac`. Raises StartError if there is none.
    """
    given = command if command is not None else os.environ.get("FEYNKAC_COMMAND") or None
    if given is not None:
        return shlex.split(given, posix=os.name != "nt") if isinstance(given, str) else [str(part) for part in given]
    name = "feynkac.cmd" if os.name == "nt" else "feynkac"
    here = Path.cwd()
    for folder in (here, *here.parents):
        installed = folder / "node_modules" / ".bin" / name
        if installed.exists():
            return [str(installed)]
    found = shutil.which("feynkac")
    if found is not None:
        return [found]
    npx = shutil.which("npx")
    if npx is not None:
        return [npx, "--no-install", "feynkac"]
    raise StartError(
        "the command feynkac is not here; install Node 20.19 or later and `npm install feynkac fastify`, "
        "or name it: command=[…], or the variable FEYNKAC_COMMAND"
    )


class LocalProcess:
    """A running `feynkac serve` of this program, with its `url` and `token`; it ends with `close`, or the program."""

    def __init__(
        self,
        command: Optional[Command] = None,
        *,
        backend: str = "cpu",
        device: Optional[int] = None,
        threads: Optional[int] = None,
        patience: float = 60.0,
    ) -> None:
        self.command = find_command(command)
        self.token = secrets.token_hex(24)
        self._last: List[str] = []
        self._lock = threading.Lock()
        folder = tempfile.mkdtemp(prefix="feynkac-")  # only this user can read it
        try:
            file = os.path.join(folder, "token")
            with open(file, "w", encoding="ascii") as text:
                text.write(self.token)
            options = ["--port", "0", "--stdin", "--backend", backend, "--token-file", file, *_LIMITS]
            options += [] if threads is None else ["--threads", str(threads)]
            options += [] if device is None else ["--device", str(device)]
            self._process = self._start([*self.command, "serve", *options])
            atexit.register(self.close)
            self.url = self._read_url(patience)
        except BaseException:
            self.close()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    @property
    def last_words(self) -> str:
        """What the process has said last on standard error."""
        return "\n".join(self._last[-5:])

    def close(self) -> None:
        """Ends the process. It may be called twice."""
        process: Optional["subprocess.Popen[str]"] = getattr(self, "_process", None)
        if process is None:
            return
        atexit.unregister(self.close)
        if process.stdin is not None:
            process.stdin.close()  # by which --stdin ends it, also where npx stands between
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr is not None and not self._reader.is_alive():
            process.stderr.close()

    def _start(self, command: List[str]) -> "subprocess.Popen[str]":
        # Ctrl-C is for this program, which cancels its request; the process must survive that.
        group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # of Windows alone
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=os.name != "nt",
                creationflags=group,
            )
        except OSError as cause:
            raise StartError(f"cannot start {command[0]!r}: {cause.strerror}; see FEYNKAC_COMMAND") from cause

    def _read_url(self, patience: float) -> str:
        assert self._process.stderr is not None
        said = threading.Event()
        found: List[str] = []

        def read(stream: IO[str]) -> None:
            for line in stream:
                self._last = [*self._last[-20:], line.rstrip()]
                match = re.match(r"(http://\S+?), ", line)
                if match and not found:
                    found.append(match.group(1))
                    said.set()
            said.set()

        self._reader = threading.Thread(target=read, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        said.wait(patience)
        if found:
            return found[0]
        time.sleep(0.05)
        text = self.last_words.replace("feynkac: ", "")
        if re.search(r"(?i)cuda|webgpu|vulkan|\bgpu\b|device", text) and "npm install fastify" not in text:
            raise DeviceError(f"the device is not available: {text}", "DEVICE_UNAVAILABLE")
        shown = " ".join(self.command)
        if text == "":
            raise StartError(f"{shown} serve: no answer within {patience:g} s")
        raise StartError(f"{shown} serve: {text}")
