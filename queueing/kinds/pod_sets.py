"""The pod sets of one object, and what bounds them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from queueing.kinds.expressions import NoValueError
from queueing.kinds.paths import ABSENT, Step, Steps, child, spelled, steps, value_at
from queueing.kinds.rules import COUNT, ITEM, KEY, OBJECT, CompiledPodSet
from queueing.translate.jobs.pod_sets import each_name_once, topology_request
from queueing.translate.jobs.view import decoded
from queueing_api.queueing.v1alpha1.queueable_kind import POD_SETS_MAX, PodPlaces

COUNT_MAX = 2**31 - 1
_NAME = re.compile(r"(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?")

_encode = msgspec.json.encode
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_mapping = msgspec.json.Decoder(dict[str, Any])


class UnreadableError(ValueError):
    """An object that its description cannot be applied to."""

    def __init__(self, field: Steps, problem: str, at: Steps = ()) -> None:
        super().__init__(f"{spelled(field)}: {problem}")
        self.field, self.problem, self.at = field, problem, at
        """The field of the description; what is wrong; and where in the object, if known."""


class MissingError(UnreadableError):
    """Another object that says what an object asks for does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a start adds to the pods of a set, as paths in the object."""

    labels: Steps
    annotations: Steps
    node_selector: Steps
    tolerations: Steps
    scheduling_gates: Steps
    in_template: Steps | None
    """Path of the template that has them all; None when they are fields of their own."""


class PodSet(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one shape, as an object asks for them."""

    name: str
    count: int
    min_count: int | None = None
    template: msgspec.Raw
    """The pod template as it is now."""
    rule: CompiledPodSet
    item: Steps = ()
    """Path of the entry that it was read from; empty for the object itself."""
    sub_group_count: int | None = None
    first_index: int = 0
    """Number of its first pod."""

    @property
    def places(self) -> Places:
        """Where a start adds to its pods."""
        written = self.rule.rule.places
        if written is not None:
            return _written(written, self.item)
        bare = self.rule.rule.template is None
        return template_places((*self.item, *(() if bare else self.rule.template)))

    def wire(self) -> dict[str, Any]:
        """Return it as a Workload holds it."""
        template = clean(self.template, self.rule.rule.controller_labels)
        annotations: Mapping[str, str] = {}
        if self.rule.rule.spec_only:
            template = {"spec": template["spec"]}
        else:
            annotations = decoded(bytes(self.template)).metadata.annotations
        found: dict[str, Any] = {"name": self.name, "count": self.count, "template": template}
        found |= topology_request(annotations, self._indexes())
        return found | ({"minCount": self.min_count} if self.min_count is not None else {})

    def _indexes(self) -> dict[str, Any]:
        """Return the fields that say how its pods are numbered."""
        rule = self.rule.rule.topology
        if rule is None:
            return {}
        named = {
            "podIndexLabel": rule.pod_index_label,
            "subGroupIndexLabel": rule.sub_group_index_label,
            "subGroupCount": self.sub_group_count,
        }
        return {name: value for name, value in named.items() if value is not None}


@cache
def template_places(template: Steps) -> Places:
    """Return the places of a pod template."""
    return Places(
        labels=(*template, "metadata", "labels"),
        annotations=(*template, "metadata", "annotations"),
        node_selector=(*template, "spec", "nodeSelector"),
        tolerations=(*template, "spec", "tolerations"),
        scheduling_gates=(*template, "spec", "schedulingGates"),
        in_template=template,
    )


def _written(places: PodPlaces, item: Steps) -> Places:
    return Places(
        labels=(*item, *steps(places.labels)),
        annotations=(*item, *steps(places.annotations)),
        node_selector=(*item, *steps(places.node_selector)),
        tolerations=(*item, *steps(places.tolerations)),
        scheduling_gates=(*item, *steps(places.scheduling_gates)),
        in_template=None,
    )


def clean(template: msgspec.Raw, without: Sequence[str] = ()) -> dict[str, msgspec.Raw]:
    """Return a template as a Workload holds it: each environment variable once, no bookkeeping."""
    parts = _parts.decode(template)
    if "metadata" in parts:
        metadata = _mapping.decode(parts["metadata"])
        metadata.pop("creationTimestamp", None)
        labels = metadata.get("labels")
        if without and labels:
            metadata["labels"] = {k: v for k, v in labels.items() if k not in without}
        parts["metadata"] = msgspec.Raw(_encode(metadata))
    if "spec" in parts:
        parts["spec"] = each_name_once(parts["spec"])
    return parts


def read_pod_sets(
    struct: msgspec.Struct,
    known: Mapping[str, Any],
    rules: Sequence[CompiledPodSet],
    *,
    hooked: bool,
) -> tuple[PodSet, ...]:
    """Read the pod sets of an object by the rules of its kind; `known` is what expressions know.

    With `hooked` templates may be missing, and there may be any number: a hook makes of them what
    there is. Raises UnreadableError.
    """
    several = (
        _pod_set(struct, rule, variables, item, hooked=hooked)
        for rule in rules
        for variables, item in _items(known, rule)
        if _is_there(rule, variables, item)
    )
    found = tuple(islice(several, None if hooked else POD_SETS_MAX + 1))
    for rule in rules if not found else ():
        if rule.each and value_at(known[OBJECT], rule.each) is ABSENT:
            problem = f"{spelled(rule.each)} leads nowhere in the object"
            raise UnreadableError((*rule.at, "forEach"), problem, rule.each)
    return found


def checked(found: Sequence[PodSet], field: Steps = ("spec", "podSets")) -> tuple[PodSet, ...]:
    """Return pod sets that a Workload may have together. Raises UnreadableError for others."""
    if not found:
        raise UnreadableError(field, "the object has no pod set; there must be at least one")
    if len(found) > POD_SETS_MAX:
        most = f"more than {POD_SETS_MAX} pod sets, which is the most that a Workload has"
        raise UnreadableError(field, f"the object has {most}")
    names: set[str] = set()
    for one in found:
        if one.name in names:
            problem = f"two pod sets are named {one.name!r}; names are told apart in lower case"
            raise UnreadableError(one.rule.at, problem, one.item)
        names.add(one.name)
        _check_template(one)
    return tuple(found)


def _pod_set(
    struct: msgspec.Struct,
    rule: CompiledPodSet,
    variables: Mapping[str, Any],
    item: Steps,
    *,
    hooked: bool,
) -> PodSet:
    return PodSet(
        name=_name(rule, variables, item),
        count=_count(rule, "count", variables, item, absent=1),
        min_count=_optional_count(rule, "minCount", variables, item) or None,
        template=_template(rule, struct, item, hooked=hooked),
        rule=rule,
        item=item,
        sub_group_count=_optional_count(rule, "subGroupCount", variables, item),
        first_index=_optional_count(rule, "firstIndex", variables, item) or 0,
    )


def with_templates_of(struct: msgspec.Struct, pod_sets: Iterable[PodSet]) -> tuple[PodSet, ...]:
    """Return pod sets with the templates that stand at their places in another object.

    Raises UnreadableError.
    """
    found = []
    for one in pod_sets:
        template = _template(one.rule, struct, one.item, hooked=False)
        found.append(msgspec.structs.replace(one, template=template))
        _check_template(found[-1])
    return tuple(found)


def needless(one: PodSet, known: Mapping[str, Any]) -> int:
    """Return how many pods of a set will never be needed again. Raises UnreadableError.

    The status says so, which may be wrong while the pods themselves can be read.
    """
    variables = {**known, COUNT: one.count}
    if one.rule.each:
        variables |= {ITEM: value_at(known[OBJECT], one.item), KEY: one.item[-1]}
    return min(_count(one.rule, "reclaimable", variables, one.item, absent=0), one.count)


def _items(
    known: Mapping[str, Any], rule: CompiledPodSet
) -> Iterator[tuple[Mapping[str, Any], Steps]]:
    """Yield each entry that is a pod set: the variables of its expressions, and its path."""
    if not rule.each:
        yield known, ()
        return
    entries = value_at(known[OBJECT], rule.each)
    keys: Iterable[Step] = rule.rule.keys or range(0 if entries is ABSENT else len(entries))
    for key in keys:
        entry = child(entries, key)
        if entry is not ABSENT:
            yield {**known, ITEM: entry, KEY: key}, (*rule.each, key)


def _is_there(rule: CompiledPodSet, variables: Mapping[str, Any], item: Steps) -> bool:
    if "when" not in rule.programs:
        return True
    found = _asked(rule, "when", variables, item)
    if not isinstance(found, bool):
        problem = f"{rule.rule.when} is {found!r}, neither true nor false"
        raise UnreadableError((*rule.at, "when"), problem, item)
    return found


def _template(
    rule: CompiledPodSet, struct: msgspec.Struct, item: Steps, *, hooked: bool
) -> msgspec.Raw:
    found = value_at(struct, (*item, *rule.template))
    if isinstance(found, msgspec.Raw) and bytes(found) == b"null":
        found = ABSENT
    if found is ABSENT:
        if hooked:
            return msgspec.Raw(b"{}")
        where = (*item, *rule.template)
        problem = f"{spelled(where)} leads nowhere in the object"
        raise UnreadableError((*rule.at, "template"), problem, where)
    encoded = found if isinstance(found, msgspec.Raw) else msgspec.Raw(_encode(found))
    return encoded if rule.rule.template is not None else msgspec.Raw(b'{"spec":%b}' % encoded)


def _name(rule: CompiledPodSet, variables: Mapping[str, Any], item: Steps) -> str:
    if rule.rule.name is not None:
        return rule.rule.name
    found = _asked(rule, "nameFrom", variables, item)
    lower = found.lower() if isinstance(found, str) else ""
    if not _NAME.fullmatch(lower):
        problem = f"{found!r} is no name of a pod set: up to 63 letters, digits and '-'"
        raise UnreadableError((*rule.at, "nameFrom"), problem, item)
    return lower


def _optional_count(
    rule: CompiledPodSet, field: str, variables: Mapping[str, Any], item: Steps
) -> int | None:
    if field not in rule.programs:
        return None
    found = _count(rule, field, variables, item, absent=-1)
    return None if found < 0 else found


def _count(
    rule: CompiledPodSet, field: str, variables: Mapping[str, Any], item: Steps, *, absent: int
) -> int:
    found = _asked(rule, field, variables, item)
    if found is ABSENT:
        return absent
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= COUNT_MAX:
        problem = f"{found!r} is no count: a whole number from 0 to {COUNT_MAX}"
        raise UnreadableError((*rule.at, field), problem, item)
    return found


def _asked(rule: CompiledPodSet, field: str, variables: Mapping[str, Any], item: Steps) -> Any:
    program = rule.programs.get(field)
    if program is None:
        return ABSENT
    try:
        return program.value(variables)
    except NoValueError as error:
        problem = f"{program.text} fails on the object: {error}"
        raise UnreadableError((*rule.at, field), problem, item) from error


def _check_template(one: PodSet) -> None:
    where = (*one.item, *one.rule.template)
    try:
        found = decoded(bytes(one.template)).spec.containers
    except msgspec.ValidationError as error:
        problem = f"is no pod template: {error}"
        raise UnreadableError((*one.rule.at, "template"), problem, where) from error
    if not found:
        problem = f"the template of pod set {one.name!r} has no containers"
        raise UnreadableError((*one.rule.at, "template"), problem, where)
