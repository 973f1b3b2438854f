"""`queueing replay`: repeats the decisions of a recording, and says whether they are the same."""

import sys
from typing import Any

import click

from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, structured
from queueing.translate.times import timestamp

EPILOG = """\b
Examples:
  queueing run --record /data/life.jsonl.gz     a controller writes its recording
  queueing replay life.jsonl.gz                 are its decisions repeated exactly?
  queueing replay life.jsonl.gz --decisions     and which were they?
\b
Exit codes: 0 when all is repeated exactly, 1 when an answer differs, 2 when the file cannot be
used.
"""


@click.command(epilog=EPILOG)
@click.argument("recording", metavar="FILE")
@click.option("--decisions", is_flag=True, help="Print each decision, by time.")
@click.option(
    "--any-version", is_flag=True, help="Repeat also what another version of queueing recorded."
)
@output_option(("text", "json", "yaml"))
def command(*, recording: str, decisions: bool, any_version: bool, output: str) -> None:
    """Tell the engine what a controller's engine was told, and compare the answers, byte for byte.

    A recording holds facts, outcomes, times and decisions: names, amounts and states, and neither
    secrets nor environments. Nothing is changed anywhere.
    """
    from queueing.recording.lines import RecordingError, opened, read  # noqa: PLC0415 - slow
    from queueing.recording.replay import Count, replay  # noqa: PLC0415 - with it

    count = Count()
    different: dict[str, Any] | None = None
    differences = 0
    try:
        with opened(recording) as source:
            lines = read(source, recording, any_version=any_version)
            for one in replay(lines, recording, count):
                if decisions and one.cycle is not None:
                    _print(one.cycle)
                if not one.same:
                    differences += 1
                    different = different or {
                        "line": one.number,
                        "recorded": one.recorded.strip(),
                        "repeated": one.repeated.strip(),
                    }
    except RecordingError as error:
        raise UsageProblem(str(error)) from error
    told = {
        "same": different is None,
        "terms": count.terms,
        "facts": count.facts,
        "cycles": count.cycles,
        "admitted": count.admitted,
        "preempted": count.preempted,
        "differences": differences,
        "first": different,
    }
    click.echo(_text(told, recording) if output == "text" else structured(told, output))
    sys.exit(0 if different is None else 1)


def _print(cycle: Any) -> None:
    from queueing.core.decisions import (  # noqa: PLC0415 - with the engine
        Admit,
        Decision,
        Place,
        Preempt,
        Strand,
    )

    decisions: tuple[Decision, ...] = cycle.decisions
    for one in decisions:
        match one:
            case Admit():
                told = f"Admit {one.workload} into {one.cluster_queue}"
            case Preempt(already_evicted=False):
                told = f"Preempt {one.workload} for {one.preemptor}: {one.reason}"
            case Preempt():
                continue
            case Place():
                left = f", off {', '.join(one.left)}" if one.left else ""
                told = f"Place {one.workload} in {one.cluster_queue}{left}"
            case Strand():
                told = f"{'Evict' if one.evicts else 'Wait'} {one.workload}: {one.message}"
            case _:
                told = f"Wait {one.workload}: {one.reason}: {one.message}"
        click.echo(f"{timestamp(cycle.now)} {told}")


def _text(told: dict[str, Any], recording: str) -> str:
    if told["terms"] and not told["cycles"]:
        return f"{told['facts']} facts, and no decision: there is nothing to compare."
    seen = (
        f"{told['cycles']} cycles of {told['terms']} terms, on {told['facts']} facts: "
        f"{told['admitted']} admitted, {told['preempted']} preempted"
    )
    if told["first"] is None:
        return f"{seen}. All is repeated exactly."
    first = told["first"]
    return (
        f"{seen}. {told['differences']} answers differ; the first:\n"
        f"{recording}:{first['line']}\n- {first['recorded']}\n+ {first['repeated']}"
    )
