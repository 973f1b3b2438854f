"""`queueing devices`: what there is, what is held, and by whom."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from queueing.cli.main import cli

DRIVER = "gpu.example.com"
Wire = dict[str, Any]


def part(name: str, **slices: str) -> Wire:
    counters = {key: {"value": value} for key, value in slices.items()}
    return {"name": name, "consumesCounters": [{"counterSet": "gpu-0", "counters": counters}]}


def slice_of(node: str, devices: list[Wire], **more: Any) -> Wire:
    pool = {"name": node, "generation": 1, "resourceSliceCount": more.pop("count", 1)}
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices, **more}
    name = f"{node}-{len(devices)}"
    meta = {"name": name}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta} | {
        "spec": spec
    }


def claim(name: str, pool: str, *devices: str, **more: Any) -> Wire:
    results = [
        {"request": "c0", "driver": DRIVER, "pool": pool, "device": one, **more} for one in devices
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team"},
        "status": {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": f"{name}-pod", "uid": "1"}],
        },
    }


def documents() -> list[Wire]:
    sets = slice_of("n1", [], count=2)
    del sets["spec"]["devices"]
    sets["spec"]["sharedCounters"] = [{"name": "gpu-0", "counters": {"slices": {"value": "2"}}}]
    shared = {
        "name": "gpu-3",
        "allowMultipleAllocations": True,
        "capacity": {"memory": {"value": "48Gi"}},
    }
    plain = [{"name": f"gpu-{at}", "capacity": {"memory": {"value": "80Gi"}}} for at in range(3)]
    parts = [part("whole", slices="2"), part("half-0", slices="1"), part("half-1", slices="1")]
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0", "labels": {"gpu": "h100"}}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"gpu": "mig"}}},
        *(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "ResourceFlavor",
                "metadata": {"name": name},
                "spec": {"nodeLabels": {"gpu": name}},
            }
            for name in ("h100", "mig")
        ),
        slice_of("n0", [*plain, shared]),
        sets,
        slice_of("n1", parts, count=2),
        claim("train", "n0", "gpu-0", "gpu-1"),
        claim("small", "n0", "gpu-3", consumedCapacity={"memory": "16Gi"}),
        claim("notebook", "n1", "half-0"),
    ]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "fleet.yaml"
    path.write_text(yaml.safe_dump_all(documents()))
    return str(path)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["devices", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_node_is_drawn_with_a_sign_per_device(file: str) -> None:
    assert run("-f", file) == (
        "FLAVOR   NODE   FREE   DEVICES   HELD BY\n"
        "h100     n0     1/4    ##.%      team/train (2), team/small (1)\n"
        "mig      n1     1/3    x#.       team/notebook (1)\n"
        "\n. free   # held   % shared   x free, but others hold what it is made of\n"
    )


def test_claims_of_one_workload_are_counted_together(tmp_path: Path) -> None:
    labels = {"queueing.dev/workload": "job-train-6f46e"}
    gpus = [{"name": f"gpu-{at}"} for at in range(4)]
    mine = [claim(f"train-{at}", "n0", f"gpu-{at}") for at in range(3)]
    for one in mine:
        one["metadata"]["labels"] = labels
    path = tmp_path / "fleet.yaml"
    made = [slice_of("n0", gpus), *mine, claim("notebook", "n0", "gpu-3")]
    path.write_text(yaml.safe_dump_all(made))
    assert "team/job-train-6f46e (3), team/notebook (1)" in run("-f", str(path))
    assert "team/train-2 for train-2-pod" in run("-f", str(path), "--list")


def test_devices_are_listed_with_their_holders(file: str) -> None:
    lines = run("-f", file, "--flavor", "h100", "--list").splitlines()
    assert len(lines) == 5
    assert lines[1].split()[2:] == [
        "gpu-0",
        "Held",
        "memory=80Gi",
        "team/train",
        "for",
        "train-pod",
    ]
    assert "Shared   memory=48Gi   team/small memory=16Gi for small-pod" in lines[4]


def test_programs_read_the_same(file: str) -> None:
    found = json.loads(run("-f", file, "-o", "json"))["devices"]
    assert [one["state"] for one in found] == [
        "Held",
        "Held",
        "Free",
        "Shared",
        "Blocked",
        "Held",
        "Free",
    ]
    assert found[3]["holders"] == [
        {
            "claim": "team/small",
            "workload": "",
            "request": "c0",
            "pods": ["small-pod"],
            "consumed": {"memory": "16Gi"},
        }
    ]


def test_without_devices_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "nothing.yaml"
    path.write_text(yaml.safe_dump(documents()[0]))
    assert run("-f", str(path)).startswith("No devices")
