"""`queueing estimate`: makes an estimate of a snapshot on standard input. Not for people."""

import contextlib
import os
import sys

import click

EPILOG = """\b
Example:
  queueing run        starts this by itself, for `queueing explain --eta`
"""
BUDGET_S = 4.0
"""How long is looked ahead."""
NICENESS = 10


@click.command(epilog=EPILOG)
@click.argument("key", metavar="NAMESPACE/NAME")
def command(key: str) -> None:
    """Say when a waiting workload of a snapshot will be admitted, as JSON."""
    import msgspec  # noqa: PLC0415 - slow to import

    from queueing.clock import SystemClock  # noqa: PLC0415 - with it
    from queueing.core.names import Key  # noqa: PLC0415 - with it
    from queueing.recording.lines import RecordingError  # noqa: PLC0415 - with it
    from queueing.recording.snapshot import read_snapshot  # noqa: PLC0415 - with it
    from queueing.sim.forecast.estimate import estimate  # noqa: PLC0415 - with it
    from queueing.sim.forecast.outlook import World  # noqa: PLC0415 - with it

    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    clock = SystemClock()
    ends = clock.monotonic() + BUDGET_S
    try:
        settings, now, facts = read_snapshot(iter(sys.stdin.buffer), "snapshot")
    except RecordingError as error:
        raise click.ClickException(str(error)) from error
    world = World.of(facts, settings, now)
    found = estimate(world, Key(key), enough=lambda: clock.monotonic() > ends)
    click.echo(msgspec.json.encode(found))
