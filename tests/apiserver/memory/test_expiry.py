from queueing.apiserver.memory.collection import EVENT_LIFE_S, expire_events
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import StoreWrites
from queueing.apiserver.tree import Object, name_of
from queueing.testing.hand_clock import HandClock


def event(name: str) -> Object:
    meta = {"name": name, "namespace": "default"}
    about = {"kind": "Job", "name": "j", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": about}


def test_an_event_goes_an_hour_after_it_was_written_last() -> None:
    clock = HandClock()
    writes = StoreWrites(Store(history=10), clock.now)
    writes.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    for name in ("once", "again"):
        writes.create(event(name))
    clock.time += EVENT_LIFE_S / 2
    writes.update({**event("again"), "count": 2})
    clock.time += EVENT_LIFE_S / 2 + 1
    expire_events(writes)
    events = writes.store.catalog.builtin("", "events")
    assert [name_of(one) for one in writes.store.items(events)] == ["again"]
