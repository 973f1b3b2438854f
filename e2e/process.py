"""Programs under test: started in a process group and log file of their own, and always ended.

Invariant: whatever is started here is ended and waited for by `terminate` or `kill`; if this
process dies first, the reaper does it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

TAIL_LINES = 40
POLL_S = 0.1


class StartError(RuntimeError):
    """A program ended, or did not get ready in time; the message carries the tail of its log."""


class Reaper:
    """Makes sure that nothing outlives this Python process: see `e2e.reaper`."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("reaper.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def started(self, pid: int) -> None:
        self._tell(f"process {pid}")

    def ended(self, pid: int) -> None:
        self._tell(f"ended {pid}")

    def folder(self, path: Path) -> None:
        self._tell(f"folder {path}")

    def close(self) -> None:
        """End whatever is left now, remove the folders, and wait for both."""
        if self._program.stdin is not None:
            self._program.stdin.close()
        self._program.wait(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, line: str) -> None:
        if self._program.stdin is not None and not self._program.stdin.closed:
            self._program.stdin.write(line + "\n")
            self._program.stdin.flush()


@dataclass(slots=True)
class Program:
    """What to run: a name for people, a command, its environment and where its log goes."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


class Process:
    """A running program. Signals go to its whole process group."""

    def __init__(self, program: Program, reaper: Reaper) -> None:
        self.program = program
        self._reaper = reaper
        program.log.parent.mkdir(parents=True, exist_ok=True)
        with program.log.open("ab") as log:
            self._popen = subprocess.Popen(
                list(program.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **program.environment},
                cwd=program.folder,
                start_new_session=True,
            )
        reaper.started(self._popen.pid)

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal, None while it runs."""
        return self._popen.poll()

    @property
    def running(self) -> bool:
        return self.exit_code is None

    def wait_until(self, ready: Callable[[], bool], *, timeout_s: float, what: str) -> None:
        """Wait for `ready`, and fail at once when the program ends before."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if not self.running:
                raise StartError(f"{self.name} ended with {self.exit_code}\n{self.tail()}")
            if time.monotonic() > deadline:
                raise StartError(f"{self.name}: not {what} in {timeout_s:.0f} s\n{self.tail()}")
            time.sleep(POLL_S)

    def wait_for_exit(self, timeout_s: float) -> int:
        """Return the exit code of a program that is to end by itself."""
        try:
            code = self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(
                f"{self.name} still runs after {timeout_s:.0f} s\n{self.tail()}"
            ) from error
        self._reaper.ended(self.pid)
        return code

    def terminate(self, grace_s: float = 20.0) -> int:
        """SIGTERM to the program itself, then after `grace_s` SIGKILL to its whole group.

        Returns the exit code.
        """
        self._signal(signal.SIGCONT)
        if self.running:
            self._popen.terminate()
        try:
            self._popen.wait(grace_s)
        except subprocess.TimeoutExpired:
            return self.kill()
        return self._gone()

    def kill(self) -> int:
        """SIGKILL, as an out-of-memory killer or a lost machine would."""
        self._signal(signal.SIGKILL)
        self._popen.wait(60)
        return self._gone()

    def suspend(self) -> None:
        """SIGSTOP: the program is alive and hears nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def tail(self, lines: int = TAIL_LINES) -> str:
        """Return the last lines of the log, each marked with the program's name."""
        try:
            text = self.program.log.read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(f"[{self.name}] {line}" for line in text.splitlines()[-lines:])

    def _gone(self) -> int:
        # Children that the program left in its group go with it.
        self._signal(signal.SIGKILL)
        self._reaper.ended(self.pid)
        return self._popen.returncode

    def _signal(self, which: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, which)
