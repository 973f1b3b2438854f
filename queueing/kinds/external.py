"""Kinds for whose objects another controller makes Workloads (`integrations.externalFrameworks`).

Nothing is done for these objects; but they queue for what they own, as jobs do.
"""

from queueing.translate.jobs.composition import JobKind


def external_kind(name: str) -> JobKind:
    """Return a kind by its name `Kind.version.group`; only a cluster tells its plural."""
    kind, version, group = name.split(".", 2)
    return JobKind(api_version=f"{group}/{version}", kind=kind, plural="")
