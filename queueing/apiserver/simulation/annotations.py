"""What manifests say to the simulation."""

from queueing.apiserver.tree import Object, metadata

RUN_SECONDS = "queueing.dev/simulate-seconds"
FAILURE = "queueing.dev/simulate-failure"
DRAIN_SECONDS = "queueing.dev/simulate-drain-seconds"
SAVE_SECONDS = "queueing.dev/simulate-save-seconds"
LAST_WORDS = "queueing.dev/simulate-message"
_DEFAULT_SECONDS = 1.0


def run_seconds(pod: Object, job: Object | None) -> float:
    """Return how long the pod runs, in simulated seconds: its own word, its Job's, else 1."""
    return _number(pod, job, RUN_SECONDS, _DEFAULT_SECONDS)


def drain_seconds(pod: Object, job: Object | None) -> float:
    """Return how long the pod takes to stop when it is deleted, in simulated seconds."""
    return _number(pod, job, DRAIN_SECONDS, 0.0)


def save_seconds(pod: Object, job: Object | None) -> float | None:
    """Return how long the pod takes to save when it is asked; None when it does not."""
    return _number(pod, job, SAVE_SECONDS, 0.0) if _word(pod, job, SAVE_SECONDS) else None


def fails(pod: Object, job: Object | None, failed_before: int) -> bool:
    """Tell whether the pod fails: `true` always, a number for that many pods of the Job."""
    word = _word(pod, job, FAILURE)
    return word == "true" or (word.isdigit() and failed_before < int(word))


def last_words(pod: Object) -> str:
    """Return what the pod leaves as its termination message."""
    return _word(pod, None, LAST_WORDS)


def _word(pod: Object, job: Object | None, name: str) -> str:
    for obj in (pod, job or {}):
        found = (metadata(obj).get("annotations") or {}).get(name)
        if found is not None:
            return str(found)
    return ""


def _number(pod: Object, job: Object | None, name: str, default: float) -> float:
    try:
        return max(0.0, float(_word(pod, job, name)))
    except ValueError:
        return default
