"""Terms: how a workload is asked to save, and its deadlines; a team's within an admin's bounds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from typing_extensions import override

from queueing.core.selectors import Selector

HEARTBEATS_MISSED = 3
"""After so many missed heartbeats a pod counts as not saving any more."""
DAY_S = 86_400.0


class Driver(StrEnum):
    """How pods are notified of a request, and answer it."""

    ANNOTATION = "Annotation"
    HTTP = "HTTP"
    TERMINATION_ONLY = "TerminationOnly"
    JOB = "Job"
    """A separate Job saves for them."""
    EXEC = "Exec"
    """A command is run in their container."""


USUAL_DRIVERS = frozenset(Driver) - {Driver.EXEC}
"""The drivers allowed by default: running commands in containers must be allowed explicitly."""


class OnFailure(StrEnum):
    """What happens if the work was not saved."""

    PROCEED = "Proceed"
    TRY_OTHER_VICTIM = "TryOtherVictim"
    ABORT = "Abort"


_PATIENCE: Mapping[OnFailure, int] = MappingProxyType(
    {OnFailure.PROCEED: 0, OnFailure.TRY_OTHER_VICTIM: 1, OnFailure.ABORT: 2}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where pods listen for requests, with the driver HTTP."""

    port: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command that is run in each pod whose answer counts, with the driver Exec."""

    words: tuple[str, ...]
    container: str = ""
    """Empty for the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of saving (a CheckpointPolicy); times in seconds."""

    driver: Driver
    ack_s: float = 20.0
    save_s: float = 300.0
    save_max_s: float = 300.0
    heartbeat_s: float = 15.0
    fresh_s: float = 120.0
    grace_s: float = 60.0
    force_after_s: float | None = None
    leader: Selector | None = None
    """Selects the pods whose answers count; None for all."""
    refusal_limit: int = 1
    refusal_delay_s: float = 60.0
    on_failure: OnFailure = OnFailure.PROCEED
    http: Endpoint | None = None
    job: bytes = b""
    """The template of the Job that saves, with the driver Job, as JSON; opaque here."""
    command: Command | None = None
    minimum_runtime_s: float = 0.0
    """For how long after its start only preemptors that reclaim their own quota may preempt it."""
    idle_after_s: float | None = None
    """For how long it may hold quota while idle; None for any time."""
    movable: bool = False
    """Whether it may be stopped only to go on at another place."""


UNBOUNDED_BY_ADMIN = Terms(
    driver=Driver.ANNOTATION,
    ack_s=60.0,
    save_s=900.0,
    save_max_s=1800.0,
    grace_s=600.0,
    refusal_limit=1,
    refusal_delay_s=60.0,
    on_failure=OnFailure.TRY_OTHER_VICTIM,
)
"""The bounds of a team's terms if its ClusterQueue names no policy."""


def within(terms: Terms, bounds: Terms) -> Terms:
    """Return a team's terms, with no field looser than the bounds.

    So saving may delay a stop, but never prevent it.
    """
    save_s = min(terms.save_s, bounds.save_s)
    return replace(
        terms,
        heartbeat_s=min(terms.heartbeat_s, save_s),
        ack_s=min(terms.ack_s, bounds.ack_s),
        save_s=save_s,
        save_max_s=min(terms.save_max_s, bounds.save_max_s),
        grace_s=min(terms.grace_s, bounds.grace_s),
        force_after_s=_sooner(terms.force_after_s, bounds.force_after_s),
        refusal_limit=min(terms.refusal_limit, bounds.refusal_limit),
        refusal_delay_s=min(terms.refusal_delay_s, bounds.refusal_delay_s),
        on_failure=min(terms.on_failure, bounds.on_failure, key=_PATIENCE.__getitem__),
        minimum_runtime_s=min(terms.minimum_runtime_s, bounds.minimum_runtime_s),
        idle_after_s=_sooner(terms.idle_after_s, bounds.idle_after_s),
        movable=terms.movable or bounds.movable,
    )


def _sooner(own: float | None, bound: float | None) -> float | None:
    return min((one for one in (own, bound) if one is not None), default=None)


class TermsFault(NamedTuple):
    """A field of a policy that breaks a rule, and the rule as the CRD states it."""

    field: str
    rule: str

    @override
    def __str__(self) -> str:
        return f"spec.{self.field}: {self.rule}"


def faults(terms: Terms) -> Iterator[TermsFault]:
    """Yield the rules that terms break."""
    longest_s = None if terms.save_max_s == terms.save_s else terms.save_max_s  # one fault for both
    for name, value in (
        ("ackDeadline", terms.ack_s),
        ("saveDeadline", terms.save_s),
        ("saveDeadlineMax", longest_s),
        ("heartbeat", terms.heartbeat_s),
        ("terminationGrace", terms.grace_s),
        ("freshEnough", terms.fresh_s),
        ("refusalDelayMax", terms.refusal_delay_s),
        ("forceDeleteAfter", terms.force_after_s),
        ("idleAfter", terms.idle_after_s),
    ):
        if value is not None and not 0 < value <= DAY_S:
            yield TermsFault(name, f"{name} must be longer than 0s and at most 24h")
    if not 0 <= terms.minimum_runtime_s <= DAY_S:
        yield TermsFault("minimumRuntime", "minimumRuntime must be at most 24h")
    if terms.save_max_s < terms.save_s:
        yield TermsFault("saveDeadlineMax", "saveDeadlineMax must not be shorter than saveDeadline")
    if terms.heartbeat_s > terms.save_s:
        yield TermsFault("heartbeat", "heartbeat must not be longer than saveDeadline")
    if terms.driver is Driver.HTTP and terms.http is None:
        yield TermsFault("http", "driver HTTP needs http.port, where the pods listen")
    if terms.driver is Driver.JOB and not terms.job:
        yield TermsFault("job", "driver Job needs job.template, the Job that saves")
    if terms.driver is Driver.EXEC and (terms.command is None or not terms.command.words):
        yield TermsFault("exec", "driver Exec needs exec.command, what is run in the container")
