"""Facts, decisions and settings ↔ plain values that JSON can hold, without loss.

A value knows its class by the name under `$`, and only classes of the rules are made again, by
their constructors: a recording from elsewhere can do nothing but be read. What equals a default is
left out.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from queueing.core import (
    decisions,
    devices,
    facts,
    flavor_quotas,
    names,
    selectors,
    settings,
    stakes,
    variants,
)
from queueing.core.credits import facts as credit_facts
from queueing.core.credits import holding, period, prices
from queueing.core.topology import assignment, requests, tree

MODULES: tuple[ModuleType, ...] = (
    facts,
    flavor_quotas,
    decisions,
    settings,
    names,
    selectors,
    devices,
    stakes,
    variants,
    credit_facts,
    holding,
    period,
    prices,
    assignment,
    requests,
    tree,
)
TAG, BODY = "$", ""
"""Keys of the class's name, and of what a value has that is no field."""
MAP, FROZENSET, FRACTION, LIST = "map", "frozenset", "Fraction", "list"
PLAIN = (str, int, float, bool, type(None))


class CodecError(ValueError):
    """A plain value that stands for nothing."""


class _Field(NamedTuple):
    name: str
    default: Any
    """`dataclasses.MISSING` where there is none."""


def _classes() -> Iterator[tuple[str, type]]:
    for module in MODULES:
        for name, found in vars(module).items():
            own = isinstance(found, type) and found.__module__ == module.__name__
            if own and (dataclasses.is_dataclass(found) or issubclass(found, (Enum, tuple))):
                yield name, found


CLASSES: Mapping[str, type] = MappingProxyType(dict(_classes()))


def _fields(cls: type) -> tuple[_Field, ...]:
    found = []
    for one in dataclasses.fields(cls):
        if not one.init:
            continue
        default = one.default
        if one.default_factory is not dataclasses.MISSING:
            default = one.default_factory()
        found.append(_Field(one.name, default))
    return tuple(found)


FIELDS: Mapping[type, tuple[_Field, ...]] = MappingProxyType(
    {cls: _fields(cls) for cls in CLASSES.values() if dataclasses.is_dataclass(cls)}
)


def encode(value: Any) -> Any:
    """Return a value as plain values. Raises CodecError for what is none of the rules' classes."""
    cls = type(value)
    if cls in PLAIN:
        return value
    if cls is tuple:
        return [encode(one) for one in value]
    if cls in FIELDS:
        told: dict[str, Any] = {TAG: cls.__name__}
        for name, default in FIELDS[cls]:
            given = getattr(value, name)
            if type(given) is not type(default) or given != default:
                told[name] = encode(given)
        return told
    return _encode_other(value, cls)


def _encode_other(value: Any, cls: type) -> Any:
    if isinstance(value, Enum) and CLASSES.get(cls.__name__) is cls:
        return {TAG: cls.__name__, BODY: value.value}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {TAG: MAP, BODY: [[encode(key), encode(one)] for key, one in value.items()]}
    if isinstance(value, Fraction):
        return {TAG: FRACTION, BODY: str(value)}
    if isinstance(value, frozenset):
        return {TAG: FROZENSET, BODY: [encode(one) for one in sorted(value)]}
    if isinstance(value, list):
        return {TAG: LIST, BODY: [encode(one) for one in value]}
    if CLASSES.get(cls.__name__) is cls:
        return {TAG: cls.__name__, BODY: [encode(one) for one in value]}
    raise CodecError(f"{cls.__name__} cannot be written down")


_BARE: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        MAP: lambda body: {decode(key): decode(one) for key, one in body},
        FRACTION: Fraction,
        FROZENSET: lambda body: frozenset(map(decode, body)),
        LIST: lambda body: list(map(decode, body)),
    }
)


def decode(plain: Any) -> Any:
    """Return the value that `encode` was given. Raises CodecError for anything else."""
    if isinstance(plain, list):
        return tuple(map(decode, plain))
    if not isinstance(plain, dict):
        return plain
    try:
        return _decode(plain)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise CodecError(f"{plain.get(TAG, 'a value')} cannot be read: {error}") from error


def _decode(plain: Mapping[str, Any]) -> Any:
    name = plain[TAG]
    if name in _BARE:
        return _BARE[name](plain[BODY])
    cls = CLASSES[name]
    if issubclass(cls, Enum):
        return cls(plain[BODY])
    if cls in FIELDS:
        given = {key: decode(one) for key, one in plain.items() if key != TAG}
        return cls(**given)
    return cls(*map(decode, plain[BODY]))
