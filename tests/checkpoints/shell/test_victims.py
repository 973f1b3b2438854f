"""The controller tells the engine what is at stake, so that of equals the cheaper one goes."""

from tests.checkpoints.shell.save_harness import POLICY, objects, policy, saving, urgent
from tests.controller.harness import MakeWorld, true


async def test_who_has_just_begun_goes_before_one_whose_saving_takes_minutes(
    world: MakeWorld,
) -> None:
    """Without a policy the newest would go; the policy comes when both run already."""
    async with world() as at:
        *around, _ = objects()
        plain = saving("older", cpu="1")
        del plain["metadata"]["annotations"][POLICY]
        await at.make(*around, plain)
        await at.workload("older", true("Admitted"))
        await at.make(saving("newer", cpu="1"))
        for name in ("older", "newer"):
            await at.until("Job", name, lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(policy(saveDeadline="1h"))
        await at.until("CheckpointPolicy", "save", true("Active", "Ready"))
        await at.make(urgent(cpu="1"))
        await at.workload("urgent", true("Admitted"))
        assert (await at.get("Job", "older"))["spec"]["suspend"]
        assert not (await at.get("Job", "newer"))["spec"]["suspend"]
        assert await at.list("Checkpoint") == []
