"""`queueing resume`."""

from queueing.cli.activity import RESUME_EPILOG, made

command = made(
    "resume",
    RESUME_EPILOG,
    "Queue a stopped workload again, or open a stopped queue.",
    active=True,
)
