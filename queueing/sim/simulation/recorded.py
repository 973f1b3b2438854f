"""A recording of a controller as a load: its queues, and the workloads that it saw."""

from collections.abc import Hashable
from dataclasses import dataclass

from queueing.core.credits.facts import CreditFact
from queueing.core.facts import Fact, Gone, WorkloadFact
from queueing.core.settings import Settings
from queueing.recording.lines import RecordingError, opened, read
from queueing.sim.simulation.arrivals import Arrival
from queueing.sim.simulation.past import arrivals_of
from queueing.sim.yaml_text import ManifestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was read of a recording."""

    objects: tuple[Fact | CreditFact, ...]
    """Everything but workloads, each as it was last."""
    settings: Settings
    arrivals: tuple[Arrival, ...]
    """Workloads that ended while it was recorded, as they came."""
    begins: float


def identity(fact: Fact | CreditFact) -> Hashable:
    """Return by what two facts of one object are known."""
    return type(fact).__name__, getattr(fact, "key", None) or getattr(fact, "name", None)


def read_recording(file: str, *, any_version: bool = True) -> Recorded:
    """Read a recording. Raises ManifestError with the line of what cannot be used."""
    objects: dict[Hashable, Fact | CreditFact] = {}
    workloads: dict[tuple[str, str], WorkloadFact] = {}
    settings = Settings()
    try:
        with opened(file) as source:
            for one in read(source, file, any_version=any_version):
                if one.event == "begin":
                    settings = one.body
                elif one.event == "observe" and isinstance(one.body, WorkloadFact):
                    workloads[one.body.key, one.body.uid] = one.body
                elif one.event == "observe" and not isinstance(one.body, Gone):
                    objects[identity(one.body)] = one.body
    except RecordingError as error:
        raise ManifestError(file=error.file, line=error.line, problem=error.problem) from error
    arrivals = arrivals_of(workloads.values(), float("-inf"))
    if not arrivals:
        raise ManifestError(file=file, line=0, problem="no workload ended while it was recorded")
    return Recorded(
        objects=tuple(objects.values()),
        settings=settings,
        arrivals=tuple(arrivals),
        begins=arrivals[0].at,
    )
