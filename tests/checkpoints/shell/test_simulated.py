from tests.checkpoints.shell.save_harness import checkpoint, objects, phase, saving, urgent
from tests.controller.harness import MakeWorld, true


async def test_a_simulated_training_returns_at_the_step_that_it_saved(world: MakeWorld) -> None:
    async with world() as at:
        train = saving(seconds=600)
        train["metadata"]["annotations"]["queueing.dev/simulate-save-seconds"] = "2"
        await at.make(*objects(), train)
        await at.until("Job", "train", lambda one: one.get("status", {}).get("ready", 0) > 0)
        quick = urgent()
        quick["metadata"]["annotations"]["queueing.dev/simulate-seconds"] = "5"
        await at.make(quick)
        found = await checkpoint(at, phase("Requeued"))
        step = found["status"]["checkpoint"]["step"]
        assert 2 <= step < 600
        assert found["status"]["checkpoint"]["uri"] == f"simulated://team/train/step-{step}"
        await at.until("Job", "urgent", true("Complete"))
        await at.finish("train")
        await at.until("Job", "train", true("Complete"))
