"""The annotations by which the pods of the next run learn which checkpoint to resume from."""

from collections.abc import Mapping

from queueing.checkpoints.rules.record import Saved
from queueing.checkpoints.wire import names


def handed_over(saved: Saved | None, own: Mapping[str, str]) -> dict[str, str]:
    """Return annotations to add to pods that do not say otherwise themselves."""
    if saved is None:
        return {}
    told = {names.URI: saved.uri, names.STEP: "" if saved.step is None else str(saved.step)}
    return {name: value for name, value in told.items() if value and name not in own}
