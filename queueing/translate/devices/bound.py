"""What claims of users' own asked for when their pods started, and whether that still holds.

A template is never changed, but it may be made anew with another content. The digest of the content
is told to the pods, where it outlives every restart of ours. It is compared only for templates
with another life: another spelling of the same content, by another version of ours, ends nobody.
"""

from typing import NamedTuple

import msgspec

from queueing.translate.devices.asks import PodDevices
from queueing.translate.devices.names import digest

_LENGTH = 16


class Asked(NamedTuple):
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


def asked_by_users(found: PodDevices) -> Asked | None:
    """Return what claims of a user's own ask for; None without any, or while one is not there."""
    own = [one for one in found.bound if not one.extended]
    if not own or any(one.spec is None for one in own):
        return None
    return Asked(
        lives=digest([(one.name, one.life) for one in own])[:_LENGTH],
        specs=digest([(one.name, msgspec.to_builtins(one.spec)) for one in own])[:_LENGTH],
    )
