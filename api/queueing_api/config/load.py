"""Read the configuration file, or say for every mistake where it is and what was found."""

from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from queueing_api.config import v1beta1
from queueing_api.config.blanks import without_blanks
from queueing_api.config.v1beta2 import Configuration


class ConfigurationError(ValueError):
    """A configuration that cannot be used; `problems` has a sentence for each mistake."""

    def __init__(self, source: str, problems: list[str]) -> None:
        super().__init__("\n".join(f"{source}: {problem}" for problem in problems))
        self.problems = problems


class _Loader(yaml.CSafeLoader):
    """YAML without its guesses at dates and base 60: `12:30:45` stays what was written."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load(text: str, source: str = "configuration") -> Configuration:
    """Read a configuration from YAML or JSON; an empty text gives the defaults.

    Raises ConfigurationError, naming source, field and value of every mistake.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader, narrowed
    except yaml.YAMLError as error:
        raise ConfigurationError(source, [f"is not YAML: {error}"]) from error
    if document is None:
        return Configuration()
    return from_document(document, source)


def from_document(document: Any, source: str = "configuration") -> Configuration:
    """Read a configuration that is decoded already; raises as `load`."""
    if not isinstance(document, dict):
        raise ConfigurationError(source, ["must be a mapping of fields to values"])
    document = without_blanks(document)
    if document.get("apiVersion") == v1beta1.API_VERSION:
        document = v1beta1.as_v1beta2(document)
    missing = [name for name in ("apiVersion", "kind") if name not in document]
    if missing:
        raise ConfigurationError(
            source, [f"{name}: Required value: must be specified" for name in missing]
        )
    try:
        return Configuration.model_validate(document)
    except ValidationError as error:
        problems = [_sentence(detail) for detail in error.errors(include_url=False)]
        raise ConfigurationError(source, problems) from error


def _sentence(detail: ErrorDetails) -> str:
    """Spell a mistake as Kubernetes does: path, kind of mistake, value, demand."""
    path = _path(detail["loc"])
    value = repr(detail["input"]).replace("'", '"')
    demand = detail["msg"].removeprefix("Value error, ")
    match detail["type"]:
        case "missing":
            return f"{path}: Required value: must be specified"
        case "extra_forbidden":
            return f"{path}: Invalid value: {value}: unknown field"
        case "literal_error":
            known = detail.get("ctx", {}).get("expected", "")
            return f"{path}: Unsupported value: {value}: supported values: {known}"
        case _ if not path:
            return demand
        case _ if isinstance(detail["input"], dict):
            return f"{path}: {demand}"
        case _:
            return f"{path}: Invalid value: {value}: {demand}"


def _path(steps: tuple[int | str, ...]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".")
