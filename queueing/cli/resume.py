"""`queueing resume`."""

from queueing.cli.activity import RESUME_EPILOG, made

command = made(
    "resume",
    RESUME_EPILOG,
    "Let a workload that was suspended queue again.",
    active=True,
)
