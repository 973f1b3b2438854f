"""Bring the cases into a module that pytest collects."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.conformance.cases import (
    apply,
    collection,
    crud,
    discovery,
    jobs,
    listing,
    patches,
    schemas,
    status,
    tables,
    watching,
    webhooks,
)

MODULES: tuple[ModuleType, ...] = (
    crud,
    patches,
    apply,
    listing,
    watching,
    status,
    schemas,
    jobs,
    collection,
    tables,
    discovery,
    webhooks,
)


def gathered(*modules: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the cases of the modules, by names that say where each comes from."""
    return {
        f"test_{module.__name__.rpartition('.')[2]}_{name.removeprefix('test_')}": value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("test_")
    } | {"hook": webhooks.hook}
