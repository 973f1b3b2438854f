"""The base of every wire type: Kubernetes' spelling, unknown fields kept, values frozen."""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema
from typing_extensions import override

from queueing_api.marks import Mark
from queueing_api.quantity import parse


@cache
def attribute_docstrings(module: str, name: str) -> Mapping[str, str]:
    """Return the sentence that stands under each attribute of a class in its source."""
    source = ast.parse(inspect.getsource(importlib.import_module(module)))
    body = next(n.body for n in source.body if isinstance(n, ast.ClassDef) and n.name == name)
    sentences = {}
    for statement, following in pairwise(body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            text = textwrap.dedent(following.value.value)
            sentences[statement.target.id] = " ".join(text.split())
    return sentences


class Wire(BaseModel):
    """An object as the API server spells it; unknown fields survive a round trip.

    The string literal under a field is its description, in schemas and in `kubectl explain`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="allow",
        frozen=True,
        strict=True,
        defer_build=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        """Read `field: null` as if it were not there, as Kubernetes' own decoders do."""
        if isinstance(value, dict) and None in value.values():
            return {key: item for key, item in value.items() if item is not None}
        return value

    @classmethod
    @override
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe each property by the sentence under its attribute."""
        made = handler.resolve_ref_schema(handler(schema))
        sentences: dict[str, str] = {}
        for owner in reversed(cls.__mro__):
            if issubclass(owner, Wire):
                sentences |= attribute_docstrings(owner.__module__, owner.__name__)
        for name, field in cls.model_fields.items():
            if name in sentences:
                made["properties"][field.alias or name]["description"] = sentences[name]
        return made

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Validate plain data, as decoded from JSON or YAML."""
        return cls.model_validate(value)

    def to_wire(self) -> dict[str, Any]:
        """Return plain data with what was given, defaults left to the server."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _quantity_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _checked_quantity(value: str) -> str:
    parse(value)
    return value


QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}]}

Quantity = Annotated[
    str,
    BeforeValidator(_quantity_text),
    AfterValidator(_checked_quantity),
    Mark(**INT_OR_STRING, pattern=QUANTITY_PATTERN, **{"x-kubernetes-int-or-string": True}),
]
"""A Kubernetes quantity, kept as the text that was given."""

Time = Annotated[str, Mark(format="date-time")]
"""A time as RFC 3339 text, kept as it was given."""

Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1), Mark(format="int32")]
Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1), Mark(format="int64")]
Count = Annotated[int, Field(ge=0, le=2**31 - 1), Mark(format="int32")]
"""An int32 that is never negative."""

DNS_SUBDOMAIN_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DnsSubdomain = Annotated[str, Field(max_length=253, pattern=DNS_SUBDOMAIN_PATTERN)]
DnsLabel = Annotated[
    str, Field(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
]
ResourceName = Annotated[str, Field(max_length=317)]
ResourceList = dict[str, Quantity]
