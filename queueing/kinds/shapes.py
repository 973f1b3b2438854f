"""Which fields of an object are decoded, and the struct that is made for them.

Paths are collected in a tree. A field that an expression reads is decoded whole, as plain values; a
pod template stays encoded, because a Workload copies it; everything else is skipped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import msgspec

from queueing.kinds.reads import EACH
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

    def decoded_as(self, name: str) -> Any:
        """Return the type to decode it to."""
        if self.whole:
            return Any
        if self.encoded:
            return msgspec.Raw
        if self.items is not None:
            item: Any = self.items.decoded_as(f"{name}_entry")
            return (
                dict.__class_getitem__((str, item)) if self.keyed else list.__class_getitem__(item)
            )
        return self._struct(name)

    def _struct(self, name: str) -> type[msgspec.Struct]:
        fields = [
            (attribute(key), inner.decoded_as(f"{name}_{key}") | msgspec.UnsetType, msgspec.UNSET)
            for key, inner in self.children.items()
        ]
        spelled = {attribute(key): key for key in self.children}
        return msgspec.defstruct(name, fields, rename=spelled, frozen=True, kw_only=True, gc=False)


def struct_of(shape: Shape, name: str) -> type[msgspec.Struct]:
    """Return the struct of an object of a kind: its metadata, and what the shape has."""
    inner = [
        (attribute(key), one.decoded_as(f"{name}_{key}") | msgspec.UnsetType, msgspec.UNSET)
        for key, one in shape.children.items()
        if key != METADATA
    ]
    spelled = {attribute(key): key for key in shape.children}
    fields: list[Any] = [(METADATA, Meta), *inner]
    return msgspec.defstruct(name, fields, rename=spelled, frozen=True, kw_only=True, gc=False)


Conversion = Callable[[Any], Any]


def plainer(shape: Shape) -> Conversion | None:
    """Return what makes a decoded value a plain one; None if it is.

    Pod templates are left out, and what is laid aside.
    """
    if shape.encoded or shape.aside:
        return _left_out
    if shape.whole:
        return None
    if shape.items is not None:
        return _of_entries(plainer(shape.items), keyed=shape.keyed)
    fields = [(key, attribute(key), plainer(one)) for key, one in shape.children.items()]
    kept = [one for one in fields if one[2] is not _left_out]

    def plain(value: Any) -> dict[str, Any]:
        found = {}
        for key, name, inner in kept:
            one = getattr(value, name)
            if one is not None and one is not msgspec.UNSET:
                found[key] = one if inner is None else inner(one)
        return found

    return plain


def _left_out(_: Any) -> None:
    """Stand for what no expression reads."""


def detacher(shape: Shape) -> Conversion | None:
    """Return what takes a decoded value's hold on the message that it came in; None if it has none.

    Values that are kept are detached: else each would keep a whole list of objects in memory.
    """
    if shape.whole:
        return None
    if shape.encoded:
        return msgspec.Raw.copy
    if shape.items is not None:
        return _of_entries(detacher(shape.items), keyed=shape.keyed)
    inner = [
        (attribute(key), one) for key, place in shape.children.items() if (one := detacher(place))
    ]
    return _of_fields(inner) if inner else None


def _of_entries(each: Conversion | None, *, keyed: bool) -> Conversion | None:
    if each is None:
        return None

    def changed(value: Any) -> Any:
        return {k: each(v) for k, v in value.items()} if keyed else [each(one) for one in value]

    return changed


def _of_fields(inner: Sequence[tuple[str, Conversion]]) -> Conversion:
    def detach(value: Any) -> Any:
        for name, one in inner:
            found = getattr(value, name)
            if found is not msgspec.UNSET:  # nobody else has seen the value yet
                msgspec.structs.force_setattr(value, name, one(found))
        return value

    return detach
