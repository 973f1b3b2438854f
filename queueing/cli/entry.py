"""The entry point of the installed programs: the least that runs before Ctrl-C is no surprise."""

from queueing.cli import interrupts


def main() -> None:
    """Load the command line, and run it."""
    interrupts.end_at_once()
    from queueing.cli.main import main as run  # noqa: PLC0415 - what takes long to load

    run()


if __name__ == "__main__":
    main()
