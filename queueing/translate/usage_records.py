"""UsageRecords between objects and rows: their names, what is read, what is written."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from queueing.core.credits.facts import PART, Member, RowName, UsageRecordFact, UsageRow
from queueing.core.credits.folding import Resolution
from queueing.core.credits.period import spelled
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.translate import credits_wire as wire
from queueing.translate.credits import leaver, leaver_entry
from queueing.translate.times import timestamp

API_VERSION = "queueing.dev/v1alpha1"
NAME_MAX = 220
_DIGITS = {Resolution.HOUR: 10, Resolution.DAY: 8, Resolution.MONTH: 6}
_SUMS = ("used", "idle", "wasted", "quota")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Which tree and which stretch of time a record is of."""

    root: Member
    resolution: Resolution
    start: int

    @property
    def end(self) -> int:
        """When the stretch is over."""
        return self.resolution.span(self.start).end

    @property
    def name(self) -> str:
        """Name of the object: that of the root, and the beginning as far as it matters."""
        root = self.root.name
        if len(root) > NAME_MAX:
            digest = sha256(root.encode()).hexdigest()[:12]
            root = f"{root[:NAME_MAX].rstrip('-.')}-{digest}"
        digits = spelled(self.start).translate(str.maketrans("", "", "-:TZ"))
        alone = "q" if self.root.kind == "ClusterQueue" else ""
        return f"{root}.{alone}{digits[: _DIGITS[self.resolution]]}"

    @property
    def coarser(self) -> "Stretch | None":
        """The stretch that this one becomes a part of as it ages; None where it goes."""
        above = self.resolution.coarser
        return None if above is None else Stretch(self.root, above, above.span(self.start).begin)


def stretch(found: wire.UsageRecord) -> Stretch:
    """Read which tree and time a record is of."""
    spec = found.spec
    root = Member(spec.root.kind, spec.root.name)
    return Stretch(root, Resolution(spec.resolution), int(spec.start.timestamp()))


def usage_record(found: wire.UsageRecord) -> UsageRecordFact:
    """Read a record as it was stored."""
    status, of = found.status, stretch(found)
    return UsageRecordFact(
        root=of.root,
        start=of.start,
        as_of=int(status.as_of.timestamp()) if status.as_of else of.start,
        unit=status.unit,
        rows=tuple(map(_row, status.rows)),
        leavers=tuple(leaver(one) for one in status.leavers),
    )


def folded(found: wire.UsageRecord) -> tuple[int, ...]:
    """Read the beginnings of the finer records that are added up in one."""
    return tuple(int(one.timestamp()) for one in found.status.folded)


def usage_object(of: Stretch, status: dict[str, Any]) -> dict[str, Any]:
    """Spell a record that is to be created."""
    return {
        "apiVersion": API_VERSION,
        "kind": "UsageRecord",
        "metadata": {"name": of.name},
        "spec": {
            "root": {"kind": of.root.kind, "name": of.root.name},
            "resolution": str(of.resolution),
            "start": timestamp(of.start),
            "end": timestamp(of.end),
        },
        "status": status,
    }


def usage_status(found: UsageRecordFact, folded: tuple[int, ...] = ()) -> dict[str, Any]:
    """Spell what a record says; lists are replaced as a whole."""
    return {
        "asOf": timestamp(found.as_of),
        "unit": found.unit,
        "rows": [_entry(one) for one in found.rows],
        "leavers": [leaver_entry(one) for one in found.leavers],
        "folded": [timestamp(one) for one in folded],
    }


def _row(one: wire.UsageRow) -> UsageRow:
    kind, name = ("Cohort", one.cohort) if one.cohort else ("ClusterQueue", one.cluster_queue)
    resource = FlavorResource(FlavorName(one.flavor), ResourceName(one.resource))
    return UsageRow(
        name=RowName(Member(kind, name), one.local_queue, one.user, resource),
        used=int(one.used),
        borrowed=int(one.borrowed) * PART + one.borrowed_remainder,
        idle=int(one.idle),
        wasted=int(one.wasted),
        cost=int(one.cost_micro_credits),
        quota=int(one.quota),
        lent=int(one.lent) * PART + one.lent_remainder,
    )


def _entry(one: UsageRow) -> dict[str, Any]:
    """Spell a row; what is nothing is left out."""
    holder = one.name.holder
    flavor, resource = one.name.resource
    entry: dict[str, Any] = {
        "clusterQueue" if holder.kind == "ClusterQueue" else "cohort": holder.name,
        "flavor": flavor,
        "resource": resource,
    }
    texts = {
        "localQueue": one.name.local_queue,
        "user": one.name.user,
        **{each: _number(getattr(one, each)) for each in _SUMS},
        "costMicroCredits": _number(one.cost),
        "borrowed": _number(one.borrowed // PART),
        "lent": _number(one.lent // PART),
    }
    parts = {"borrowedRemainder": one.borrowed % PART, "lentRemainder": one.lent % PART}
    return entry | {key: value for key, value in (texts | parts).items() if value}


def _number(value: int) -> str:
    return str(value) if value else ""
