"""A real controller writes down what it sees, and its decisions are repeated exactly."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

from e2e.conftest import Launch
from e2e.jobs import wait_complete
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.world import World

PROGRAM = str(Path(sys.executable).with_name("queueing"))
SECRET = "a-word-for-nobody"
PREEMPTS = {"withinClusterQueue": "LowerPriority"}


def test_what_a_controller_decided_is_repeated_byte_for_byte_and_holds_no_environment(
    space: World, controllers: Launch, tmp_path: Path
) -> None:
    path = tmp_path / "life.jsonl.gz"
    running = controllers("recorded", flags=["--record", str(path)])
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "4"}}, preemption=PREEMPTS),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
    )
    for number in range(5):
        made = job(space.namespace, f"low-{number}", queue="team", pods=Pods(cpu="2", run_s=3))
        container = made["spec"]["template"]["spec"]["containers"][0]
        container["env"] = [{"name": "TOKEN", "value": SECRET}]
        space.make(made)
    labels = {PRIORITY_CLASS: space.name("high")}
    space.make(
        job(space.namespace, "high", queue="team", pods=Pods(cpu="4", run_s=1), labels=labels)
    )
    wait_complete(space, count=6)
    assert running.stop() == 0
    assert SECRET not in gzip.decompress(path.read_bytes()).decode()
    done = subprocess.run(
        [PROGRAM, "replay", str(path), "-o", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = json.loads(done.stdout)
    assert told["first"] is None, told["first"]
    assert done.returncode == 0
    assert told["admitted"] >= 6
    assert told["cycles"] > 5
