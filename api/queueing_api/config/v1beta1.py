"""`config.kueue.x-k8s.io/v1beta1`: read by rewriting it as v1beta2.

Only what the older version said differently is rewritten; its remaining keys are checked as those
of the newer one.
"""

from typing import Any, Final

from queueing_api.config.queueing import FINAL_SHARE, INITIAL_SHARE
from queueing_api.config.zeros import is_zero

API_VERSION: Final = "config.kueue.x-k8s.io/v1beta1"
_PODS_READY_TIMEOUT: Final = "5m"  # the older default
_STRATEGIES: Final = [FINAL_SHARE, INITIAL_SHARE]  # where the older version names none


def as_v1beta2(document: dict[str, Any]) -> dict[str, Any]:
    """Return the same configuration in the words of v1beta2.

    There, blocks are on by being present: `enable` is gone from fairSharing and waitForPodsReady.
    So are `queueVisibility`, which has no effect any more, and `integrations.podOptions`, which
    speaks of the integration of plain pods only.
    """
    made = {**document, "apiVersion": "config.kueue.x-k8s.io/v1beta2"}
    made.pop("queueVisibility", None)
    integrations = made.get("integrations")
    if isinstance(integrations, dict):
        made["integrations"] = {k: v for k, v in integrations.items() if k != "podOptions"}
    _rewrite_fair_sharing(made)
    _rewrite_pods_ready(made)
    return made


def _rewrite_fair_sharing(made: dict[str, Any]) -> None:
    block = made.get("fairSharing")
    if not isinstance(block, dict):
        return
    rest = {key: value for key, value in block.items() if key != "enable"}
    if block.get("enable") is True:
        rest["preemptionStrategies"] = rest.get("preemptionStrategies") or _STRATEGIES
        made["fairSharing"] = rest
    elif block.get("enable", False) is False:
        del made["fairSharing"]


def _rewrite_pods_ready(made: dict[str, Any]) -> None:
    block = made.get("waitForPodsReady") or {}
    if not isinstance(block, dict):
        return
    rest = {key: value for key, value in block.items() if key != "enable"}
    if block.get("enable") is True:
        if is_zero(rest.get("timeout")):
            del rest["timeout"]
        made["waitForPodsReady"] = {
            "timeout": _PODS_READY_TIMEOUT,
            "blockAdmission": True,
            **rest,
        }
    elif block.get("enable", False) is False:
        made.pop("waitForPodsReady", None)
        gates = made.get("featureGates") or {}
        made["featureGates"] = {**gates, "DisableWaitForPodsReady": True}
