"""Device selectors: an expression held against devices.

An expression that Kubernetes would refuse, one that fails on a device, and one that is not
evaluated here are three different answers; the last is never guessed. Invariant: what is answered
with true or false is what `k8s.io/dynamic-resource-allocation/cel` answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from queueing.cel.program import Program, compiled
from queueing.cel.syntax import Call, Identifier, Literal, Node, Select, parse
from queueing.cel.values import (
    InvalidError,
    MissingKeyError,
    RuntimeProblemError,
    TooCostlyError,
    UnsupportedError,
    kind_of,
)

EXPRESSION_LENGTH_MAX = 10 * 1024
"""Longest expression that the API server takes."""

_FIELDS = frozenset({"allowMultipleAllocations", "attributes", "capacity", "driver"})


class MatchAnswer(StrEnum):
    """What an expression says of a device."""

    YES = "Yes"
    NO = "No"
    ABORTS = "Aborts"
    """It fails at run time: the scheduler would give the pod up."""
    UNSUPPORTED = "Unsupported"
    """It is not evaluated here. Callers count the device in, and say so."""
    INVALID = "Invalid"
    """The API server would refuse it."""


@dataclass(frozen=True, slots=True)
class MatchVerdict:
    """An answer; `why` says what failed, `missing` names a key that the device lacks."""

    answer: MatchAnswer
    why: str = ""
    missing: str = ""


YES = MatchVerdict(MatchAnswer.YES)
NO = MatchVerdict(MatchAnswer.NO)


class Domains(dict[str, Mapping[str, Any]]):
    """Attributes or capacities by domain; an unknown domain holds nothing."""

    def __missing__(self, domain: str) -> Mapping[str, Any]:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceView:
    """A device as expressions see it: values by domain and name."""

    driver: str
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    capacity: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shared: bool = False

    def variables(self) -> Mapping[str, Any]:
        """Return the variables of an expression."""
        return {
            "device": {
                "driver": self.driver,
                "allowMultipleAllocations": self.shared,
                "attributes": Domains(self.attributes),
                "capacity": Domains(self.capacity),
            }
        }


@dataclass(frozen=True, slots=True)
class CompiledSelector:
    """A compiled expression, or why there is none."""

    expression: str
    program: Program | None = field(default=None, compare=False)
    refusal: MatchVerdict | None = field(default=None, compare=False)

    def judge(self, variables: Mapping[str, Any]) -> MatchVerdict:
        """Say whether a device, given as `DeviceView.variables`, is chosen."""
        if self.program is None:
            return self.refusal or MatchVerdict(MatchAnswer.INVALID)
        try:
            found = self.program(variables)
            if isinstance(found, bool):
                return YES if found else NO
            return MatchVerdict(MatchAnswer.ABORTS, f"a {kind_of(found)} is no condition")
        except MissingKeyError as error:
            return MatchVerdict(MatchAnswer.ABORTS, str(error), error.key)
        except RuntimeProblemError as error:
            return MatchVerdict(MatchAnswer.ABORTS, str(error))
        except (UnsupportedError, TooCostlyError) as error:
            return MatchVerdict(MatchAnswer.UNSUPPORTED, f"{error} is not evaluated here")


@lru_cache(maxsize=1024)
def selector(expression: str) -> CompiledSelector:
    """Compile an expression; what is wrong with it is told by each judgement."""
    if len(expression) > EXPRESSION_LENGTH_MAX:
        refusal = MatchVerdict(
            MatchAnswer.INVALID, f"must be at most {EXPRESSION_LENGTH_MAX} characters"
        )
        return CompiledSelector(expression, refusal=refusal)
    try:
        _check(parse(expression))
        return CompiledSelector(expression, compiled(expression, frozenset({"device"})))
    except InvalidError as error:
        return CompiledSelector(expression, refusal=MatchVerdict(MatchAnswer.INVALID, str(error)))
    except UnsupportedError as error:
        why = f"{error} is not evaluated here"
        return CompiledSelector(expression, refusal=MatchVerdict(MatchAnswer.UNSUPPORTED, why))


def _check(tree: Node) -> None:
    """Refuse what the checker of types would see at once. Raises InvalidError."""
    match tree:
        case Literal(value) if not isinstance(value, bool):
            raise InvalidError(f"must evaluate to bool, not {kind_of(value)}")
        case Call(name="+" | "-" | "*" | "/" | "%" | "neg"):
            raise InvalidError("must evaluate to bool, not to a number or a text")
        case Identifier("device") | Select(
            Identifier("device"), "driver" | "attributes" | "capacity"
        ):
            raise InvalidError("must evaluate to bool")
        case _:
            _check_fields(tree)


def _check_fields(node: Any) -> None:
    if (
        isinstance(node, Select)
        and node.operand == Identifier("device")
        and node.field not in _FIELDS
    ):
        raise InvalidError(f"undefined field {node.field!r} of device")
    for name in getattr(node, "__slots__", ()):
        part = getattr(node, name)
        for one in part if isinstance(part, tuple) else (part,):
            _check_fields(one)
