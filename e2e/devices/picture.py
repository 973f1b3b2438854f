"""Draw `queueing devices` from a real run.

`python -m e2e.devices.picture docs/pictures/devices.svg`

A control plane is started with the nodes and devices of all samples, their Jobs are admitted and
run by the product, and the command is asked. Nothing is made up but the hardware.
"""

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from e2e.components import Options
from e2e.controlplane.build import binaries
from e2e.devices.samples import applied
from e2e.jobs import running, wait_job
from e2e.loopback import control_plane
from e2e.product import install, start
from e2e.world import World

TEAM = "team-a"
COMMAND = ("devices",)
STYLES = {"#": "bold magenta", "%": "bold cyan", "x": "bold yellow", ".": "bold green"}
MARGIN = 2
_FONTS = re.compile(r"@font-face \{[^}]*\}\s*")
"""A picture in a page fetches nothing: a reader without the font sees another one."""


def main() -> int:
    """Start everything, ask, and write the picture."""
    (target,) = sys.argv[1:]
    with control_plane(binaries(), Options()) as cluster:
        install(cluster)
        controller = start(cluster, "picture")
        controller.wait_ready()
        space = World(cluster, TEAM, "picture")
        space.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
        with applied(space) as samples:
            for one in samples.values():
                wait_job(space, one.job["metadata"]["name"], running, "running")
            told = _ask(str(cluster.kubeconfig()))
        controller.stop()
    Path(target).write_text(drawn(told))
    sys.stdout.write(told)
    return 0


def _ask(kubeconfig: str) -> str:
    program = str(Path(sys.executable).with_name("queueing"))
    arguments = [program, *COMMAND, f"--kubeconfig={kubeconfig}"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def drawn(told: str) -> str:
    """Return a picture of a terminal that shows a text, with the signs of devices in colours."""
    prompt = f"$ queueing {' '.join(COMMAND)}"
    width = max(map(len, told.splitlines())) + MARGIN
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(Text(prompt, style="bold"))
    for line in told.splitlines():
        console.print(_coloured(line, told.index("DEVICES")), no_wrap=True)
    return _FONTS.sub("", console.export_svg(title="queueing devices"))


def _coloured(line: str, column: int) -> Text:
    """Give the signs of a row's devices their colours, and those that the legend explains."""
    text = Text(line)
    if line.startswith(". "):
        signs = [
            at for at, one in enumerate(line) if one in STYLES and line[at + 1 : at + 2] == " "
        ]
    else:
        shown = line[column:].partition(" ")[0]
        signs = list(range(column, column + len(shown))) if set(shown) <= STYLES.keys() else []
    for at in signs:
        text.stylize(STYLES[line[at]], at, at + 1)
    return text


if __name__ == "__main__":
    sys.exit(main())
