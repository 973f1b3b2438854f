"""`queueing suspend`."""

from queueing.cli.activity import SUSPEND_EPILOG, made

command = made(
    "suspend",
    SUSPEND_EPILOG,
    "Stop a workload, after it has saved its work if a CheckpointPolicy asks it to.",
    active=False,
)
