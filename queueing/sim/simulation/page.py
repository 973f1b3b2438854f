"""A report as one HTML page that needs nothing from elsewhere: no script, no font, no image."""

from collections.abc import Iterable, Sequence
from html import escape

from queueing.sim.simulation.charts import areas, bars
from queueing.sim.simulation.figures import FIGURES, WAITED, used, waited
from queueing.sim.simulation.report import QuotaUse, Report, Run

STYLE = """
:root{color-scheme:light dark;--ink:#1b2430;--paper:#fff;--rule:#d5dbe3;--soft:#5b6875}
@media (prefers-color-scheme:dark){
:root{--ink:#e6ebf1;--paper:#12171d;--rule:#333d49;--soft:#9aa7b5}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:1560px;margin:2rem auto;padding:0 1rem}
main{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,560px),1fr));gap:2rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}
caption{text-align:left;font-weight:600}
th,td{padding:.2rem .5rem;border-bottom:1px solid var(--rule);text-align:right}
th:first-child,td:first-child{text-align:left}figure{margin:0 0 1.5rem}
figcaption{font-weight:600}svg{width:100%;height:auto}
svg text{font-size:11px;fill:var(--soft)}
svg .label{text-anchor:end}svg line{stroke:var(--rule)}figure ul{list-style:none;margin:0;padding:0;
display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:13px}
figure span{display:inline-block;width:.8em;
height:.8em;margin-right:.3em;border-radius:2px}
.c0{fill:#3f7fbf;background:#3f7fbf}.c1{fill:#d98032;background:#d98032}
.c2{fill:#4b9b62;background:#4b9b62}.c3{fill:#a262b3;background:#a262b3}
.c4{fill:#c2504d;background:#c2504d}.c5{fill:#3aa3a0;background:#3aa3a0}
.c6{fill:#b99b2f;background:#b99b2f}.c7{fill:#7d8794;background:#7d8794}
"""


def page(report: Report) -> str:
    """Write a report as a page."""
    title = " against ".join(one.name for one in report.runs)
    compared = _compared(report.runs) if len(report.runs) > 1 else ""
    parts = "".join(map(_run, report.runs))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{compared}<main>{parts}</main></body></html>\n"
    )


def _run(run: Run) -> str:
    share = {
        one.name: (100 * (one.nominal_share or 0.0), 100 * (one.used_share or 0.0))
        for one in run.queues
    }
    waits = {one.name: (one.waits.p50, one.waits.p90) for one in run.classes}
    most = max((sum(each) for each in zip(*run.lines.waiting.values(), strict=True)), default=1.0)
    what = run.lines.of
    parts = (
        f"<h2>{escape(run.name)}</h2><p>{run.begins} to {run.ends}</p>",
        _facts(run),
        areas(f"Held, of {what}: part of nominal quota", run.lines.used, most=1, unit=""),
        areas("Waiting workloads", run.lines.waiting, most=most, unit=""),
        bars(f"Shares of {what}", share, ("nominal quota", "held"), " %"),
        bars("Waits by class", waits, ("half waited less than", "9 of 10 less than"), " s"),
        _classes(run),
        _queues(run),
        _uses(run.uses),
    )
    return f"<section>{''.join(parts)}</section>"


def _facts(run: Run) -> str:
    return _table("", ("", ""), ((name, told(run)) for name, told in FIGURES))


def _compared(runs: Sequence[Run]) -> str:
    rows = ((name, *(told(one) for one in runs)) for name, told in FIGURES)
    return _table("Side by side", ("", *(one.name for one in runs)), rows)


def _classes(run: Run) -> str:
    return _table("Waits by class", ("Class", *WAITED), map(waited, run.classes))


def _queues(run: Run) -> str:
    return _table("Waits by queue", ("ClusterQueue", *WAITED), map(waited, run.queues))


def _uses(uses: Sequence[QuotaUse]) -> str:
    header = ("Flavor and resource", "nominal", "mean", "peak", "used")
    rows = ((f"{one.flavor} {one.resource}", *used(one)) for one in uses)
    return _table("Utilisation", header, rows)


def _table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(one)}</th>" for one in header)
    head = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{told}{head}<tbody>{body}</tbody></table>"
