"""`python -m queueing_checkpoint FOLDER`: the sidecar mode, for work in any language.

The sidecar listens at the pod and shares a folder with the work: a request appears in
`request.json`, and what the work writes into `answer.json` is handed on, say
`{"answer": "Saved", "uri": "s3://bucket/7"}`. After `{"answer": "Accepted"}` it beats for the work.
An answer must come whole: write another file, and rename it. While there is a file `idle`, the
queue is told that the work does nothing. The sidecar ends with SIGTERM.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from queueing_checkpoint.channels import Channel, write_whole
from queueing_checkpoint.listener import ListenerChannel
from queueing_checkpoint.messages import Notice
from queueing_checkpoint.pod import PodChannel

POLL_S = 0.2
PAUSE_S = 10.0


class Carrier:
    """Hands requests on to the folder, and answers from it."""

    def __init__(self, folder: Path, channel: Channel) -> None:
        self._request, self._answer = folder / "request.json", folder / "answer.json"
        self._idle = folder / "idle"
        self._channel = channel
        self._idle_told: float | None = None
        self._idle_tried_at = float("-inf")
        self._notice: Notice | None = None
        self._handed_on = ""
        self._accepted = False
        self._beaten_at = time.monotonic()

    def carry(self, ended: threading.Event) -> None:
        """Carry until the event is set, and the last answer then."""
        listener = threading.Thread(
            target=self._channel.listen, args=(self._heard, ended), daemon=True
        )
        listener.start()
        while not ended.wait(POLL_S):
            self._look()
            self._look_whether_idle()
        self._look()

    def _heard(self, notice: Notice) -> None:
        """Show a request to the work; what answered an earlier one is taken away."""
        parts = {"heartbeatSeconds": notice.heartbeat_s, "freshSeconds": notice.fresh_s}
        shown = Notice.read(_text(self._request))
        if shown is None or shown.request_id != notice.request_id:
            self._answer.unlink(missing_ok=True)
            self._handed_on, self._accepted = "", False
        told = notice.told(reason=notice.reason, cancelled=notice.cancelled, **parts)
        write_whole(self._request, told)
        self._notice = notice
        self._accepted = self._accepted and not notice.cancelled

    def _look_whether_idle(self) -> None:
        """Tell whether the work does nothing; what is refused is tried again after a pause."""
        since = _changed_at(self._idle)
        if since != self._idle_told and time.monotonic() - self._idle_tried_at > PAUSE_S:
            try:
                self._channel.idle(since)
                self._idle_told = since
            except OSError as error:
                sys.stderr.write(f"queueing_checkpoint: {error}\n")
                self._idle_tried_at = time.monotonic()

    def _look(self) -> None:
        """Hand on an answer that is new, and beat for work that has begun to save."""
        notice, text = self._notice, _text(self._answer)
        if notice is None:
            return
        with contextlib.suppress(OSError):  # tried again at the next look
            if text and text != self._handed_on:
                word, whole = _completed(text, notice)
                if whole:
                    self._channel.answer(whole)
                else:
                    sys.stderr.write(f"queueing_checkpoint: no answer: {text[:200]!r}\n")
                self._handed_on, self._accepted = text, word == "Accepted"
                self._beaten_at = time.monotonic()
            elif self._accepted and time.monotonic() - self._beaten_at > notice.heartbeat_s / 2:
                self._beaten_at = time.monotonic()
                self._channel.answer(notice.answer("Heartbeat", beat=f"{self._beaten_at:.3f}"))


def _completed(text: str, notice: Notice) -> tuple[str, str]:
    """Return the word of an answer, and the answer with what it may leave out."""
    try:
        found = json.loads(text)
        word = str(found["answer"])
    except (ValueError, TypeError, KeyError):
        return "", ""
    return word, json.dumps({"requestID": notice.request_id, "epoch": notice.epoch, **found})


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _changed_at(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def main(arguments: list[str]) -> int:
    """Run the sidecar; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m queueing_checkpoint", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder that is shared with the work")
    folder: Path = parser.parse_args(arguments).folder
    channel = ListenerChannel.of(os.environ) or PodChannel.of(os.environ)
    if channel is None:
        sys.stderr.write(
            "queueing_checkpoint: this is no pod: KUBERNETES_SERVICE_HOST is not set\n"
        )
        return 2
    ended = threading.Event()

    def told_to_end(_: int, __: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, told_to_end)
    Carrier(folder, channel).carry(ended)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
