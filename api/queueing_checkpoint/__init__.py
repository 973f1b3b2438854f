"""Save work when the queue asks for it, before it is stopped, and go on from there afterwards.

    from queueing_checkpoint import Saved, checkpointing, last_checkpoint

    def save() -> Saved:
        write_checkpoint("s3://bucket/run-7", step)
        return Saved(uri="s3://bucket/run-7", step=step)

    start = last_checkpoint()               # None in the first run
    with checkpointing(save) as hook:
        for step in range(start.step if start else 0, 10_000):
            train(step)
            if hook.should_save():          # asked by the queue, or told to end
                hook.save()

`for step in hook.steps(range(...))` does the last two lines by itself.

Needs nothing but the standard library. Where nobody can ask (no cluster, no permission), SIGTERM
still does: the work is saved, what was saved goes into the termination message, and the process
ends with code 85.
"""

from queueing_checkpoint.channels import Channel, FileChannel
from queueing_checkpoint.hook import EXIT_CODE, Hook, checkpointing
from queueing_checkpoint.listener import ListenerChannel
from queueing_checkpoint.messages import Notice, Saved
from queueing_checkpoint.pod import PodChannel
from queueing_checkpoint.surroundings import channel_of, last_checkpoint

__all__ = [
    "EXIT_CODE",
    "Channel",
    "FileChannel",
    "Hook",
    "ListenerChannel",
    "Notice",
    "PodChannel",
    "Saved",
    "channel_of",
    "checkpointing",
    "last_checkpoint",
]
