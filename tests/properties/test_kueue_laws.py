"""A law that holds with the differences from Kueue off.

Its rules promise less: a head whose preemptions are in flight blocks its queue, and whom its wake
list forgets waits on. So there is no completeness; and who waits where, and how far he came, is
part of what an engine knows, and is carried over to the new one that has to decide the same. What
else holds in that mode has its laws beside those of the other modes.
"""

from queueing.state.intake.joining import isolate
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Stand
from queueing.state.scheduler.wake import wake_waiting
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold, seeded
from tests.properties.test_rebuild_laws import done_in, is_known

KUEUE = "as Kueue"
BROKEN_ONCE = (70080, 71075, 1459572504, 1610730478)


def who_waits_is_all_that_a_new_engine_must_know(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        old = cluster.engine._memory
        wake_waiting(old)
        engine = cluster.successor()
        wake_waiting(engine._memory)
        carry_over(old, engine._memory)
        want = done_in(engine.cycle(cluster.now))
        cycle = cluster.engine.cycle(cluster.now)
        if is_known(cluster):
            assert done_in(cycle) == want
        cluster.write(cycle)
        while done_in(cluster.cycle()):
            cluster.answer()


def carry_over(old: Memory, new: Memory) -> None:
    """Let everybody who waits in one memory wait in the same way in another."""
    for name, queue in old.queues.items():
        new.queue(name).releases, new.queue(name).judged = queue.releases, queue.judged
    for key, known in old.items.items():
        item = new.items[key]
        peers = known.peers
        if peers.token == ("alone", known.fact.uid):
            isolate(new, item, sticky=item.order != known.order)
        item.progress, item.progress_at = known.progress, known.progress_at
        item.progress_in = known.progress_in
        item.preempting, item.tries, item.wait = known.preempting, known.tries, known.wait
        if peers.stand is not Stand.READY:
            item.peers.wait = peers.wait
            new.queues[item.peers.queue].set_aside(item.peers, peers.stand)


@AT_BOTH_LENGTHS
def test_who_waits_is_all_that_a_new_engine_must_know(hold: Hold) -> None:
    hold(who_waits_is_all_that_a_new_engine_must_know, KUEUE)


def test_lives_that_broke_a_law_once() -> None:
    for seed in BROKEN_ONCE:
        who_waits_is_all_that_a_new_engine_must_know(seeded(seed, KUEUE))
