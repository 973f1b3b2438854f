"""`queueing resume`."""

from queueing.cli.activity import RESUME_EPILOG, made

command = made(
    "resume",
    RESUME_EPILOG,
    "Queue a suspended workload again.",
    active=True,
)
