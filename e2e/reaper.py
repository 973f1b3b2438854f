"""The last one out: ends what a test run started and then could not end itself.

Started by `e2e.process` as a program of its own with a pipe for standard input. The run writes
`process <pid>`, `ended <pid>` and `folder <path>` into the pipe; when the pipe closes, however the
run died, every process group still on the list is ended and every folder removed.
Imports nothing of ours, so that it starts fast and from anywhere.
"""

import os
import select
import shutil
import signal
import sys
from contextlib import suppress

GRACE_S = 5.0


def read_until_closed() -> tuple[list[int], list[str]]:
    processes: dict[int, None] = {}
    folders: list[str] = []
    for line in sys.stdin:
        match line.rstrip("\n").split(" ", 1):
            case ["process", pid]:
                processes[int(pid)] = None
            case ["ended", pid]:
                processes.pop(int(pid), None)
            case ["folder", path]:
                folders.append(path)
            case _:
                pass
    return list(processes), folders


def signal_groups(groups: list[int], which: signal.Signals) -> list[int]:
    """Signal every group and return those that still exist."""
    alive = []
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, which)
            alive.append(group)
    return alive


def main() -> None:
    # Ctrl-C reaches the whole foreground group; the reaper must outlive it to do its work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    processes, folders = read_until_closed()
    alive = signal_groups(processes, signal.SIGCONT)
    alive = signal_groups(alive, signal.SIGTERM)
    if alive:
        select.select([], [], [], GRACE_S)
        signal_groups(alive, signal.SIGKILL)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
