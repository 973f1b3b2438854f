from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, Wire, cluster_queue, job, true

TURNS = {"admissionFairSharing": {"usageHalfLifeTime": "1h", "usageSamplingInterval": "5m"}}


def remembered(one: Wire) -> dict[str, str]:
    share = one.get("status", {}).get("fairSharing", {})
    return dict(share.get("admissionFairSharingStatus", {}).get("consumedResources", {}))


async def test_the_status_of_a_local_queue_remembers_what_it_used(world: MakeWorld) -> None:
    shared = cluster_queue("4")
    shared["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    doors = [
        {**LOCAL_QUEUE, "metadata": {"name": name, "namespace": "team"}} for name in ("lq", "saver")
    ]
    async with world(**TURNS) as w:
        await w.make(FLAVOR, shared, *doors, job("first", cpu="4", seconds=1))
        await w.until("Job", "first", true("Complete"))
        found = await w.until("LocalQueue", "lq", lambda one: "cpu" in remembered(one))
        # The penalty of five minutes at a half-life of an hour is 5.6 % of four cores.
        assert 220 <= int(remembered(found)["cpu"].removesuffix("m")) < 260
        assert remembered(await w.get("LocalQueue", "saver")) == {}
