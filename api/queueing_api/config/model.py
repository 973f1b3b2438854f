"""The base of the configuration's parts: unlike in API objects, an unknown key is an error."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Settings(BaseModel):
    """A part of the configuration file; the string under a field says what it does."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        strict=True,
        defer_build=True,
    )
