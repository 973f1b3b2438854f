"""`queueing estimate`: makes estimates of a snapshot on standard input. Not for people."""

import contextlib
import os
import resource
import sys

import click

EPILOG = """\b
Example:
  queueing run        starts this by itself, for `queueing explain --eta`
"""
BUDGET_S = 4.0
"""How long is looked ahead."""
NICENESS = 10
MEMORY_BYTES = 384 * 1024 * 1024
"""What it may take of the memory that it shares with the controller: 20,000 plain workloads take 70
MiB."""
TOO_LARGE = "too much is around it for the memory that an estimate may take"


@click.command(epilog=EPILOG)
@click.argument("keys", metavar="NAMESPACE/NAME...", nargs=-1, required=True)
def command(keys: tuple[str, ...]) -> None:
    """Say when waiting workloads of a snapshot will be admitted, as JSON."""
    _restrain()
    try:
        _make(keys)
    except MemoryError as error:
        raise click.ClickException(TOO_LARGE) from error


def _restrain() -> None:
    """Have what others do on this machine come first."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError, ValueError):
        # Not the address space: libraries reserve more of it than they use.
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def _make(keys: tuple[str, ...]) -> None:
    import msgspec  # noqa: PLC0415 - slow to import

    from queueing.clock import SystemClock  # noqa: PLC0415 - with it
    from queueing.core.names import Key  # noqa: PLC0415 - with it
    from queueing.recording.lines import RecordingError  # noqa: PLC0415 - with it
    from queueing.recording.snapshot import read_snapshot  # noqa: PLC0415 - with it
    from queueing.sim.forecast.estimate import estimates  # noqa: PLC0415 - with it
    from queueing.sim.forecast.outlook import World  # noqa: PLC0415 - with it

    clock = SystemClock()
    ends = clock.monotonic() + BUDGET_S
    try:
        settings, now, facts = read_snapshot(iter(sys.stdin.buffer), "snapshot")
    except RecordingError as error:
        raise click.ClickException(str(error)) from error
    world = World.of(facts, settings, now)
    found = estimates(world, tuple(map(Key, keys)), enough=lambda: clock.monotonic() > ends)
    click.echo(msgspec.json.encode(found))
