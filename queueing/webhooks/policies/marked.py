"""Demands on kinds whose pods are queued, beside those on all kinds: how they may be scaled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.jobs import QUEUE
from queueing.webhooks.marking import is_its_own
from queueing.webhooks.patches import optional
from queueing.webhooks.policies.demand import Demand, Policy
from queueing.webhooks.policies.queued import policy_of
from queueing.webhooks.suspension import MarkedKind

REPLICAS_MAX: Final = 1_000_000
_PATH: Final = "spec.replicas"
_IMMUTABLE: Final = "field is immutable"
_LEADER: Final = "spec.leaderWorkerTemplate.leaderTemplate"


def _replicas(thing: str) -> str:
    return f"{optional(thing, _PATH)}.orValue(1)"


_NEW, _OLD = _replicas("object"), _replicas("oldObject")
_QUEUE_STAYS: Final = Demand(
    path=f"metadata.labels[{QUEUE}]",
    expression="oldObject == null"
    f" || variables.oldLabels[?'{QUEUE}'].orValue('') == ''"
    f" || variables.labels[?'{QUEUE}'].orValue('') != ''",
    message=_IMMUTABLE,
)
_LIMITS: Final = {
    f"{_NEW} >= 0": "must be >= 0",
    f"{_NEW} <= {REPLICAS_MAX}": f"must be <= {REPLICAS_MAX}",
}
_TOLD: Final = "invalid LeaderWorkerSet replicas: "
_OF_A_KIND: Final[Mapping[str, Sequence[Demand]]] = MappingProxyType(
    {
        "StatefulSet": (
            Demand(
                path=_PATH,
                expression=f"oldObject == null || {_NEW} == 0 || {_NEW} == {_OLD} || {_OLD} == 0",
                message=_IMMUTABLE,
            ),
            Demand(
                path=_PATH,
                expression=f"oldObject == null || {_OLD} != 0 || {_NEW} == 0"
                f" || {optional('oldObject', 'status.replicas')}.orValue(0) == 0",
                message="scaling down is still in progress",
                fault=CauseType.FORBIDDEN,
            ),
        ),
        "LeaderWorkerSet": (
            *(
                Demand(
                    path=_PATH,
                    expression=test,
                    message=f"{_TOLD}{told}",
                    words=f"'{_TOLD}{told}, got ' + string({_NEW})",
                )
                for test, told in _LIMITS.items()
            ),
            Demand(
                path=_LEADER,
                expression=f"oldObject == null || {optional('object', _LEADER)}.hasValue()"
                f" == {optional('oldObject', _LEADER)}.hasValue()",
                message=_IMMUTABLE,
            ),
        ),
    }
)
_MARKS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {"LeaderWorkerSet": (f"!({' && '.join(_LIMITS)})",)}
)
"""Which new objects of a kind its demands can find anything in."""


def policy_of_marked(kind: MarkedKind) -> Policy:
    """Return the policy of a kind whose pods are queued."""
    found = policy_of(
        kind,
        demands=_OF_A_KIND.get(kind.kind, ()),
        changes=(_QUEUE_STAYS,),
        marks=_MARKS.get(kind.kind, ()),
    )
    return replace(found, conditions=(*found.conditions, is_its_own(kind)))
