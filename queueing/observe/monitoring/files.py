"""Writes dashboards, rules and runbooks: `python -m queueing.observe.monitoring.files --write`."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from queueing.observe import span_table
from queueing.observe.monitoring import grafana, rules
from queueing.observe.monitoring.dashboards import DASHBOARDS

FOLDER = "config/observability"
FILES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        **{
            f"{FOLDER}/dashboards/{one.uid}.json": partial(grafana.rendered, one)
            for one in DASHBOARDS
        },
        f"{FOLDER}/rules.yaml": rules.rules_file,
        f"{FOLDER}/prometheusrule.yaml": rules.prometheus_rule,
        rules.RUNBOOK: rules.page,
        "docs/reference/traces.md": span_table.page,
    }
)
"""Files that are made of the tables, by their path from the root of the repository."""


def stale(root: Path) -> list[str]:
    """Return the files that are not as the tables say."""
    return [
        name
        for name, made in FILES.items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != made()
    ]


def main(words: list[str]) -> int:
    """Write the files, or with --check say which are stale."""
    root = Path.cwd()
    if words == ["--write"]:
        for name, made in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(made(), encoding="utf-8")
        return 0
    if words != ["--check"]:
        sys.stderr.write("give --write or --check\n")
        return 2
    found = stale(root)
    for name in found:
        sys.stderr.write(f"{name}: stale; run `make generate`\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
