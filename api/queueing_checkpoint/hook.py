"""The hook of a training loop: hears, answers, beats while work is saved, ends with code 85."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

from queueing_checkpoint.channels import Channel
from queueing_checkpoint.messages import Notice, Saved
from queueing_checkpoint.surroundings import channel_of

EXIT_CODE = 85
"""A process that was told to end and has saved."""
TERMINATION_LOG_VARIABLE = "QUEUEING_TERMINATION_LOG"
_TERMINATION_LOG = "/dev/termination-log"
_DELIVER_S = 0.5
Step = TypeVar("Step")
Save = Callable[[], Saved | None]


class Hook:
    """What `checkpointing` gives: ask `should_save()` at the end of each step."""

    def __init__(self, save: Save, channel: Channel) -> None:
        self._save, self._channel = save, channel
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._news = threading.Event()
        self._notice: Notice | None = None
        self._wanted = False
        self._terminating = False
        self._critical_s = 0.0
        self._progress: float | None = None
        self._last: tuple[Saved, float] | None = None
        self._outbox: str | None = None
        self._saving = False
        self._idle_since: float | None = None
        self._idle_told: float | None = None
        self._beats = 0
        self._listener = threading.Thread(
            target=self._listen, name="checkpoint-listen", daemon=True
        )
        self._speaker = threading.Thread(target=self._speak, name="checkpoint-speak", daemon=True)

    # For the training loop --------------------------------------------------------------------

    def should_save(self) -> bool:
        """Say whether the work is to be saved now: somebody asked, or the process is to end."""
        return self._wanted or self._terminating

    def steps(self, of: Iterable[Step]) -> Iterator[Step]:
        """Go through the steps of a loop, and save after one whenever that is asked for."""
        for step in of:
            yield step
            if self.should_save():
                self.save()

    def save(self) -> Saved | None:
        """Save, and say so; ends the process with code 85 if it was told to end.

        What `save` raises is answered as a failure, and raised again.
        """
        with self._lock:
            notice, wanted = self._notice, self._wanted
            fresh = self._last is not None and not wanted
        if not (self._terminating and fresh):
            self._run(notice)
        last = self._last
        if self._terminating:
            self._leave(last[0] if last is not None else None)
        return last[0] if last is not None else None

    def saved(self, saved: Saved) -> None:
        """Note a checkpoint that the loop made by itself: while it is fresh, no other is needed."""
        self._last = (saved, time.time())

    def progress(self, fraction: float) -> None:
        """Tell how far the saving is: heartbeats with progress may extend its deadline."""
        self._progress = fraction

    @contextmanager
    def critical(self, retry_after_s: float) -> Iterator[None]:
        """Ask whoever asks meanwhile to come back later; a policy says how often that works."""
        self._critical_s = retry_after_s
        try:
            yield
        finally:
            self._critical_s = 0.0

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Tell the queue that nothing is done meanwhile, say while data or a person is awaited.

        A policy says for how long a workload may hold its quota like that.
        """
        self._idle_since = time.time()
        self._news.set()
        try:
            yield
        finally:
            self._idle_since = None
            self._news.set()

    # Behind it --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to listen."""
        self._listener.start()
        self._speaker.start()

    def stop(self) -> None:
        """Listen no more; what was answered last is still delivered."""
        self._ended.set()
        self._news.set()
        self._speaker.join(timeout=2.0)

    def terminate(self) -> None:
        """Take note that the process is to end."""
        self._terminating = True

    def _run(self, notice: Notice | None) -> None:
        self._saving = True
        try:
            saved = self._save() or Saved()
        except BaseException as error:
            if notice is not None:
                self._post(notice.answer("Failed", message=f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._saving, self._progress = False, None
            self._wanted = False
        self._last = (saved, time.time())
        if notice is not None:
            self._post(notice.answer("Saved", at=self._last[1], **saved.told()))

    def _leave(self, saved: Saved | None) -> None:
        """End the process, with what was saved as its last words."""
        told = {"answer": "Saved", "at": time.time(), **(saved.told() if saved else {})}
        if self._notice is not None:
            told |= {"requestID": self._notice.request_id, "epoch": self._notice.epoch}
        path = os.environ.get(TERMINATION_LOG_VARIABLE, _TERMINATION_LOG)
        with contextlib.suppress(OSError):
            Path(path).write_text(json.dumps(told), encoding="utf-8")
        self.stop()
        sys.exit(EXIT_CODE)

    def _listen(self) -> None:
        self._channel.listen(self._heard, self._ended)

    def _heard(self, notice: Notice) -> None:
        """Take a request in: accepted at once, because a step of training may take minutes."""
        with self._lock:
            known = self._notice
            self._notice = notice
            if notice.cancelled:
                self._wanted = False
                return
            if known == notice and not self._wanted:
                return
            last = self._last
            if last is not None and time.time() - last[1] <= notice.fresh_s:
                self._post(notice.answer("AlreadyFresh", at=last[1], **last[0].told()))
                return
            if self._critical_s > 0:
                self._post(notice.answer("Refused", retryAfterSeconds=self._critical_s))
                return
            self._wanted = True
            self._post(notice.answer("Accepted", beat="0"))

    def _post(self, text: str) -> None:
        self._outbox = text
        self._news.set()

    def _speak(self) -> None:
        """Deliver the last answer until it is through, and beat while the work is to be saved."""
        while True:
            notice = self._notice
            beat_s = notice.heartbeat_s / 2 if notice is not None else 60.0
            due = self._news.wait(max(beat_s, 0.05))
            self._news.clear()
            self._tell_idle()
            text = self._outbox
            if text is None and not due and self._wanted and notice is not None:
                self._beats += 1
                told = {} if self._progress is None else {"progress": self._progress}
                text = notice.answer("Heartbeat", beat=str(self._beats), **told)
            if text is not None:
                try:
                    self._channel.answer(text)
                except OSError:
                    if not self._ended.wait(_DELIVER_S):
                        self._news.set()
                        continue
                if self._outbox == text:
                    self._outbox = None
            if self._ended.is_set() and self._outbox is None:
                return

    def _tell_idle(self) -> None:
        """Tell what changed; what cannot be told now is tried again with the next word."""
        wanted = self._idle_since
        if wanted != self._idle_told:
            with contextlib.suppress(OSError):
                self._channel.idle(wanted)
                self._idle_told = wanted


@contextmanager
def checkpointing(save: Save, channel: Channel | None = None) -> Iterator[Hook]:
    """Let the queue ask this process to save while the block runs.

    `save` is called by `hook.save()`, in the thread of the loop, and returns what was saved.
    SIGTERM asks too, when this is the main thread; it then no longer ends the process by itself.
    """
    hook = Hook(save, channel if channel is not None else channel_of())

    def told_to_end(_: int, __: FrameType | None) -> None:
        hook.terminate()

    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, told_to_end) if main else None
    hook.start()
    try:
        yield hook
    finally:
        hook.stop()
        if main:
            signal.signal(signal.SIGTERM, before)
