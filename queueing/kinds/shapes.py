"""Which fields of an object are decoded, and the struct that is made for them.

Paths are collected in a tree. A field that an expression reads is decoded whole, as plain values; a
pod template stays encoded, because a Workload copies it; everything else is skipped.

A second struct has what expressions see: no template, nothing that is laid aside, and of the
metadata only what they read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import msgspec

from queueing.kinds.paths import EACH, Names
from queueing.translate.wire.meta import Meta

METADATA = "metadata"


def attribute(name: str) -> str:
    """Return the attribute that a field of this name has in a struct."""
    plain = name.isidentifier() and not iskeyword(name) and not name.startswith("_")
    return name if plain else f"field_{name.encode().hex()}"


@dataclass(slots=True)
class Shape:
    """What is decoded at one place of an object. With nothing set, a map with the children."""

    children: dict[str, "Shape"] = field(default_factory=dict)
    items: "Shape | None" = None
    """What each entry is, of a list, or of a map with any keys."""
    keyed: bool = False
    """Whether the entries are those of a map."""
    whole: bool = False
    """Whether everything below is decoded to plain values."""
    encoded: bool = False
    """Whether the value stays as it was sent."""
    aside: bool = False
    """Whether nothing that is said of an object depends on the value."""

    def at(self, path: Sequence[str]) -> "Shape":
        """Return the place at a path, which from now on is decoded."""
        here = self
        for name in path:
            if here.encoded or (name == EACH and here.items is None):
                here.encoded, here.whole = False, True
            if here.whole:
                return here
            here = here.items if name == EACH and here.items else here.child(name)
        return here

    def child(self, name: str) -> "Shape":
        """Return the place of a field; each entry of a map may be meant by its key."""
        if self.items is not None and self.keyed:
            return self.items
        return self.children.setdefault(name, Shape())

    def each(self, path: Sequence[str], *, keyed: bool) -> "Shape":
        """Return what each entry of a list or map at a path is."""
        place = self.at(path)
        place.keyed = keyed
        place.items = place.items or Shape()
        return place.items

    def read(self, path: Sequence[str]) -> None:
        """Decode what is at a path to plain values."""
        place = self.at(path)
        place.aside = False
        if path[-1:] != (EACH,):
            place.encoded, place.whole = False, True

    def lay_aside(self, path: Sequence[str]) -> None:
        """Decode what is at a path, but let no expression see it, unless one reads it."""
        place = self.at(path)
        if not place.whole:
            place.whole, place.aside = True, not (place.children or place.items)

    def keep(self, path: Sequence[str]) -> None:
        """Keep all that is at a path, as it was sent unless something of it is read."""
        place = self.at(path)
        place.whole = place.whole or bool(place.children or place.items)
        place.encoded = not place.whole

    def decoded_as(self, name: str, *, seen: bool = False) -> Any:
        """Return the type to decode it to; with `seen` that of what expressions see of it."""
        if self.whole:
            return Any
        if self.encoded:
            return msgspec.Raw
        if self.items is not None:
            item: Any = self.items.decoded_as(f"{name}_entry", seen=seen)
            return (
                dict.__class_getitem__((str, item)) if self.keyed else list.__class_getitem__(item)
            )
        return msgspec.defstruct(name, self.fields(name, seen=seen), **self.options())

    def fields(self, name: str, *, seen: bool) -> list[Any]:
        """Return the fields of the struct of a map with the children."""
        return [
            (
                attribute(key),
                one.decoded_as(f"{name}_{key}", seen=seen) | msgspec.UnsetType,
                msgspec.UNSET,
            )
            for key, one in self.children.items()
            if not (seen and (one.encoded or one.aside))
        ]

    def sent(self) -> Iterator[Names]:
        """Yield the places that stay as they were sent: see `paths.detach`."""
        if self.encoded:
            yield ()
        elif self.items is not None and not self.whole:
            yield from ((EACH, *rest) for rest in self.items.sent())
        elif not self.whole:
            for key, one in self.children.items():
                yield from ((attribute(key), *rest) for rest in one.sent())

    def options(self) -> dict[str, Any]:
        """Return how that struct is defined."""
        spelled = {attribute(key): key for key in self.children}
        return {"rename": spelled, "frozen": True, "kw_only": True, "gc": False}


def struct_of(shape: Shape, name: str) -> type[msgspec.Struct]:
    """Return the struct of an object of a kind: its metadata, and what the shape has."""
    fields: list[Any] = [(METADATA, Meta), *shape.fields(name, seen=False)]
    return msgspec.defstruct(name, fields, **shape.options())


def seen_of(shape: Shape, name: str, metadata: Iterable[str]) -> type[msgspec.Struct]:
    """Return the struct of what expressions see of an object; `metadata` are attributes of that."""
    read = [one for one in msgspec.structs.fields(Meta) if one.name in set(metadata)]
    given = [(one.name, one.type, getattr(Meta(), one.name)) for one in read]
    spelled = {one.name: one.encode_name for one in read}
    meta = msgspec.defstruct(METADATA, given, rename=spelled, omit_defaults=True, frozen=True)
    fields: list[Any] = [(METADATA, meta), *shape.fields(name, seen=True)]
    return msgspec.defstruct(name, fields, **shape.options())
