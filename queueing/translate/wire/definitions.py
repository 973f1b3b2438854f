"""CustomResourceDefinitions: which kinds the API server serves, in which versions."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from queueing.translate.wire.meta import Condition, Meta, Wire


class Names(Wire, frozen=True):
    """Names of the kind."""

    kind: str = ""
    plural: str = ""


class Version(Wire, frozen=True):
    """A version of the kind."""

    name: str = ""
    served: bool = False


class DefinitionSpec(Wire, frozen=True):
    """Spec of a definition."""

    group: str = ""
    names: Names = Names()
    versions: list[Version] = []


class DefinitionStatus(Wire, frozen=True):
    """Status of a definition."""

    conditions: list[Condition] | None = None


class Definition(Wire, frozen=True):
    """A CustomResourceDefinition, without its schemas."""

    metadata: Meta
    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()

    @property
    def group_kind(self) -> tuple[str, str]:
        """Group and kind of what it defines."""
        return self.spec.group, self.spec.names.kind

    def serves(self, version: str) -> bool:
        """Say whether objects can be read and written in a version."""
        stands = any(
            one.type == "Established" and one.status == "True"
            for one in self.status.conditions or ()
        )
        served = any(one.name == version and one.served for one in self.spec.versions)
        return stands and served and not self.metadata.deleting
