"""Commands that save in containers, through the real API server under the controller's account."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.checkpoints.kubelet import Kubelet, kubelet
from e2e.checkpoints.training import lead, make, preempt, wait_phase
from e2e.components import HOST
from e2e.jobs import running, wait_job
from e2e.nodes import delete_nodes, make_nodes
from e2e.product import Controller, manifests
from e2e.world import World

COMMAND = {"command": ["save", "--name=$(QUEUEING_CHECKPOINT_REQUEST)"], "container": "main"}
SAID = "saving\ns3://bucket/step-40\n"
Launch = Callable[..., Controller]


@contextmanager
def nodes_of(space: World, found: Kubelet) -> Iterator[dict[str, str]]:
    """Make a node whose kubelet this is; give the labels by which it is chosen."""
    labels = {"queueing.test/kubelet": space.prefix}
    names = make_nodes(space.api, 1, group=space.name("node"), labels=labels)
    where = {
        "addresses": [{"type": "InternalIP", "address": HOST}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": found.port}},
    }
    for name in names:
        space.api.patch("Node", name, {"status": where}, subresource="status")
    try:
        yield labels
    finally:
        delete_nodes(space.api, names)


def run(space: World, found: Kubelet) -> str:
    """Have a Job preempted whose policy runs a command; return how the asking ended."""
    with nodes_of(space, found) as labels:
        make(
            space,
            pool=labels,
            driver="Exec",
            exec=COMMAND,
            answerFrom="Leader",
            leader={"matchLabels": {"rank": "0"}},
        )
        lead(space)
        preempt(space)
        wait_job(space, "urgent", running, "running")
        status = wait_phase(space, "Requeued")["status"]
    return f"{status['outcome']}: {status['message']} {status.get('checkpoint', {})}"


def test_a_command_is_run_in_the_leaders_container_where_that_is_allowed(
    space: World, controllers: Launch, tmp_path: Path
) -> None:
    role, binding = manifests("exec")
    with kubelet(tmp_path, SAID) as found:
        for item in (role, binding):
            space.api.apply(item)
        try:
            controllers("exec", ours={"checkpointDrivers": ["Exec"]})
            said = run(space, found)
        finally:
            for item in (binding, role):
                space.api.delete(item["kind"], item["metadata"]["name"])
    assert said.startswith("Saved: "), said
    assert "s3://bucket/step-40" in said
    ((path, words),) = found.asked
    assert path.startswith(f"/exec/{space.namespace}/train-")
    assert path.endswith("/main")
    assert words[0] == "save"
    assert words[1].startswith("--name=")
    assert "$" not in words[1]
