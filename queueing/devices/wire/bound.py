"""What users' own claims requested when their pods started, and whether that is still so.

The spec of a ResourceClaimTemplate is immutable, but a template may be deleted and created again
with another spec. The digest of its spec is written into the pods' annotations at the start, where
a restart of ours does not lose it. It is compared only if the template has another uid: a digest
that differs because another version of ours computed it evicts nobody.
"""

from typing import NamedTuple

import msgspec

from queueing.devices.wire.asks import PodDevices
from queueing.devices.wire.names import digest

_LENGTH = 16


class ClaimDigests(NamedTuple):
    """Digests of what the templates and claims that a pod names are, and of what they say."""

    lives: str
    specs: str

    @property
    def text(self) -> str:
        """The value of the pods' annotation."""
        return f"{self.lives}.{self.specs}"

    def replaces(self, told: str) -> bool:
        """Say whether what is there now is neither what pods were told nor says the same."""
        lives, _, specs = told.partition(".")
        return bool(specs) and self.lives != lives and self.specs != specs


def asked_by_users(found: PodDevices) -> ClaimDigests | None:
    """Return what claims of a user's own ask for; None without any, or while one is not there."""
    own = [one for one in found.bound if not one.extended]
    if not own or any(one.spec is None for one in own):
        return None
    return ClaimDigests(
        lives=digest([(one.name, one.life) for one in own])[:_LENGTH],
        specs=digest([(one.name, msgspec.to_builtins(one.spec)) for one in own])[:_LENGTH],
    )
