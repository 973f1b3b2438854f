import re
from pathlib import Path

from queueing import checkpoints, controller, devices
from queueing.observe import metrics
from queueing.observe.metric_table import ROWS, UNMEASURED

SHELLS = [Path(one.__path__[0]) for one in (controller, checkpoints, devices)]
FEEDERS = [path for shell in SHELLS for path in sorted(shell.rglob("*.py"))]
SOURCE = "".join(path.read_text() for path in [*FEEDERS, Path(metrics.__file__)])


def _is_fed(name: str) -> bool:
    """Whether those who feed metrics name it, as those of queues do by their prefix too."""
    names = {name, name.removeprefix("local_queue_")}
    return any(re.search(rf'metrics\.{one}\b|"{one}"|\{{prefix\}}{one}\b', SOURCE) for one in names)


def test_what_nothing_feeds_is_said_to_be_unmeasured() -> None:
    assert {name for name in ROWS if not _is_fed(name)} == set(UNMEASURED)
