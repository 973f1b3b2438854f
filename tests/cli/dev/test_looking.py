"""`explain`, `get` and completion on a running cluster."""

import asyncio

import click
import pytest

from queueing.cli.get import command
from queueing.cli.get.watching import changes
from queueing.cli.main import cli
from queueing.cli.names import complete_subject
from queueing.kube.resources import JOBS, LOCAL_QUEUES, WORKLOADS
from tests.cli.dev.conftest import Dev, job
from tests.cli.dev.terminal import on_a_terminal


async def test_who_waits_is_explained_and_listed(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    await dev.submit(job("waits", 2))
    await dev.until_state(waits="Pending")

    told = await dev.told("explain job/waits")
    assert "It waits: 1 cpu more must be free in flavor default" in told
    assert "you: request at most 1 cpu for each pod" in told
    assert "/job-runs-" in told
    assert "It is admitted by ClusterQueue vision." in await dev.told("explain jobs/runs")
    assert "1 workload waits, 1 admitted." in await dev.told("explain clusterqueue vision")
    assert "LocalQueue team/main" in await dev.told("explain lq/main")

    lines = (await dev.told("get workloads")).splitlines()
    assert lines[0].split() == [
        *("NAME", "OWNER", "QUEUE", "RESERVED", "IN", "PRIORITY", "STATE", "AGE", "REASON"),
    ]
    assert [line.split()[1:3] for line in lines[1:]] == [
        ["job/runs", "main"],
        ["job/waits", "main"],
    ]
    assert "\x1b" not in "".join(lines)
    names = [
        await dev.rows(f"get workloads {words}")
        for words in (
            "--state Pending",
            "--reason WaitingForQuota",
            "--owner job/waits",
            "-q main --state Pending -A",
        )
    ]
    assert [
        [one["metadata"]["ownerReferences"][0]["name"] for one in found] for found in names
    ] == [["waits"]] * 4
    assert (await dev.told("get wl --state Pending -o name")).startswith("workload/job-waits-")
    assert "insufficient unused quota" in await dev.told("get workloads --state Pending -o wide")


async def test_queues_cohorts_and_flavors_are_listed(dev: Dev) -> None:
    await dev.submit(job("runs", 3))

    async def counted() -> bool:
        return "1" in (await dev.told("get queues main")).splitlines()[1].split()

    await dev.until(counted, "the status of the queue tells of the Job")
    assert (await dev.told("get queues")).splitlines()[1].split()[:2] == ["main", "vision"]
    assert "cpu of default: 3/4" in await dev.told("get clusterqueues")
    assert (await dev.told("get flavors")).splitlines()[1].split()[-1] == "vision"
    assert (await dev.type("get cohorts")).stderr == "Nothing found.\n"
    missed = await dev.type("get queues nowhere")
    assert (missed.exit_code, missed.stderr) == (
        2,
        "Error: there is no LocalQueue nowhere in namespace team\n",
    )


async def test_very_many_rows_are_shown_with_the_way_to_fewer(
    dev: Dev, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MANY", 0)
    shown = await dev.type("get clusterqueues")
    assert "vision" in shown.stdout
    assert shown.stderr.startswith("1 rows take a while")
    assert (await dev.type("get clusterqueues -o name")).stderr == ""


async def test_what_changes_is_told_as_it_does(dev: Dev) -> None:
    seen = asyncio.Event()

    async def watch() -> None:
        async for one in changes(dev.client, WORKLOADS.within("team")):
            if one["metadata"]["ownerReferences"][0]["name"] == "late":
                seen.set()

    watching = asyncio.create_task(watch())
    await dev.submit(job("early", 1))
    await dev.until_state(early="Admitted")
    await dev.submit(job("late", 1))
    async with asyncio.timeout(30):
        await seen.wait()
    watching.cancel()


async def test_the_shell_completes_names_from_the_cluster(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")

    def completed(start: str) -> list[str]:
        command = cli.get_command(click.Context(cli), "explain")
        assert command is not None
        context = click.Context(command)
        context.params = {"kubeconfig": str(dev.kubeconfig), "context": None, "namespace": None}
        return complete_subject(context, command.params[0], start)

    assert await asyncio.to_thread(completed, "job/r") == ["job/runs"]
    assert await asyncio.to_thread(completed, "clusterqueue/") == ["clusterqueue/vision"]
    assert await asyncio.to_thread(completed, "cl") == ["clusterqueue/"]
    assert await asyncio.to_thread(completed, "gadget/") == []


async def test_what_is_not_there_is_told_with_the_way_out(dev: Dev) -> None:
    missed = await dev.type("explain job/nobody")
    assert missed.exit_code == 2
    assert "there is no job nobody in namespace team that has a Workload" in missed.stderr
    assert "kueue.x-k8s.io/queue-name" in missed.stderr
    missed = await dev.type("explain clusterqueue/nowhere")
    assert missed.exit_code == 2
    assert "there is no clusterqueue nowhere" in missed.stderr


async def test_top_shows_how_full_queues_are_and_who_waits(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    await dev.submit(job("waits", 2))
    await dev.until_state(waits="Pending")

    async def counted() -> bool:
        return " 3 " in (await dev.told("top --once")).splitlines()[3]

    await dev.until(counted, "the status of the queue tells of the Job")
    for words in ("top", "top clusterqueue/vision", "top localqueue/main"):
        lines = (await dev.told(words)).splitlines()
        assert lines[0].startswith("Pending 1  Reserved 0  Admitted 1")
        assert lines[3].split() == ["vision", "default", "cpu", "3", "4", "█" * 15]
        assert "job/waits" in lines[-1]
        assert "WaitingForQuota" in lines[-1]
    missed = await dev.type("top localqueue/nowhere")
    assert missed.exit_code == 2
    assert "there is no localqueue nowhere in namespace team" in missed.stderr


async def test_top_on_a_terminal_shows_what_comes_and_goes(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    async with on_a_terminal(dev, "top", "--interval", "0.2") as screen:
        await screen.until("Pending 0  Reserved 0  Admitted 1")
        await dev.submit(job("waits", 2))
        await screen.until("job/waits")
        await screen.until("Pending 1  Reserved 0  Admitted 1")
        await dev.client.delete(JOBS.at("waits", "team"), {"propagationPolicy": "Background"})
        await screen.until("Pending 0  Reserved 0  Admitted 1")


async def test_top_ends_with_a_word_when_its_queue_goes(dev: Dev) -> None:
    async with on_a_terminal(dev, "top", "localqueue/main", "--interval", "0.2") as screen:
        await screen.until("vision")
        await dev.client.delete(LOCAL_QUEUES.at("main", "team"), {})
        await screen.until("there is no localqueue main in namespace team")
        assert await screen.ended() == 2
