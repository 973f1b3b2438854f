import os
import signal
import subprocess
import sys

from queueing.cli.production.lifeline import VARIABLE

PART = """\
import os, time
from queueing.cli.production.lifeline import follow
follow(os.environ)
print("started", flush=True)
time.sleep(60)
"""


def test_a_part_is_told_to_end_when_whoever_started_it_is_gone() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", PART],
        stdout=subprocess.PIPE,
        env={**os.environ, VARIABLE: str(reading)},
        pass_fds=(reading,),
    ) as part:
        assert part.stdout is not None
        assert part.stdout.readline() == b"started\n"
        assert part.poll() is None
        os.close(reading)
        os.close(writing)
        assert part.wait(timeout=30) == -signal.SIGTERM
