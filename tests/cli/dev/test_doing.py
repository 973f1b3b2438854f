"""`stop`, `resume`, `requeue` and `delete` on a running cluster."""

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
