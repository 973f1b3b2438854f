"""The reference page about the JSON of explanations, read from the module that defines it."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from types import ModuleType

from queueing.explain import domain_model, model

BEGIN = """
# Explanations

What `queueing explain -o json` prints, and what the controller answers under
`/apis/visibility.queueing.dev/v1alpha1`:

| Path | Answer |
|---|---|
| `/namespaces/NAMESPACE/workloads/NAME/explanation` | [WorkloadExplanation](#workloadexplanation) |
| `/namespaces/NAMESPACE/localqueues/NAME/explanation` | [QueueExplanation](#queueexplanation) |
| `/clusterqueues/NAME/explanation` | [QueueExplanation](#queueexplanation) |
| `/cohorts/NAME/explanation`; `-` is all trees | [CohortExplanation](#cohortexplanation) |
| `/resourceflavors/NAME/explanation`; `-` names them | [ResourceFlavorExplanation][flavor] |
| of a flavor `…/explanation?domain=BLOCK/RACK&offset=0&limit=50` | what is in this domain |
| of a flavor `…/explanation?topology=NAME` | the same of a further topology |
| of a queue `…/explanation?part=waiting&offset=0&limit=50` | [Line](#line) |
| of a queue `…/explanation?part=holding&offset=0&limit=50` | [Line](#line) |
| `/namespaces/NAMESPACE/workloads/NAME/estimate` | [Estimate](#estimate) |
| `/engines/current/snapshot` | [a recording](../tasks/record-and-replay.md), no JSON document |
| of a queue `…/estimate?offset=0&limit=10`, ten at most | [LineEstimates](#lineestimates) |

[flavor]: #resourceflavorexplanation

Who may ask: the verb `get` on `explanation` and `estimate` of `workloads`, `localqueues` and
`clusterqueues`, and on `cohorts/explanation` and `resourceflavors/explanation`, of the group
`visibility.queueing.dev`. The roles `kueue-batch-user-role` (for workloads and LocalQueues) and
`kueue-batch-admin-role` allow it. To those who may not get `clusterqueues/explanation` of all
queues, workloads of other namespaces are `(another namespace)`; of a flavor, all are.

Fields may be added; none is taken away or gets another meaning within a version. Every field is
always there: a text that says nothing is empty, and what is not known or does not apply is null.
Amounts are written as Kubernetes writes quantities, times as RFC 3339 in UTC.
"""
FIRST = ("WorkloadExplanation", "QueueExplanation", "CohortExplanation", "Line", "LineEstimates")
FLAVOR = "ResourceFlavorExplanation"


def explanations_page() -> str:
    """Return the page, without a header."""
    flavors = sections(domain_model, {FLAVOR: FLAVOR})
    return BEGIN + sections(model, {name: name for name in FIRST}) + flavors


def sections(module: ModuleType, first: Mapping[str, str]) -> str:
    """Return a section for each value that a module defines.

    Those in `first` stand in front, each with what its field `kind` says.
    """
    tree = ast.parse(inspect.getsource(module))
    found = {
        one.name: one
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        and one.name != "ReportPart"
        and not one.name.startswith("_")
    }
    names = [*first, *(name for name in found if name not in first)]
    return "".join(_section(found[name], set(found), first.get(name, "")) for name in names)


def _section(made: ast.ClassDef, known: set[str], called: str) -> str:
    rows = "\n".join(_rows(made, known))
    kind = f"| `kind` | text | `{called}` |\n" if called else ""
    about = " ".join((ast.get_docstring(made) or "").split())
    return f"""
## {made.name}

{about}

| Field | Type | Meaning |
|---|---|---|
{kind}{rows}
"""


def _rows(made: ast.ClassDef, known: set[str]) -> Iterator[str]:
    for at, one in enumerate(made.body):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        after = made.body[at + 1] if at + 1 < len(made.body) else None
        yield f"| `{_camel(one.target.id)}` | {_type(one.annotation, known)} | {_text(after)} |"


def _text(after: ast.stmt | None) -> str:
    is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    if not is_text or not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Constant):
        return ""
    return " ".join(str(after.value.value).split()).replace("|", "\\|")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _type(annotation: ast.expr, known: set[str]) -> str:
    spelled = ast.unparse(annotation)
    null = " or null" if spelled.endswith(" | None") else ""
    spelled = spelled.removesuffix(" | None")
    several = spelled.startswith("tuple[")
    spelled = spelled.removeprefix("tuple[").removesuffix(", ...]") if several else spelled
    plain = {
        "str": "text",
        "int": "number",
        "float": "number",
        "bool": "true or false",
        "dict[str, str]": "map",
        "dict[str, tuple[float, ...]]": "map of lists of numbers",
        "dict[str, Estimate]": "map of [Estimate](#estimate)",
    }
    shown = f"[{spelled}](#{spelled.lower()})" if spelled in known else plain[spelled]
    return f"list of {shown}{null}" if several else f"{shown}{null}"
