"""What is done to a new pod where no policy does it: the same patches, chosen here."""

from collections.abc import Iterator

from queueing.translate import labels
from queueing.webhooks.findings import Wire, dig
from queueing.webhooks.jobs import DefaultingContext
from queueing.webhooks.policies.gating import BY_DEFAULT, CLASS, OF_PARENTS, PATCHES, QUEUED
from queueing.webhooks.rules import OF_MUTATIONS, bound, program_of


def gated(pod: Wire, around: DefaultingContext) -> Iterator[Wire]:
    """Yield the patches (RFC 6902) that queue a new pod, if it is to be queued."""
    for text in _texts(pod, around):
        yield from program_of(text, OF_MUTATIONS)(bound({}, pod))


def _texts(pod: Wire, around: DefaultingContext) -> Iterator[str]:
    mine = dig(pod, "metadata", "labels") or {}
    if not around.namespace_managed:
        return
    if labels.SUSPENDING_PARENT in (dig(pod, "metadata", "annotations") or {}):
        yield PATCHES[OF_PARENTS]
        return
    if around.owner_managed:
        return
    defaulted = labels.QUEUE_NAME not in mine and around.default_local_queue
    if not (defaulted or mine.get(labels.QUEUE_NAME) or around.manage_without_queue):
        return
    yield PATCHES[BY_DEFAULT if defaulted else QUEUED]
    queued = defaulted or mine.get(labels.QUEUE_NAME)
    if queued and around.default_priority_class and labels.PRIORITY_CLASS not in mine:
        yield CLASS
