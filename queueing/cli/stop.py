"""`queueing stop`."""

from queueing.cli.activity import STOP_EPILOG, made

command = made(
    "stop",
    STOP_EPILOG,
    "Stop a workload, after it has saved its work if it is asked to, or a queue.",
    active=False,
)
