"""The mutating policy that tells the programs in pods which trace they are part of.

A start writes the annotation `traceparent` into a job's template, where labels and annotations can
be given and taken back; a variable in each of its containers could not. So pods get the variable
from it as they are created. It fails open: no pod waits for its trace. Pods that are queued
themselves exist before a start annotates them, and get no variable.
"""

from typing import Any, Final

from queueing.translate import labels
from queueing.webhooks.policies.demand import Mutation
from queueing.webhooks.policies.pairs import of_pods

Wire = dict[str, Any]

NAME: Final = "queueing-hand-trace"
VARIABLE: Final = "TRACEPARENT"
_NOTES: Final = "object.metadata.annotations"
_PARTS: Final = ("initContainers", "containers")


def _each(part: str, test: str, path: str, value: str) -> str:
    """Return a patch for each container `c` of a list that passes a test."""
    index = f"string(variables.{part}.map(m, m.name).indexOf(c.name))"
    where = f'"/spec/{part}/" + {index} + "/{path}"'
    patch = f'JSONPatch{{op: "add", path: {where}, value: {value}}}'
    return f"variables.{part}.filter(c, {test}).map(c, {patch})"


def _patches(part: str) -> str:
    """Return the patches of a list of containers; a variable that is there stays as it is."""
    own = f"c.env.exists(e, e.name == '{VARIABLE}')"
    entry = f'{{"name": "{VARIABLE}", "value": string({_NOTES}["{labels.TRACE_PARENT}"])}}'
    room = _each(part, "!has(c.env)", "env", "[]")
    return f"{room} + {_each(part, f'!has(c.env) || !{own}', 'env/-', entry)}"


TRACED: Final = Mutation(
    label=labels.POD_SET,
    conditions={"traced": f"has({_NOTES}) && '{labels.TRACE_PARENT}' in {_NOTES}"},
    variables={part: f"has(object.spec.{part}) ? object.spec.{part} : []" for part in _PARTS},
    patches=" + ".join(map(_patches, _PARTS)),
)


def render() -> list[Wire]:
    """Return the policy and its binding."""
    return list(of_pods(NAME, TRACED, failure="Ignore"))
