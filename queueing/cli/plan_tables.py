"""A plan as text for people: its decisions and quotas, or what is different in it from another."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from queueing.cli.output import columns
from queueing.cli.plan_places import PlanPlaces

NOTHING_WAITS = "Nothing waits: no pending Workload, and no suspended Job that would get one."
QUOTAS = ("FLAVOR", "RESOURCE", "NOMINAL", "USED", "BORROWED", "LENT")
OF_QUEUES, OF_COHORTS = "usage", "cohorts"
"""Parts of a plan that tell quotas."""
BEFORE, AFTER, REWORDED = "-", "+", "~"
"""Marks of lines: without the change, with it, and the same decision with another message."""

Report = Mapping[str, Any]
Decision = Mapping[str, Any]


def table(report: Report, places: PlanPlaces) -> str:
    """Lay a whole plan out, given as JSON."""
    made = [(one["round"], each) for one in report["rounds"] for each in one["decisions"]]
    rows = [(str(number), *_row(decision)) for number, decision in made]
    header = ("ROUND", "ACTION", "WORKLOAD", "CLUSTERQUEUE", "DETAIL")
    parts = [columns(header, rows) if rows else NOTHING_WAITS]
    parts += filter(None, [places.told(decision for _, decision in made)])
    quotas = _quotas(report, OF_QUEUES)
    if quotas:
        amounts = [(*place, *of) for place, of in quotas.items()]
        parts.append(columns(("CLUSTERQUEUE", *QUOTAS), amounts))
    if report.get("stable"):
        count = len(report["rounds"])
        parts.append(f"Stable after {count} round{'s' * (count != 1)}.")
    return "\n\n".join(parts)


def difference(before: Report, after: Report, *, places: PlanPlaces) -> str:
    """Lay out what is decided otherwise in the second plan, and which quotas are others.

    The places are told of those that only the second plan admits.
    """
    old, new = _stories(before), _stories(after)
    workloads = list(dict.fromkeys([*new, *old]))
    rows = [row for name in workloads for row in _told(old.get(name, ()), new.get(name, ()))]
    alike = len(workloads) - len({row[2] for row in rows})
    of_queues, same_of_queues = _changed_quotas(before, after, OF_QUEUES)
    of_cohorts, same_of_cohorts = _changed_quotas(before, after, OF_COHORTS)
    same = same_of_queues + same_of_cohorts
    rest = f"{_count(alike, 'pending workload')} and {_count(same, 'quota line')}"
    if not rows and not of_queues and not of_cohorts:
        return f"The change makes no difference: {rest} stay as they are (--all shows them)."
    header = ("CHANGE", "ACTION", "WORKLOAD", "CLUSTERQUEUE", "DETAIL")
    parts = [columns(header, rows)] if rows else ["The change makes no difference to workloads."]
    anew = {row[2] for row in rows if row[:2] == (AFTER, "Admit")}
    admitted = (one for name in workloads if name in anew for one in new[name])
    parts += filter(None, [places.told(admitted)])
    for kind, changed in (("CLUSTERQUEUE", of_queues), ("COHORT", of_cohorts)):
        if changed:
            parts.append(columns(("CHANGE", kind, *QUOTAS), changed))
    legend = f"{BEFORE} without the change, {AFTER} with it"
    if any(row[0] == REWORDED for row in rows):
        legend += f", {REWORDED} the same with another message"
    stay = f" {rest} stay as they are (--all shows them)." if alike or same else ""
    parts.append(f"{legend}.{stay}")
    return "\n\n".join(parts)


def _changed_quotas(before: Report, after: Report, part: str) -> tuple[list[tuple[str, ...]], int]:
    """Return the rows of quotas that are others in the second plan, and the number of the rest."""
    was, now = _quotas(before, part), _quotas(after, part)
    places = sorted(was.keys() | now.keys())
    changed = [place for place in places if was.get(place) != now.get(place)]
    rows = [
        (mark, *place, *side[place])
        for place in changed
        for mark, side in ((BEFORE, was), (AFTER, now))
        if place in side
    ]
    return rows, len(places) - len(changed)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _stories(report: Report) -> dict[str, list[Decision]]:
    """Return what becomes of each workload: what is decided, and what it waits for in the end."""
    told: dict[str, list[Decision]] = {}
    for one in report["rounds"]:
        for decision in one["decisions"]:
            story = told.setdefault(decision["workload"], [])
            if story and story[-1]["action"] == "Wait":
                story.pop()
            if decision["action"] == "Wait" or _gist(decision) not in map(_gist, story):
                story.append(decision)
    return told


def _told(old: Iterable[Decision], new: Iterable[Decision]) -> Iterator[tuple[str, ...]]:
    """Yield the rows in which two stories of a workload differ."""
    old, new = list(old), list(new)
    gone, come = [_gist(one) for one in old], [_gist(one) for one in new]
    if gone == come:
        yield from (
            (REWORDED, *_row(one))
            for one, as_before in zip(new, old, strict=True)
            if _row(one) != _row(as_before)
        )
        return
    anew = set(gone) == set(come)
    yield from ((BEFORE, *_row(one)) for one in old if anew or _gist(one) not in come)
    yield from ((AFTER, *_row(one)) for one in new if anew or _gist(one) not in gone)


def _gist(decision: Decision) -> tuple[str, ...]:
    """Return what makes two decisions the same: all that is shown but the message of a wait."""
    if decision["action"] == "Wait":
        return decision["action"], decision["clusterQueue"] or "", decision["reason"]
    return _row(decision)


def _quotas(report: Report, part: str) -> dict[tuple[str, str, str], tuple[str, ...]]:
    return {
        (name, flavor, resource): tuple(amounts.values())
        for name, flavors in report[part].items()
        for flavor, resources in flavors.items()
        for resource, amounts in resources.items()
    }


def _row(decision: Decision) -> tuple[str, str, str, str]:
    match decision["action"]:
        case "Admit":
            detail = "; ".join(_assignment(one) for one in decision["podSetAssignments"])
            detail += ", borrowing" if decision["borrowing"] else ""
            detail += ", only reserved" if decision["reservedOnly"] else ""
            detail += "".join(f"; but {one}" for one in decision.get("warnings", ()))
        case "Preempt":
            detail = f"for {decision['preemptor']}: {decision['reason']}"
        case _:
            detail = f"{decision['reason']}: {decision['message']}"
    queue = decision["clusterQueue"] or "-"
    return decision["action"], decision["workload"], queue, detail


def _assignment(one: Mapping[str, Any]) -> str:
    usage = ", ".join(
        f"{resource} {one['resourceUsage'].get(resource, '0')} of {flavor}"
        for resource, flavor in one["flavors"].items()
    )
    return f"{one['name']} x{one['count']}: {usage}"
