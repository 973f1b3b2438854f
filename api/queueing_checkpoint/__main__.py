"""`python -m queueing_checkpoint FOLDER`: the sidecar mode, for work in any language.

The sidecar listens at the pod and shares a folder with the work: a request appears in
`request.json`, and what the work writes into `answer.json` is handed on. It ends with SIGTERM.
"""

import argparse
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from queueing_checkpoint.channels import Channel, write_whole
from queueing_checkpoint.messages import Notice
from queueing_checkpoint.pod import PodChannel

POLL_S = 0.2


def carry(folder: Path, channel: Channel, ended: threading.Event) -> None:
    """Hand on requests to the folder and answers from it, until the event is set."""

    def heard(notice: Notice) -> None:
        parts = {"heartbeatSeconds": notice.heartbeat_s, "freshSeconds": notice.fresh_s}
        told = notice.answer("", reason=notice.reason, cancelled=notice.cancelled, **parts)
        write_whole(folder / "request.json", told)

    listener = threading.Thread(target=channel.listen, args=(heard, ended), daemon=True)
    listener.start()
    before = ""
    while not ended.wait(POLL_S):
        with contextlib.suppress(OSError):
            text = (folder / "answer.json").read_text(encoding="utf-8")
            if text != before:
                channel.answer(text)
                before = text


def main(arguments: list[str]) -> int:
    """Run the sidecar; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m queueing_checkpoint", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder that is shared with the work")
    folder: Path = parser.parse_args(arguments).folder
    channel = PodChannel.of(os.environ)
    if channel is None:
        sys.stderr.write(
            "queueing_checkpoint: this is no pod: KUBERNETES_SERVICE_HOST is not set\n"
        )
        return 2
    ended = threading.Event()

    def told_to_end(_: int, __: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, told_to_end)
    carry(folder, channel, ended)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
