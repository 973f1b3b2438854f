"""`queueing completion`: completion of commands and flags in the shell."""

import click
from click.shell_completion import get_completion_class

EPILOG = """\b
Examples:
  source <(queueing completion bash)
  queueing completion zsh > "${fpath[1]}/_queueing"
  queueing completion fish > ~/.config/fish/completions/queueing.fish
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes the commands and flags of queueing."""
    root = context.find_root()
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion is known for {shell}")
    click.echo(found(root.command, {}, "queueing", "_QUEUEING_COMPLETE").source())
