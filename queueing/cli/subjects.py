"""What people name on the command line: `job/train`, `workload/w`, `clusterqueue/a`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from queueing.cli.output import UsageProblem
from queueing.translate.jobs.slices import OUT_OF_SYNC, REPLACED
from queueing.translate.labels import SLICE_NAME

CLUSTER_QUEUE, LOCAL_QUEUE, WORKLOAD = "clusterqueue", "localqueue", "workload"
SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        "clusterqueue": CLUSTER_QUEUE,
        "clusterqueues": CLUSTER_QUEUE,
        "cq": CLUSTER_QUEUE,
        "localqueue": LOCAL_QUEUE,
        "localqueues": LOCAL_QUEUE,
        "queue": LOCAL_QUEUE,
        "queues": LOCAL_QUEUE,
        "lq": LOCAL_QUEUE,
        "workload": WORKLOAD,
        "workloads": WORKLOAD,
        "wl": WORKLOAD,
    }
)
_MADE = re.compile(r"-[0-9a-f]{5}$")
"""The end of the name of a Workload that was made for a job."""


@dataclass(frozen=True, slots=True)
class Named:
    """One object that was named; `kind` is lower case, empty for a bare name."""

    kind: str
    name: str

    @property
    def is_queue(self) -> bool:
        return self.kind in {CLUSTER_QUEUE, LOCAL_QUEUE}

    @property
    def spelled(self) -> str:
        """The name as people write it."""
        return f"{self.kind}/{self.name}" if self.kind else self.name


def named(words: Sequence[str]) -> Named:
    """Read `KIND/NAME`, `KIND NAME` or a bare name. Raises UsageProblem for anything else."""
    if len(words) == 1:
        kind, slash, name = words[0].rpartition("/")
    elif len(words) == 2:  # noqa: PLR2004 - kind and name
        (kind, name), slash = words, "/"
    else:
        raise UsageProblem("name one object: KIND/NAME, or KIND NAME")
    if not name or (slash and not kind):
        raise UsageProblem(f"{'/'.join(words)!r} is no KIND/NAME")
    kind = kind.lower().partition(".")[0]
    return Named(SPELLINGS.get(kind, kind), name)


def is_meant(subject: Named, workload: Mapping[str, Any]) -> bool:
    """Say whether a Workload is named by itself, or by a job that owns it, or did."""
    metadata = workload["metadata"]
    if subject.kind in {"", WORKLOAD} and metadata["name"] == subject.name:
        return True
    if subject.kind == WORKLOAD or was_replaced(workload):
        return False
    return any(
        one["name"] == subject.name and _is_kind(subject.kind, one["kind"])
        for one in metadata.get("ownerReferences") or ()
    )


def was_replaced(workload: Mapping[str, Any]) -> bool:
    """Say whether it is a slice of an elastic job, and others stand for the job by now."""
    conditions = (workload.get("status") or {}).get("conditions") or ()
    over = any(
        one.get("type") == "Finished" and one.get("reason") in {REPLACED, OUT_OF_SYNC}
        for one in conditions
    )
    return over and SLICE_NAME in (workload["metadata"].get("annotations") or {})


def is_made_for(subject: Named, name: str) -> bool:
    """Say whether a Workload's name is one that is made for the job that is named."""
    if subject.kind == WORKLOAD or not _MADE.search(name):
        return name == subject.name
    made = _MADE.sub("", name)
    kind, _, rest = made.partition("-")
    return name == subject.name or (rest == subject.name and _is_kind(subject.kind, kind))


def _is_kind(written: str, kind: str) -> bool:
    """Compare a kind with how people write it: in the singular, in the plural, or not at all."""
    lower = kind.lower()
    return written in {"", lower, f"{lower}s"}


def only(found: Iterable[str], subject: Named, where: str) -> str:
    """Return the one key that was found. Raises UsageProblem for none, and for several."""
    keys = sorted(found)
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise UsageProblem(f"{subject.spelled} may mean {', '.join(keys)}: name one as workload/…")
    told = f"there is no {subject.kind or 'workload'} {subject.name} {where}".rstrip()
    if subject.is_queue or subject.kind == WORKLOAD:
        raise UsageProblem(f"{told}; name its namespace with -n")
    raise UsageProblem(
        f"{told} that has a Workload: has it the label kueue.x-k8s.io/queue-name? Or name its"
        " namespace with -n"
    )
