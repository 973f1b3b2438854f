"""Heads that are parked without being judged, because the quota alone rules them out.

Where queues fill up, nearly every first judgement ends the same way: the only flavor has too little
left, and the queue may not preempt. The reason that such a head would get, and the amounts that
would help it, follow from a few numbers, without the search for flavors and the ruling
(docs/decisions/0053).
"""

from queueing.core.decisions import Mode, Reason, Requeue, Wait
from queueing.core.facts import Strategy
from queueing.core.flavors.plain import plain_lack
from queueing.core.reasons import describe_missing
from queueing.state.cycle.contest import is_plain
from queueing.state.cycle.prospects import outline_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.stands import PARKED, READY

_STRICT_FIFO = Strategy.STRICT_FIFO
_INADMISSIBLE, _WAITING_FOR_QUOTA = Requeue.INADMISSIBLE, Reason.WAITING_FOR_QUOTA
_NO_CANDIDATES = Mode.NO_CANDIDATES
"""For hot paths: see `READY` in `queues.stands`."""


def set_aside_if_hopeless(memory: Memory, item: Item, now: float) -> Wait | None:
    """Park a head that the quota alone rules out, and return its wait.

    Return None, and change nothing, if the head has to be judged. The caller makes sure that no
    budget applies.
    """
    fact, peers = item.fact, item.peers
    if peers is None or peers.stand is not READY or _more_is_known(memory, item, peers):
        return None
    rules = memory.objects.rules[peers.queue]
    if rules.strategy is _STRICT_FIFO:
        return None
    outline = outline_of(peers, rules.offer, memory.settings.quota_check)
    short = plain_lack(rules, memory.tree.queue(peers.queue), outline)
    if short is None or outline.only_way is None or outline.wanted is None:
        return None
    nominated = outline.spelled.get((1, *outline.only_way))
    if nominated is None:
        return None  # the first judgement of this shape stores it in the outline
    wait = Wait(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=peers.queue,
        requeue=_INADMISSIBLE,
        reason=_WAITING_FOR_QUOTA,
        message=describe_missing(nominated[0].name, [(one, less) for one, _, less in short]),
        mode=_NO_CANDIDATES,
        nominated=nominated,
    )
    item.wait = peers.wait = wait
    item.wants = outline.usage
    queue = memory.queues[peers.queue]
    queue.settle(peers, PARKED)
    lacks = outline.wanted  # most often all is short: then workloads of a shape share one tuple
    if len(short) < len(lacks):
        lacks = tuple((resource, asked) for resource, asked, _ in short)
    queue.lack(peers, lacks, plain=is_plain(peers, lacks, outline, rules))
    memory.step_down(fact.key)
    memory.touch(peers.queue, peers.local_queue)
    memory.stories.add(fact.key, now, wait)
    return wait


def _more_is_known(memory: Memory, item: Item, peers: Peers) -> bool:
    """Say whether a judgement would depend on more than quota: on claims or earlier attempts."""
    return bool(
        peers.demand.claims
        or item.progress is not None
        or item.tries
        or item.preempting
        or item.fact.key in memory.standing
    )
