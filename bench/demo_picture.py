"""Draw docs/demo.svg from a run of the demo: `python -m bench.demo_picture`.

The picture in the README is what the demo prints, shortened in the middle; nobody types it.
"""

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from queueing.cli.local.board import STYLES

PICTURE = Path(__file__).parent.parent / "docs" / "demo.svg"
WIDTH = 112
FIRST_LINES = 46
"""Lines of news that are shown; what follows is the same again."""
TEXT_AT = 37
"""Column at which the words of a line of news begin."""


def main() -> None:
    """Run the demo, keep its first lines and its end, and write the picture."""
    done = subprocess.run(
        [sys.executable, "-m", "queueing.cli.main", "demo", "--plain"],
        capture_output=True,
        text=True,
        check=True,
    )
    news, _, end = done.stdout.partition("\n\n")
    PICTURE.write_text(drawn(news.splitlines(), end.strip().splitlines()), encoding="utf-8")


def drawn(news: list[str], end: list[str]) -> str:
    """Return the picture of a terminal with these lines in it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ make demo", style="bold"))
    for line in news[:FIRST_LINES]:
        console.print(Text(line, style=_style(line)))
    if len(news) > FIRST_LINES:
        console.print(Text("  …", style="dim"))
    console.print()
    for line in end:
        console.print(Text(line))
    return console.export_svg(title="queueing demo", font_aspect_ratio=0.61)


def _style(line: str) -> str:
    return STYLES.get(line[TEXT_AT:].partition(" ")[0].rstrip(":"), "")


if __name__ == "__main__":
    main()
