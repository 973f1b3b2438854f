"""Descriptions of kinds in files, read strictly: every mistake with its file, line and field."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from queueing.kinds.compiler import DescriptionError, Kind, compiled
from queueing.kinds.registry import BUILT_IN, kind_of
from queueing.sim.documents import Document, Step
from queueing.sim.kinds import manifest_error
from queueing.sim.unknown_fields import did_you_mean, names_at
from queueing.sim.yaml_text import ManifestError
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A kind, and the document that describes it; None for one that is built in."""

    kind: Kind
    document: Document | None


def is_description(document: Document) -> bool:
    """Say whether a document describes a kind."""
    return document.group == "queueing.dev" and document.kind == "QueueableKind"


def described(document: Document) -> Described:
    """Read and compile a description. Raises ManifestError, which tells all that is wrong."""
    try:
        model = QueueableKind.model_validate(document.value)
    except ValidationError as error:
        found = error.errors(include_url=False)
        problems = [manifest_error(document, one["loc"], one["type"], one["msg"]) for one in found]
        raise ManifestError.of_all(problems) from error
    unknown = [_unknown(document, path) for path in _extra(model, ())]
    if unknown:
        raise ManifestError.of_all(unknown)
    try:
        return Described(kind=compiled(model.spec), document=document)
    except DescriptionError as error:
        problems = [document.error(one.field, one.problem) for one in error.problems]
        raise ManifestError.of_all(problems) from error


def kind_for(example: Document, given: Sequence[Described]) -> Described | None:
    """Return the kind that an example is of: one that is given, else a built-in one."""
    named = example.api_version, example.kind
    built_in = (Described(kind=kind_of(one.name), document=None) for one in BUILT_IN)
    every = (*given, *built_in)
    return next((one for one in every if (one.kind.api_version, one.kind.name) == named), None)


def _unknown(document: Document, path: tuple[Step, ...]) -> ManifestError:
    meant = did_you_mean(str(path[-1]), names_at(QueueableKind, path[:-1]))
    return document.error(path, f"unknown field{meant}")


def _extra(model: BaseModel, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the fields that a model does not have; of metadata anything may be written."""
    yield from ((*path, name) for name in model.model_extra or ())
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        here = (*path, field.alias or name)
        if here == ("metadata",):
            continue
        if isinstance(value, BaseModel):
            yield from _extra(value, here)
        for at, one in enumerate(value if isinstance(value, list) else ()):
            if isinstance(one, BaseModel):
                yield from _extra(one, (*here, at))
