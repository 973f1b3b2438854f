"""Heads that are parked without a judgement, because the quota alone rules them out.

Where queues fill up, nearly every first judgement ends the same way: the only flavor has too little
left, and nobody may be preempted. The reason that such a head would be given, and the amounts that
would help it, follow from a few numbers. This module works them out from these numbers and spares
the search for flavors and the ruling.
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
"""Said of each who is set aside; see `stands` for why their classes are not asked."""


def set_aside_if_hopeless(memory: Memory, item: Item, now: float) -> Wait | None:
    """Park a head that cannot be helped, by the quota alone, and return its reason.

    Returns None, and changes nothing, where the head has to be judged. Budgets are not looked at:
    the caller knows that none applies.
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
        return None  # the search spells it, once for all of its shape
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
    lacks = outline.wanted  # most often all of it is short: one tuple for all of this shape
    if len(short) < len(lacks):
        lacks = tuple((resource, asked) for resource, asked, _ in short)
    queue.lack(peers, lacks, plain=is_plain(peers, lacks, outline, rules))
    memory.step_down(fact.key)
    memory.touch(peers.queue, peers.local_queue)
    memory.stories.add(fact.key, now, wait)
    return wait


def _more_is_known(memory: Memory, item: Item, peers: Peers) -> bool:
    """Say whether a judgement would depend on more than the quota: on claims or earlier tries."""
    return bool(
        peers.demand.claims
        or item.progress is not None
        or item.tries
        or item.preempting
        or item.fact.key in memory.standing
    )
