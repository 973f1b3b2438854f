"""A demand on an object, and the policy that gathers those of one kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

GROUP: Final = "kueue.x-k8s.io/"
"""What the labels and annotations begin with that demands on new objects speak of."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The demands on one kind, in the order in which a refusal names the first."""

    name: str
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
