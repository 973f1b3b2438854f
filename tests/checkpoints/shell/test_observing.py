from queueing.checkpoints.shell.observing import PREEMPTORS_MAX, workload_of
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload


def put(objects: Objects, name: str) -> None:
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    objects.put_workload(read(Workload, {"metadata": metadata}))


def test_a_preemptor_that_is_gone_is_not_found() -> None:
    objects = Objects()
    put(objects, "a")
    assert workload_of("uid-a", objects) is objects.workloads[Key("team/a")]
    objects.drop_workload(Key("team/a"))
    assert workload_of("uid-a", objects) is None


def test_no_more_preemptors_are_remembered_than_the_bound_and_the_oldest_is_found_again() -> None:
    objects = Objects()
    for number in range(PREEMPTORS_MAX + 1):
        put(objects, str(number))
        workload_of(f"uid-{number}", objects)
        if number:
            objects.drop_workload(Key(f"team/{number}"))
    assert len(objects.checkpoints.preemptors) == PREEMPTORS_MAX
    assert "uid-0" not in objects.checkpoints.preemptors
    assert workload_of("uid-0", objects) is objects.workloads[Key("team/0")]
