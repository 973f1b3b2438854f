"""A cable between two programs on loopback that a test can pull, or stop up, and mend again."""

import socket
import threading
from contextlib import suppress

from typing_extensions import override

from e2e.closing import Closing
from e2e.components import HOST

CHUNK = 65536


class Cable(Closing):
    """Forwards TCP connections to a port, until it is cut; then it ends and refuses them all.

    While it is silent, connections stay open and are taken, and not a byte gets through. Those of
    that time stay so for ever, as when something on the way has forgotten them.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._silent: set[socket.socket] = set()
        self._is_silent = False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._plugged = True
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Reset every connection, and every new one at once."""
        with self._lock:
            self._plugged = False
            for one in self._open:
                _hang_up(one)
            self._open.clear()

    def plug(self) -> None:
        """Forward again."""
        with self._lock:
            self._plugged = True

    def hush(self) -> None:
        """Say nothing more to anybody, and end nothing."""
        with self._lock:
            self._is_silent = True
            self._silent.update(self._open)

    def speak(self) -> None:
        """Let through whoever connects from now on."""
        with self._lock:
            self._is_silent = False

    @override
    def close(self) -> None:
        self.cut()
        _hang_up(self._listener)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                self._join(here)

    def _join(self, here: socket.socket) -> None:
        try:
            there = socket.create_connection((HOST, self._target), timeout=10)
        except OSError:
            _hang_up(here)
            return
        there.settimeout(None)
        with self._lock:
            if not self._plugged:
                _hang_up(here)
                _hang_up(there)
                return
            self._open.update((here, there))
            if self._is_silent:
                self._silent.update((here, there))
        for source, sink in ((here, there), (there, here)):
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if source not in self._silent:
                    sink.sendall(data)
        with self._lock:
            self._open -= {source, sink}
            self._silent -= {source, sink}
        _hang_up(source)
        _hang_up(sink)


def _hang_up(one: socket.socket) -> None:
    # Shutdown wakes a thread that waits in accept or recv; close alone does not.
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
