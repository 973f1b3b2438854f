"""A trace tells how long the claims of pods took, in the terminal and to a collector."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.devices.hardware import H100, Rack
from e2e.devices.shapes import claims_of, furnish, training
from e2e.identities import ADMIN
from e2e.jobs import wait_workload
from e2e.monitoring.collector import NANO, collecting
from e2e.product import Controller
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World

PROGRAM = str(Path(sys.executable).with_name("queueing"))


def traced(cluster: Cluster, space: World, name: str) -> Object:
    words = ["trace", f"job/{name}", "-n", space.namespace, "-o", "json"]
    flags = ["--kubeconfig", str(cluster.kubeconfig(ADMIN))]
    done = subprocess.run(
        [PROGRAM, *words, *flags], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: Object = json.loads(done.stdout)
    return found


def test_a_trace_tells_how_long_the_claims_of_pods_took(
    space: World,
    cluster: Cluster,
    controllers: Callable[..., Controller],
    gpus_of: Rack,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        controllers("traced", {})
        furnish(space, gpus_of, {"h100": (H100, 8)})
        space.make(training(space, "train", 4, pods=2))
        wait_workload(space, "train", lambda one: holds(one, "PodsReady"), "ready")
        told = traced(cluster, space, "train")
        phases = {one["name"]: one for one in told["phases"]["inside"]}
        (claims,) = phases["pods scheduled"]["inside"]
        assert claims["name"] == "claims"
        assert {one["name"] for one in claims["inside"]} == {
            one["metadata"]["name"] for one in claims_of(space, "train")
        }
        assert claims["ended"] is not None

        def spans() -> dict[str, float]:
            mine = collector.of(told["traceId"])
            return {one.name: one.end_time_unix_nano - one.start_time_unix_nano for one in mine}

        until(lambda: "claims" in spans(), "the collector has the claims")
        took_s = spans()["claims"] / NANO
        assert 0 <= took_s <= spans()["admission"] / NANO
        assert abs(took_s - claims["seconds"]) <= 1
