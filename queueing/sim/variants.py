"""Variants that workloads of a plan would get: in queues with a policy of concurrent admission."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from queueing.core.names import Key
from queueing.translate.jobs.slices import slice_name
from queueing.translate.jobs.variants import composed_variant, parent_of, variant_of
from queueing.translate.wire.queues import ClusterQueue, LocalQueue
from queueing.translate.wire.workloads import Workload

_workload = msgspec.json.Decoder(Workload)


def variants_to_come(
    workloads: Iterable[Workload], doors: Iterable[LocalQueue], queues: Iterable[ClusterQueue]
) -> Iterator[Workload]:
    """Yield the variants that waiting workloads would get and that are not given."""
    given = list(workloads)
    behind = _flavors_behind(doors, queues)
    found = (variant_of(one.metadata) for one in given)
    known = {(one.parent, one.flavor) for one in found if one is not None}
    for one in given:
        of_its_own = parent_of(one.metadata) is not None or slice_name(one.metadata)
        if of_its_own or one.status.is_true("QuotaReserved") or one.finished:
            continue
        stored = msgspec.json.encode(one)
        for flavor in behind.get(one.local_queue, ()):
            if (one.metadata.uid, flavor) not in known:
                yield _created(composed_variant(stored, flavor)[1], one)


def _flavors_behind(
    doors: Iterable[LocalQueue], queues: Iterable[ClusterQueue]
) -> Mapping[Key, list[str]]:
    """Return the flavors of which each LocalQueue's workloads get variants."""
    flavors = {
        one.metadata.name: [each.name for each in one.spec.resource_groups[0].flavors]
        for one in queues
        if one.spec.concurrent_admission_policy is not None and one.spec.resource_groups
    }
    return {one.metadata.key: flavors.get(one.spec.cluster_queue, []) for one in doors}


def _created(body: bytes, parent: Workload) -> Workload:
    """Return a variant as if it was created with its parent."""
    made = _workload.decode(body)
    life = msgspec.structs.replace(
        made.metadata,
        uid=made.metadata.key,
        creation_timestamp=parent.metadata.creation_timestamp,
    )
    return msgspec.structs.replace(made, metadata=life)
