"""A group of commands that are imported only when they run: completion and `--help` stay quick."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

LIKE = 0.65
"""How like a word must be to a command to be told as the one that may be meant (1: equal)."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command lives, and the line that the list of commands shows for it."""

    module: str
    summary: str
    hidden: bool = False
    """Whether the list of commands leaves it out."""


class LazyGroup(click.Group):
    """Looks commands up in a table of module names; each module has its command as `command`."""

    def __init__(self, *args: Any, entries: Mapping[str, CommandEntry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, entry in self.entries.items() if not entry.hidden]

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = import_module(entry.module).command
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look a command up; for one that does not exist, name those that may be meant."""
        close = get_close_matches(args[0], self.list_commands(ctx), n=2, cutoff=LIKE)
        if args[0] not in self.entries and close:
            meant = " or ".join(close)
            raise click.UsageError(f"No such command '{args[0]}'. Did you mean {meant}?", ctx)
        return super().resolve_command(ctx, args)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none of them."""
        with formatter.section("Commands"):
            listed = [(name, self.entries[name].summary) for name in self.list_commands(ctx)]
            formatter.write_dl(listed)

    @override
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete from the table as well: the shell asks at every press of TAB."""
        matching = (name for name in self.list_commands(ctx) if name.startswith(incomplete))
        items = [CompletionItem(name, help=self.entries[name].summary) for name in matching]
        return items + click.Command.shell_complete(self, ctx, incomplete)
