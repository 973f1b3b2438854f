"""`queueing kind COMMAND`."""

from collections.abc import Mapping
from types import MappingProxyType

from queueing.cli.lazy import CommandEntry, LazyGroup

COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "check": CommandEntry(
            "queueing.cli.kind.check", "Show what a description of a kind reads of an example."
        ),
        "list": CommandEntry("queueing.cli.kind.listing", "List the kinds that are built in."),
    }
)

EPILOG = """\b
Examples:
  queueing kind list
  queueing kind check -f description.yaml -f example.yaml
"""

command = LazyGroup(
    "kind",
    entries=COMMANDS,
    help="Show which kinds of jobs are known, and try the description of another one.",
    epilog=EPILOG,
    no_args_is_help=True,
)
