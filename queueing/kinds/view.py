"""One object of any kind, as everything above kinds sees it.

A view is a frozen value. What it tells is worked out when it is asked for, so that an event that
nobody looks at costs no more than its decoding; what is asked more than once is kept.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

import msgspec

from queueing.cel.values import TooCostlyError
from queueing.cel.variables import METER
from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.kinds.expressions import Expression, NoValueError, meter
from queueing.kinds.hooks import Related
from queueing.kinds.nulls import prune, pruned
from queueing.kinds.paths import ABSENT, Document, Steps, detach, steps, value_at
from queueing.kinds.pod_sets import (
    PodSet,
    UnreadableError,
    checked,
    needless,
    read_pod_sets,
)
from queueing.kinds.rules import CONDITIONS, OBJECT, POD_SETS, CompiledState
from queueing.translate.jobs.view import End, decoded
from queueing.translate.wire.meta import Condition, Meta
from queueing.translate.wire.workloads import Workload
from queueing_api.queueing.v1alpha1.queueable_kind import POD_SETS_MAX, EndRule

GROUPS_MAX = 1_000_000
"""Most groups that one object may have."""

_TERMINATED = frozenset({"Succeeded", "Failed"})

_encode = msgspec.json.encode
_document = msgspec.json.Decoder(dict[str, Any])


class View:
    """What an object says of its pods and of its state.

    What cannot be told of this object raises UnreadableError, which names the field.
    """

    def __init__(
        self,
        kind: Kind,
        struct: Any,
        related: Mapping[str, Any] | None = None,
        pod_sets: tuple[PodSet, ...] = (),
    ) -> None:
        self.kind, self.struct, self._related = kind, struct, related
        self.metadata: Meta = struct.metadata
        """Name, labels and bookkeeping."""
        self.known_pod_sets = pod_sets
        """Pod sets that were read before; empty where they are to be read."""

    def beside(self, find: Callable[[Related], Mapping[str, Any] | None]) -> "View":
        """Return the object beside the one that its kind's hook names, which `find` returns."""
        hook = self.kind.hooks.related
        if hook is None:
            return self
        try:
            return View(self.kind, self.struct, find(hook(self)))
        except UnreadableError:
            return self  # its pod sets cannot be told for the same reason

    def anew(self, pod_sets: tuple[PodSet, ...] = ()) -> "View":
        """Return the object with nothing worked out yet, but pod sets that are known."""
        return View(self.kind, self.struct, self._related, pod_sets)

    def standing_on(self, workload: Workload) -> "View":
        """Return the object with the pod sets of its Workload."""
        rule = self.kind.pod_sets[0]
        pod_sets = tuple(
            PodSet(
                name=one.name,
                count=one.count,
                min_count=one.min_count,
                template=msgspec.Raw(_encode(one.template)),
                rule=rule,
            )
            for one in workload.spec.pod_sets
        )
        return self.anew(pod_sets)

    @property
    def related(self) -> Mapping[str, Any] | None:
        """The object that the kind's hook names, as plain values; None when it does not exist."""
        return self._related

    @property
    def key(self) -> Key:
        """`namespace/name`."""
        return self.metadata.key

    @property
    def uid(self) -> str:
        """Identity in time and space."""
        return self.metadata.uid

    def value(self, path: str) -> Any:
        """Return what is at a path that the kind reads; ABSENT where nothing is."""
        return value_at(self.struct, steps(path))

    @property
    def seen(self) -> bytes:
        """What expressions see of it, as JSON: without templates, but with nulls."""
        return _encode(self.kind.seen.decode(_encode(self.struct)))

    @cached_property
    def values(self) -> dict[str, Any]:
        """The same as plain values, without nulls."""
        found = _document.decode(seen := self.seen)
        if b"null" in seen:
            try:
                prune(found, self._meter[METER].spend)
            except TooCostlyError:
                return {}  # no expression is asked: there are no steps left for any
        return found

    @cached_property
    def _meter(self) -> dict[str, Any]:
        return meter()

    @cached_property
    def variables(self) -> dict[str, Any]:
        """The variables of its expressions, which share the steps that they may take."""
        return {OBJECT: self.values, **self._meter}

    @cached_property
    def _with_pod_sets(self) -> dict[str, Any]:
        """The variables of expressions that ask for the pod sets, too."""
        told = [{"name": one.name, "count": one.count} for one in self.pod_sets]
        return {**self.variables, POD_SETS: told}

    def annotates_pods(self, name: str, value: str = "") -> bool:
        """Say whether any pods have an annotation; those of the object itself do not count.

        With a `value` whether any have it with that.
        """
        encoded = _encode(self.struct)
        if name.encode() not in encoded:
            return False  # as of most objects, which may be large
        document = _document.decode(encoded)
        del document["metadata"]
        return _annotates(document, name, value)

    def document(self) -> Document:
        """Return the object as plain values, as far as its kind reads it; each time a new one."""
        return _document.decode(_encode(self.struct))

    @property
    def suspended(self) -> bool:
        """Whether its pods may not run; a pod that has ended counts, too."""
        suspend = self.kind.spec.suspend
        if suspend.field is not None:
            return self._flag(suspend.field)
        if suspend.gate is not None:
            return self._is_gated(suspend.gate) or self.value("status.phase") in _TERMINATED
        stopped = self.kind.stopped
        return stopped is not None and self._holds(stopped)

    @property
    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pods that it asks for; empty for kinds whose pods are queued one by one."""
        if isinstance(self._pod_sets, UnreadableError):
            raise self._pod_sets
        return self._pod_sets

    @cached_property
    def _pod_sets(self) -> tuple[PodSet, ...] | UnreadableError:
        """The pod sets, or why there are none: both are found once, however often one asks."""
        if self.known_pod_sets:
            return self.known_pod_sets
        try:
            return self._read_pod_sets()
        except UnreadableError as error:
            return error

    def _read_pod_sets(self) -> tuple[PodSet, ...]:
        kind = self.kind
        hooked = kind.hooks.pod_sets is not None
        found = read_pod_sets(self.struct, self.variables, kind.pod_sets, hooked=hooked)
        if kind.hooks.pod_sets is not None:
            found = tuple(islice(kind.hooks.pod_sets(self, found), POD_SETS_MAX + 1))
        elif not kind.pod_sets:
            return ()
        return checked(found)

    @property
    def active(self) -> bool:
        """Whether pods run or end, so that its quota must be kept."""
        return self._holds(self.kind.active)

    @property
    def ready(self) -> bool:
        """Whether all pods are ready or have succeeded."""
        return self.kind.ready is not None and self._holds(self.kind.ready)

    @property
    def ended(self) -> End | None:
        """How it ended; None while it has not."""
        for rule in self.kind.finished:
            if self._holds(rule):
                return self._end(rule)
        return None

    @property
    def reclaimable(self) -> Mapping[str, int]:
        """How many pods of each set will never be needed again; sets without any are left out."""
        found: dict[str, int] = {}
        for one in self.pod_sets:
            if "reclaimable" in one.rule.programs:
                found[one.name] = needless(one, self.variables)
        if self.kind.hooks.reclaimable is not None:
            found |= self.kind.hooks.reclaimable(self)
        return {name: count for name, count in found.items() if count > 0} if found else found

    @property
    def running_pods(self) -> int | None:
        """How many pods run; None of kinds whose status does not tell of all."""
        counts = self.kind.hooks.counts
        return None if counts is None else counts.running(self)

    @property
    def ready_pods(self) -> int | None:
        """How many pods are ready, or have succeeded; None of the same kinds."""
        counts = self.kind.hooks.counts
        return None if counts is None else counts.ready(self)

    @property
    def uncharged(self) -> str:
        """The parts whose pods, if they have any, are in no pod set."""
        hook = self.kind.hooks.uncharged
        return "" if hook is None else "; ".join(hook(self))

    @property
    def ignored(self) -> bool:
        """Whether it is not to be queued at all."""
        return self.kind.ignored is not None and self._holds(self.kind.ignored)

    @cached_property
    def on_hold(self) -> bool:
        """Whether it shall keep no quota although it has not ended."""
        return self.kind.on_hold is not None and self._holds(self.kind.on_hold)

    @cached_property
    def groups(self) -> int:
        """Number of Workloads that it has, each with all of its pod sets."""
        program = self.kind.groups
        if program is None:
            return 1
        found = self._asked(program, ("spec", "groups"))
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= GROUPS_MAX:
            problem = f"{found!r} is no number of groups: a whole number from 0 to {GROUPS_MAX}"
            raise UnreadableError(("spec", "groups"), problem)
        return found

    @property
    def priority_class(self) -> str:
        """Name of the PriorityClass of its pods; empty without one."""
        path = self.kind.spec.priority_class
        named = self.value(path) if path is not None else ABSENT
        if isinstance(named, str) and named:
            return named
        for one in self.pod_sets:
            named = decoded(bytes(one.template)).spec.priority_class_name
            if named:
                return named
        return ""

    @property
    def managed_by(self) -> str:
        """The controller that runs it, the kind's own when no other is named; else empty."""
        rule = self.kind.spec.managed_by
        if rule is None:
            return ""
        named = self.value(rule.field)
        return named if isinstance(named, str) and named else rule.controller

    @property
    def has_to_reset(self) -> bool:
        """Whether there is a field that must be cleared before its templates are restored."""
        for path in self.kind.spec.suspend.reset:
            if value_at(self.struct, steps(path)) is not ABSENT:
                return True
        return False

    def _flag(self, path: str) -> bool:
        found = self.value(path)
        if found is not ABSENT and not isinstance(found, bool):
            problem = f"{path} is {found!r}, neither true nor false"
            raise UnreadableError(("spec", "suspend", "field"), problem, steps(path))
        return found is True

    def _is_gated(self, gate: str) -> bool:
        spec = self.document().get("spec") or {}
        return any(one.get("name") == gate for one in spec.get("schedulingGates") or ())

    def _condition(self, kind: str) -> Any:
        """Return a condition that is True; None when it is not."""
        conditions = value_at(self.struct, CONDITIONS)
        for one in conditions if isinstance(conditions, list) else ():
            if value_at(one, ("type",)) == kind:
                return one if value_at(one, ("status",)) == "True" else None
        return None

    def since(self, kind: str) -> float | None:
        """Return when a condition became true, 0 where that is not said; None when it is not."""
        found = self._condition(kind)
        return (
            None
            if found is None
            else msgspec.convert(msgspec.to_builtins(found), Condition).changed
        )

    def _holds(self, state: CompiledState) -> bool:
        if state.rule.condition is not None:
            return self._condition(state.rule.condition) is not None
        at = state.at if state.bare else (*state.at, "expression")
        found = self._asked(state.programs["expression"], at)
        if not isinstance(found, bool):
            problem = f"{state.rule.expression} is {found!r}, neither true nor false"
            raise UnreadableError(at, problem)
        return found

    def _asked(self, program: Expression, at: Steps) -> Any:
        variables = self._with_pod_sets if POD_SETS in program.roots else self.variables
        try:
            return program.value(variables)
        except NoValueError as error:
            problem = f"{program.text} fails on the object: {error}"
            raise UnreadableError(at, problem) from error

    def _end(self, state: CompiledState) -> End:
        rule = state.rule
        succeeded = isinstance(rule, EndRule) and rule.outcome == "Succeeded"
        if "succeeded" in state.programs:
            succeeded = self._asked(state.programs["succeeded"], (*state.at, "succeeded")) is True
        message: Any = None
        if "message" in state.programs:
            message = self._asked(state.programs["message"], (*state.at, "message"))
            return End(succeeded, message if isinstance(message, str) else "")
        if rule.condition is not None:
            message = value_at(self._condition(rule.condition), ("message",))
        default = f"{self.kind.name} {'finished successfully' if succeeded else 'failed'}"
        return End(succeeded, message if isinstance(message, str) and message else default)


def read(kind: Kind, data: bytes | msgspec.Raw, related: Mapping[str, Any] | None = None) -> View:
    """Decode an object of a kind.

    `related` is the object that the kind's hook names. Raises UnreadableError when a field that is
    read has another type than its path supposes.
    """
    try:
        found = kind.decoder.decode(data)
    except msgspec.ValidationError:
        found = _without_nulls(kind, data)
    detach(found, kind.sent)
    return View(kind, found, related)


def _without_nulls(kind: Kind, data: bytes | msgspec.Raw) -> msgspec.Struct:
    """Decode an object in which a field may be null, which counts as absent."""
    try:
        return kind.decoder.decode(_encode(pruned(_document.decode(data))))
    except msgspec.ValidationError as error:
        raise UnreadableError(("spec",), f"the object cannot be read: {error}") from error


def _annotates(thing: Any, name: str, value: str) -> bool:
    """Say whether any `annotations` in a thing have a name; a field that quotes it has not."""
    if isinstance(thing, list):
        return any(_annotates(one, name, value) for one in thing)
    if not isinstance(thing, dict):
        return False
    own = thing.get("annotations")
    if isinstance(own, dict) and name in own and value in ("", own[name]):
        return True
    return any(_annotates(one, name, value) for one in thing.values())
