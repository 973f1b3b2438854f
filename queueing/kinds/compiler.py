"""A description → a compiled kind: the struct that objects are decoded to, and programs of rules.

What is wrong with a description, whatever object comes, is found here: all of it at once, each with
its field.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from queueing.kinds.expressions import Expression, ExpressionError, expression
from queueing.kinds.hooks import NO_HOOKS, Hooks
from queueing.kinds.paths import EACH, Names, Step, Steps, attributes, spelled, steps
from queueing.kinds.rules import (
    CONDITIONS,
    COUNT,
    ITEM,
    KEY,
    OBJECT,
    POD_SETS,
    CompiledPodSet,
    CompiledState,
)
from queueing.kinds.shapes import METADATA, Shape, seen_of, struct_of
from queueing.translate.jobs.composition import JobKind
from queueing.translate.wire.meta import Meta
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
)

STATUS = "status"
_NOT_WRITTEN = frozenset({"apiVersion", "kind", METADATA, STATUS})
"""Fields of an object that a start or a stop never writes below."""
_BARE_POD = "spec"
"""The field of a pod that is its template's."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a description: the field, from `spec` on, and a sentence."""

    field: Steps
    problem: str


class DescriptionError(ValueError):
    """A description that cannot be used for any object."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{spelled(one.field)}: {one.problem}" for one in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of job, ready to read objects."""

    spec: QueueableKindSpec
    names: JobKind
    hooks: Hooks
    pod_sets: tuple[CompiledPodSet, ...]
    active: CompiledState
    ready: CompiledState | None
    finished: tuple[CompiledState, ...]
    ignored: CompiledState | None
    on_hold: CompiledState | None
    groups: Expression | None
    stopped: CompiledState | None
    """Of kinds that are queued through their pods: whether none of them runs."""
    shape: type[msgspec.Struct]
    decoder: "msgspec.json.Decoder[msgspec.Struct]" = field(repr=False, compare=False)
    sent: tuple[Names, ...] = field(repr=False, compare=False)
    """The places of what stays as it was sent: see `paths.detach`."""
    seen: "msgspec.json.Decoder[msgspec.Struct]" = field(repr=False, compare=False)
    """Decodes what expressions see of an object."""
    request: Callable[[Any], Any] = field(repr=False, compare=False)
    """Returns what is read of an object, but of its metadata and status."""
    is_told_by_fields: bool
    """Whether objects of which the same is read say the same, whatever their templates are.

    Some hooks look into templates, or at other objects. That of a pod has its gates.
    """
    answers: dict[bytes, Any] = field(default_factory=dict, repr=False, compare=False)
    """What is remembered of objects, by what was read of them."""
    reads: Mapping[Names, Steps] = field(repr=False, compare=False)
    """Paths that are read of an object, each with the first field of the description that says so;
    entries of a list or map are the step `*`."""

    @property
    def api_version(self) -> str:
        """Group and version, as objects spell them."""
        return self.names.api_version

    @property
    def name(self) -> str:
        """The kind, in CamelCase."""
        return self.spec.resource.kind


def names_of(spec: QueueableKindSpec, hooks: Hooks = NO_HOOKS) -> JobKind:
    """Return the names of a described kind, and how its objects and their pods are told."""
    named = spec.resource
    return JobKind(
        api_version=named.api_version,
        kind=named.kind,
        plural=named.plural,
        bare=hooks.bare,
        labels_pods=hooks.counts is not None,
    )


def _request(shape: type[msgspec.Struct]) -> Callable[[Any], Any]:
    names = [one for one in shape.__struct_fields__ if one not in (METADATA, STATUS)]
    return attrgetter(*names) if names else lambda _: ()


def _fields(rule: BaseModel) -> dict[str, FieldInfo]:
    return type(rule).model_fields


def compiled(spec: QueueableKindSpec, hooks: Hooks = NO_HOOKS) -> Kind:
    """Compile a description. Raises DescriptionError."""
    return _Compilation(spec, hooks).kind()


@dataclass(frozen=True, slots=True)
class _Entry:
    """What an expression means by `item`: how it is decoded, and where it is in the object."""

    place: Shape
    around: Names


class _Compilation:
    """Compiles one description: collects what is read, and what is wrong."""

    def __init__(self, spec: QueueableKindSpec, hooks: Hooks) -> None:
        self._spec, self._hooks = spec, hooks
        self._root = Shape()
        self._problems: list[Problem] = []
        self._reads: dict[Names, Steps] = {}
        self._metadata: dict[Step, str] = {}

    def kind(self) -> Kind:
        spec = self._spec
        pod_sets = tuple(self._pod_set(rule, at) for at, rule in enumerate(spec.pod_sets))
        active = self._state(spec.active, ("spec", "active"))
        ready = None if spec.ready is None else self._state(spec.ready, ("spec", "ready"))
        finished = tuple(
            self._state(rule, ("spec", "finished", at)) for at, rule in enumerate(spec.finished)
        )
        stopped = self._suspension()
        ignored = self._bare(spec.ignored, ("spec", "ignored"))
        on_hold = self._bare(spec.on_hold, ("spec", "onHold"))
        groups = self._programs(spec, ("groups",), ("spec",), (OBJECT,)).get("groups")
        self._read_fields()
        self._agree()
        if self._problems:
            raise DescriptionError(list(dict.fromkeys(self._problems)))
        name = spec.resource.kind
        shape = struct_of(self._root, name)
        return Kind(
            spec=spec,
            names=names_of(spec, self._hooks),
            hooks=self._hooks,
            pod_sets=pod_sets,
            active=active,
            ready=ready,
            finished=finished,
            ignored=ignored,
            on_hold=on_hold,
            groups=groups,
            stopped=stopped,
            shape=shape,
            decoder=msgspec.json.Decoder(shape),
            sent=tuple(self._root.sent()),
            seen=msgspec.json.Decoder(seen_of(self._root, name, self._metadata.values())),
            request=_request(shape),
            is_told_by_fields=self._is_told_by_fields(),
            reads=self._reads,
        )

    def _is_told_by_fields(self) -> bool:
        hooks, by_gate = self._hooks, self._spec.suspend.gate is not None
        return not (by_gate or hooks.pod_sets or hooks.related or hooks.uncharged)

    def _suspension(self) -> CompiledState | None:
        suspend, at = self._spec.suspend, ("spec", "suspend")
        if suspend.field is not None:
            self._written(steps(suspend.field), (*at, "field"))
            self._read(steps(suspend.field), (*at, "field"))
        if suspend.gate is not None:
            self._root.read(("status", "phase"))
        for index, path in enumerate(suspend.reset):
            if steps(path)[0] != STATUS:
                self._problems.append(Problem((*at, "reset", index), "must be a field of status"))
            self._root.lay_aside(steps(path))
        if suspend.through_pods is None:
            return None
        for index, path in enumerate(suspend.through_pods.templates):
            self._written(steps(path), (*at, "throughPods", "templates", index))
            self._root.keep(steps(path))
            self._reads.setdefault(steps(path), (*at, "throughPods", "templates"))
        return self._bare(suspend.through_pods.stopped, (*at, "throughPods", "stopped"))

    def _bare(self, text: str | None, at: Steps) -> CompiledState | None:
        """Compile an expression that stands alone as a state."""
        if text is None:
            return None
        program = self._program(text, at, (OBJECT, POD_SETS))
        programs = {} if program is None else {"expression": program}
        return CompiledState(at=at, rule=StateRule(expression=text), programs=programs, bare=True)

    def _read_fields(self) -> None:
        spec = self._spec
        if spec.priority_class is not None:
            self._read(steps(spec.priority_class), ("spec", "priorityClass"))
        if spec.managed_by is not None:
            self._read(steps(spec.managed_by.field), ("spec", "managedBy", "field"))
        for path in self._hooks.reads:
            self._root.read(steps(path))

    def _read(self, path: Names, at: Steps) -> None:
        if path[0] == METADATA:
            self._problems.append(Problem(at, "must not be a field of metadata"))
            return
        self._root.read(path)
        self._reads.setdefault(path, at)

    def _written(self, path: Names, at: Steps) -> None:
        """Refuse a path at which a start or a stop writes where no user may write."""
        if path[0] in _NOT_WRITTEN:
            self._problems.append(Problem(at, f"must not be a field of {path[0]}"))

    def _pod_set(self, rule: PodSetRule, index: int) -> CompiledPodSet:
        at: Steps = ("spec", "podSets", index)
        each = steps(rule.for_each or "")
        place = self._root.each(each, keyed=bool(rule.keys)) if each else self._root
        template = steps(rule.template) if rule.template is not None else (_BARE_POD,)
        place.keep(template)
        around = (*each, EACH) if each else ()
        if each or rule.template is not None:
            self._written((*each, *template), (*at, "forEach" if each else "template"))
        self._reads.setdefault((*around, *template), (*at, "template"))
        variables = (OBJECT, ITEM, *((KEY,) if rule.keys else ())) if each else (OBJECT,)
        fields = ("nameFrom", "when", "count", "minCount")
        entry = _Entry(place, around)
        programs = self._programs(rule, fields, at, variables, entry)
        more = self._programs(rule, ("reclaimable",), at, (*variables, COUNT), entry)
        if rule.topology is not None:
            inner = (*at, "topology")
            names = ("firstIndex", "subGroupCount")
            more |= self._programs(rule.topology, names, inner, variables, entry)
        for name, path in rule.places.to_wire().items() if rule.places is not None else ():
            self._written((*each, *steps(path)), (*at, "places", name))
            place.read(steps(path))
        return CompiledPodSet(
            rule=rule,
            at=at,
            each=each,
            template=template,
            programs=programs | more,
            count_fields=self._count_fields(rule, at),
        )

    def _count_fields(
        self, rule: PodSetRule, at: Steps
    ) -> tuple[tuple[Steps, Expression | None], ...]:
        found = []
        for index, one in enumerate(rule.count_fields):
            where = (*at, "countFields", index)
            self._written(steps(one.path), (*where, "path"))
            self._read(steps(one.path), (*where, "path"))
            when = self._programs(one, ("when",), where, (OBJECT,)).get("when")
            found.append((steps(one.path), when))
        return tuple(found)

    def _state(self, rule: StateRule, at: Steps) -> CompiledState:
        if rule.condition is not None:
            conditions = self._root.each(CONDITIONS, keyed=False)
            for name in ("type", "status", "message"):
                conditions.read((name,))
            conditions.lay_aside(("lastTransitionTime",))
            self._reads.setdefault(CONDITIONS, (*at, "condition"))
        names = (
            ("expression", "succeeded", "message") if isinstance(rule, EndRule) else ("expression",)
        )
        programs = self._programs(rule, names, at, (OBJECT, POD_SETS))
        return CompiledState(at=at, rule=rule, programs=programs)

    def _programs(
        self,
        rule: BaseModel,
        fields: Sequence[str],
        at: Steps,
        variables: Sequence[str],
        entry: _Entry | None = None,
    ) -> dict[str, Expression]:
        """Compile the expressions of a rule by the fields that hold them."""
        texts = {info.alias or name: getattr(rule, name) for name, info in _fields(rule).items()}
        found = {
            name: self._program(texts[name], (*at, name), variables, entry)
            for name in fields
            if texts[name] is not None
        }
        return {name: program for name, program in found.items() if program is not None}

    def _program(
        self, text: str, at: Steps, variables: Sequence[str], entry: _Entry | None = None
    ) -> Expression | None:
        """Compile an expression, and decode what it reads; None for one that is wrong."""
        try:
            found = expression(text, *variables)
        except ExpressionError as error:
            self._problems.append(Problem(at, str(error)))
            return None
        for root, *path in sorted(found.reads):
            if root == OBJECT and path[0] == METADATA:
                known = attributes(Meta)
                named = [one for one in path[1:2] if one in known]
                self._metadata |= {one: known[one] for one in named or known}
            elif root == OBJECT:
                self._read(tuple(path), at)
            elif root == ITEM and entry is not None:
                entry.place.read(path)
                self._reads.setdefault((*entry.around, *path), at)
        return found

    def _agree(self) -> None:
        """Find fields of the description that contradict each other."""
        suspend = self._spec.suspend
        keyed: dict[str | None, bool] = {}
        for index, rule in enumerate(self._spec.pod_sets):
            if rule.for_each and keyed.setdefault(rule.for_each, bool(rule.keys)) != bool(
                rule.keys
            ):
                problem = f"{rule.for_each} is a map in one pod set and a list in another"
                self._problems.append(Problem(("spec", "podSets", index, "keys"), problem))
            if rule.template is None and suspend.gate is None and self._hooks.pod_sets is None:
                problem = "required, unless the object is a pod itself (suspend.gate)"
                self._problems.append(Problem(("spec", "podSets", index, "template"), problem))
            if rule.count_fields and rule.min_count is None:
                problem = "has no effect without minCount"
                self._problems.append(Problem(("spec", "podSets", index, "countFields"), problem))
        if not self._spec.pod_sets and self._hooks.pod_sets is None and not suspend.through_pods:
            self._problems.append(Problem(("spec", "podSets"), "must have at least one entry"))
