"""Demands on objects and changes of them, and the policy that gathers the demands on a kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from queueing.webhooks.findings import CauseType

GROUP: Final = "kueue.x-k8s.io/"
"""What the labels and annotations begin with that demands on new objects speak of."""
WHOLE_NUMBER: Final = "[+-]?[0-9]{1,9}"
"""What may stand for a number of seconds or pods in a label or annotation; longer ones mean
nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What must hold of an object: `expression` is true then."""

    path: str
    """The field that a refusal names."""
    expression: str
    message: str
    """What is said; without `words` also what is said of every value."""
    words: str = ""
    """A CEL string that says it of the value at hand."""
    at: str = ""
    """The field to the point, with empty brackets for each `all` of the expression; `path` has
    them, too, but policies cannot fill them. Without it, `path`."""
    fault: CauseType = CauseType.INVALID
    """What kind of mistake it is not to meet it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The demands on one kind, in the order in which a refusal names the first."""

    name: str
    kind: str
    group: str
    version: str
    resources: Sequence[str]
    demands: Sequence[Demand]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Phrases that several demands share; each is evaluated at most once."""
    conditions: Sequence[str] = ()
    """Which writes are meant at all; the cheapest to tell comes first."""
    operations: Sequence[str] = ("CREATE", "UPDATE")
    parameter: str = ""
    """Kind of the object named `default` that must exist for the demands to be made."""
    of_jobs: bool = False
    """Whether only the namespaces that the Configuration selects are meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """What is changed of new objects with a label."""

    label: str
    conditions: Mapping[str, str]
    """Which objects are meant, by the name of each condition."""
    variables: Mapping[str, str]
    patches: str
    """A list of patches, each of the object as it came."""
