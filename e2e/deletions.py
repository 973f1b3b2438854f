"""An API server that is slow to begin with what was deleted: definitions wait for their turn.

It removes the objects of at most five definitions at a time, and waits up to a minute for each. So
whoever deletes a definition may be told yes long before the first of its objects is touched.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from e2e.api import Api, holds, summary
from e2e.cluster import Cluster
from e2e.installed import DEFAULT
from e2e.wire import ApiError, Object

AT_A_TIME = 5
GROUP = "slow.queueing.test"
HELD = "queueing.test/held"
ITSELF_S = 10.0
"""How long kubectl may take to say that it waited in vain."""
HOLDERS = ("CustomResourceDefinition", "ClusterQueue", "ResourceFlavor", "Workload")


@contextmanager
def occupied(api: Api) -> Iterator[Callable[[], None]]:
    """Keep the server at it with definitions of nobody's, until what is given is called."""
    numbers = range(AT_A_TIME)
    names = [f"slow{number}s.{GROUP}" for number in numbers]
    for number in numbers:
        api.create(_definition(number))
    for number, name in zip(numbers, names, strict=True):
        api.wait_one("CustomResourceDefinition", name, lambda one: holds(one, "Established"))
        api.create(
            {
                "apiVersion": f"{GROUP}/v1",
                "kind": f"Slow{number}",
                "metadata": {"name": "held", "finalizers": [HELD]},
            }
        )
    for name in names:
        api.delete("CustomResourceDefinition", name)
    for name in names:
        api.wait_one("CustomResourceDefinition", name, lambda one: holds(one, "Terminating"))

    def release() -> None:
        for number in numbers:
            kind = f"{GROUP}/v1/Slow{number}"
            if api.find(kind, "held") is not None:
                api.patch(kind, "held", {"metadata": {"finalizers": None}})

    yield release


def remove_while_busy(cluster: Cluster, timeout_s: float) -> None:
    """Remove the installation by one command; no object is touched while we have any permission."""
    api = cluster.api()
    with occupied(api) as let_begin:

        def begin_late() -> None:
            api.wait_gone("rbac.authorization.k8s.io/v1/ClusterRole", "kueue-manager-role")
            let_begin()

        remove(cluster, timeout_s, begin_late)


def remove(
    cluster: Cluster, timeout_s: float, meanwhile: Callable[[], None] = lambda: None
) -> None:
    """Remove the installation by one command; if that does not end, tell what is left of it."""
    wait = f"--timeout={timeout_s:.0f}s"
    delete = cluster.kubectl_command("delete", "-k", str(DEFAULT), wait)
    removing = cluster.run("remove", delete)
    meanwhile()
    try:
        code = removing.wait_for_exit(timeout_s + ITSELF_S)
    except TimeoutError:
        code = removing.kill() or -1
    assert code == 0, removing.tail() + _left(cluster.api()) + cluster.log_tails()


def _left(api: Api) -> str:
    """Say what is still there, and who holds it."""
    left: list[Object] = []
    for kind in HOLDERS:
        with suppress(ApiError):
            left += api.items(kind)
    return summary(left)


def _definition(number: int) -> Object:
    plural, kind = f"slow{number}s", f"Slow{number}"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"plural": plural, "singular": plural[:-1], "kind": kind},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
