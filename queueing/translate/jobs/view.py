"""A job as everything above its kind sees it: read once from its object, and never changed.

Who decides about jobs looks at this alone. What only a kind knows (how its pod template is changed
at a start, restored after a stop, compared with a Workload) are functions of the kind's module.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import msgspec

from queueing.translate.jobs.composition import JobKind
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.pods import PodTemplate

_template = msgspec.json.Decoder(PodTemplate)


class End(NamedTuple):
    """How a job has ended."""

    succeeded: bool
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job, in one version of its object."""

    kind: JobKind
    metadata: Meta
    suspended: bool
    stopping: bool
    """It is being suspended, and its pod template is not restored yet: an annotation says so."""
    pods: int
    """How many pods are to run at once."""
    least_pods: int | None
    """With how few of them it may be admitted; None for all."""
    running_pods: int
    """How many pods run or are about to."""
    active: bool
    """Pods of it may still run, those being terminated included."""
    ready: bool
    """All pods run and are ready, or have succeeded."""
    reclaimable: int
    """How many pods will never be needed again."""
    end: End | None
    """None while it has not ended."""
    encoded_template: msgspec.Raw
    """The pod template, as JSON."""
    source: Job
    """The object itself, for its kind."""

    @property
    def template(self) -> PodTemplate:
        """The fields of the pod template that we read."""
        return _decoded(bytes(self.encoded_template))

    @property
    def ended(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.end is not None


@lru_cache(maxsize=256)
def _decoded(template: bytes) -> PodTemplate:
    """Decode a template: it is asked for at each look at a Job, and many Jobs are alike."""
    return _template.decode(template)
