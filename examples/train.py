"""Train a little model on one CPU, saving whenever the queue asks for it.

The shape is that of a PyTorch loop; `Model` stands for the network and its optimizer, so that it
runs anywhere: `python examples/train.py --folder /tmp/run --steps 200`.
"""

import argparse
import json
import random
import time
from pathlib import Path

from queueing_checkpoint import Saved, checkpointing, last_checkpoint


class Model:
    """Fits y = 3x + 1 by gradient descent."""

    def __init__(self) -> None:
        self.weight, self.bias = 0.0, 0.0

    def train(self, rate: float = 0.1) -> float:
        """Do one step; return the loss."""
        x = random.uniform(-1.0, 1.0)  # noqa: S311 - data, no secret
        error = self.weight * x + self.bias - (3.0 * x + 1.0)
        self.weight -= rate * error * x
        self.bias -= rate * error
        return error * error

    def state_dict(self) -> dict[str, float]:
        """Return what must be saved."""
        return {"weight": self.weight, "bias": self.bias}

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from what was saved."""
        self.weight, self.bias = state["weight"], state["bias"]


def main() -> None:
    """Train, from the last checkpoint if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where checkpoints go")
    parser.add_argument("--steps", type=int, default=1000, help="how long to train")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    model, step = Model(), 0
    last = last_checkpoint()
    if last is not None:
        found = json.loads(Path(last.uri).read_text(encoding="utf-8"))
        model.load_state_dict(found["model"])
        step = found["step"]
        print(f"restored at step {step}")

    def save() -> Saved:
        path = options.folder / f"step-{step}.json"
        path.write_text(json.dumps({"step": step, "model": model.state_dict()}), encoding="utf-8")
        return Saved(uri=str(path.resolve()), step=step, size=path.stat().st_size)

    loss = 0.0
    with checkpointing(save) as hook:
        (options.folder / "began").touch()
        while step < options.steps:
            loss = model.train()
            time.sleep(0.01)  # a real step takes its time
            step += 1
            if hook.should_save():
                hook.save()
    print(f"done: {step} steps, loss {loss:.6f}")


if __name__ == "__main__":
    main()
