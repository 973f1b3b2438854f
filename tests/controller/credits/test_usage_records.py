"""Rows of usage on a live API server become coarser as they age."""

import pytest

from queueing.controller.credits import accounts
from tests.controller.credits.test_credits import POLICY, queue
from tests.controller.harness import FLAVOR, MakeWorld, Wire

KEEPING: Wire = {
    **POLICY,
    "spec": {**POLICY["spec"], "usageRecords": {"hours": "1h", "days": "240h", "months": "87600h"}},
}


def record(resolution: str, start: str, end: str, amount: int) -> Wire:
    """A record of the tree `all`, of one resource of one LocalQueue, long ago."""
    digits = {"Hour": 10, "Day": 8}[resolution]
    stamp = "".join(filter(str.isdigit, start))[:digits]
    row = {"clusterQueue": "a", "localQueue": "team/a", "flavor": "default", "resource": "cpu"}
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "UsageRecord",
        "metadata": {"name": f"all.{stamp}"},
        "spec": {
            "root": {"kind": "Cohort", "name": "all"},
            "resolution": resolution,
            "start": start,
            "end": end,
        },
        "status": {"asOf": end, "unit": "coreh", "rows": [{**row, "used": str(amount)}]},
    }


def hour(number: int, amount: int) -> Wire:
    begin, end = (f"2024-01-05T{one:02}:00:00Z" for one in (number, number + 1))
    return record("Hour", begin, end, amount)


def used(found: Wire) -> list[int]:
    return [int(row.get("used", 0)) for row in found["status"]["rows"] if row.get("localQueue")]


async def test_hours_that_aged_are_added_up_in_their_month_and_once(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of them was added up before a crash, and not deleted."""
    monkeypatch.setattr(accounts, "EVERY_S", 3.0)
    async with world() as w:
        day = record("Day", "2024-01-05T00:00:00Z", "2024-01-06T00:00:00Z", 100)
        day["status"]["folded"] = ["2024-01-05T01:00:00Z"]
        await w.make(FLAVOR, *queue("a", "2"), day, hour(1, 100), hour(2, 20), hour(3, 3), KEEPING)
        month = await w.until("UsageRecord", "all.202401", lambda one: used(one) == [123])
        assert month["status"]["folded"] == ["2024-01-05T00:00:00Z"]
        await w.until_gone("UsageRecord", "all.20240105")
        left = {one["metadata"]["name"] for one in await w.list("UsageRecord")}
        assert not left & {f"all.202401050{one}" for one in (1, 2, 3)}
