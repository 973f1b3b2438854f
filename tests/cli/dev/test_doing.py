"""`stop`, `resume`, `requeue` and `delete` on a running cluster."""

import json
from pathlib import Path

from tests.cli.dev.conftest import Dev, job


async def test_a_job_is_stopped_resumed_and_requeued_by_its_own_name(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    name = (await dev.workloads())["runs"]["metadata"]["name"]
    assert await dev.told("stop job/runs") == f"workload team/{name} stopped\n"
    await dev.until_state(runs="Pending")
    assert "it is deactivated" in await dev.told("explain job/runs")
    assert await dev.told("resume job/runs") == f"workload team/{name} resumed\n"
    await dev.until_state(runs="Admitted")
    before = (await dev.workloads())["runs"]["status"]["conditions"]
    assert await dev.told("requeue job/runs") == f"workload team/{name} requeued\n"
    await dev.until_state(runs="Admitted")
    assert (await dev.workloads())["runs"]["status"]["conditions"] != before


async def test_a_queue_is_stopped_and_opened(dev: Dev) -> None:
    assert await dev.told("stop clusterqueue/vision") == "clusterqueue vision stopped\n"
    await dev.submit(job("waits", 3))
    await dev.until_state(waits="Pending")
    assert "ClusterQueue vision is stopped" in await dev.told("explain job/waits")
    assert await dev.told("resume cq vision") == "clusterqueue vision resumed\n"
    await dev.until_state(waits="Admitted")
    assert await dev.told("stop lq/main --keep-already-running") == "localqueue team/main stopped\n"
    assert (await dev.rows("get queues main"))[0]["spec"]["stopPolicy"] == "Hold"
    missed = await dev.type("stop localqueue nowhere")
    assert (missed.exit_code, missed.stderr) == (
        2,
        "Error: there is no localqueue team/nowhere; name its namespace with -n\n",
    )


async def test_a_workload_is_deleted_with_its_job_and_only_if_one_says_so(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    refused = await dev.type("delete job/runs")
    assert refused.exit_code == 2
    assert "this deletes Job team/runs: say so with --yes" in refused.stderr
    assert await dev.told("delete job/runs --yes") == "Job team/runs deleted\n"

    async def gone() -> bool:
        return not await dev.workloads()

    await dev.until(gone, "the Workload goes with its Job")
    assert await dev.told("delete localqueue/main") == "LocalQueue team/main deleted\n"


async def test_a_command_is_submitted_and_followed_until_it_ends(dev: Dev) -> None:
    await dev.submit(job("runs", 3, seconds=2))
    await dev.until_state(runs="Admitted")
    told = (
        await dev.told("submit -q main --image busybox -r cpu=2 --name next --follow -- sleep 1")
    ).splitlines()
    assert told[0] == "job/next submitted"
    said = [line.partition("job/next ")[2] for line in told[1:]]
    assert any(one.startswith("waits: WaitingForQuota: ") for one in said)
    assert "is admitted by vision" in said
    assert said[-1].startswith("is finished")


async def test_a_manifest_is_submitted_as_asked(dev: Dev, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    written = job("from-a-file", 1)
    del written["metadata"]["labels"], written["spec"]["suspend"], written["metadata"]["namespace"]
    path.write_text(json.dumps(written))
    assert "names no queue: give one with --queue" in (await dev.type(f"submit -f {path}")).stderr
    asked = f"submit -f {path} -q main --gang pair --gang-size 2 --max-seconds 60"
    printed = json.loads(await dev.told(f"{asked} --dry-run client -o json"))["items"][0]
    assert printed["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "main",
        "queueing.dev/gang": "pair",
        "kueue.x-k8s.io/max-exec-time-seconds": "60",
    }
    assert printed["metadata"]["annotations"]["queueing.dev/gang-size"] == "2"
    assert printed["spec"]["suspend"] is True
    assert await dev.told(f"submit -f {path} -q main") == "job/from-a-file submitted\n"
    await dev.until_state(**{"from-a-file": "Admitted"})


async def test_queues_are_created_from_flags(dev: Dev) -> None:
    assert await dev.told("create resourceflavor spot --node-labels tier=spot") == (
        "resourceflavor/spot created\n"
    )
    flags = "--cohort lab --nominal-quota spot:cpu=8;memory=16Gi --borrowing-limit spot:cpu=4"
    assert await dev.told(f"create clusterqueue speech {flags} --reclaim-within-cohort Any") == (
        "clusterqueue/speech created\n"
    )
    assert await dev.told("create localqueue speech -c speech") == "localqueue/speech created\n"
    (queue,) = await dev.rows("get clusterqueues speech")
    assert queue["spec"]["cohortName"] == "lab"
    assert queue["spec"]["preemption"]["reclaimWithinCohort"] == "Any"
    assert queue["spec"]["resourceGroups"] == [
        {
            "coveredResources": ["cpu", "memory"],
            "flavors": [
                {
                    "name": "spot",
                    "resources": [
                        {"name": "cpu", "nominalQuota": "8", "borrowingLimit": "4"},
                        {"name": "memory", "nominalQuota": "16Gi"},
                    ],
                }
            ],
        }
    ]
    made = "create cohort lab --parent university --nominal-quota spot:cpu=2"
    assert await dev.told(made) == "cohort/lab created\n"
    (cohort,) = [one for one in await dev.rows("get cohorts") if one["metadata"]["name"] == "lab"]
    assert cohort["spec"]["parentName"] == "university"
    again = await dev.type("create localqueue speech -c speech")
    assert (again.exit_code, again.stderr) == (1, "Error: LocalQueue speech is there already\n")
    wrong = await dev.type("create clusterqueue x --nominal-quota cpu=8")
    assert (wrong.exit_code, "must be like spot:cpu=8" in wrong.stderr) == (2, True)
