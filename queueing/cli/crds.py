"""`queueing crds`: the custom resource definitions, for `kubectl apply --server-side`."""

import click

from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, columns, objects

EPILOG = """\b
Examples:
  queueing crds | kubectl apply --server-side -f -
  queueing crds clusterqueues workloads
  queueing crds -o table
\b
Use --server-side: the definitions are too large for the annotation of a client-side apply.
"""


@click.command(epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[PLURAL]...")
@output_option(("yaml", "json", "table"))
def command(names: tuple[str, ...], output: str) -> None:
    """Print the custom resource definitions, all of them or those named by their plural."""
    from queueing_api.crd.generate import crds  # noqa: PLC0415 - slow to import

    every = {one["spec"]["names"]["plural"]: one for one in crds()}
    unknown = sorted(set(names) - every.keys())
    if unknown:
        known = ", ".join(sorted(every))
        raise UsageProblem(f"no definition of {', '.join(unknown)}; there are {known}")
    chosen = [every[name] for name in sorted(every) if not names or name in names]
    if output == "table":
        rows = [
            (
                one["metadata"]["name"],
                one["spec"]["names"]["kind"],
                one["spec"]["scope"],
                ",".join(version["name"] for version in one["spec"]["versions"]),
            )
            for one in chosen
        ]
        click.echo(columns(("NAME", "KIND", "SCOPE", "VERSIONS"), rows))
    else:
        click.echo(objects(chosen, output))
