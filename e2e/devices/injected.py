"""Whether pods get their claims as the policy says, by whatever the server has for it."""

import copy

from e2e.api import Api
from e2e.wire import Object
from tests.webhooks.pod_cases import rewritten


def dry_run(api: Api, namespace: str, asked: Object) -> Object:
    """Return a pod as the API server would make it."""
    asked = copy.deepcopy(asked)
    asked["metadata"]["namespace"] = namespace
    path = f"/api/v1/namespaces/{namespace}/pods"
    made: Object = api.wire.call("POST", path, query={"dryRun": "All"}, body=asked)
    return made


def assert_as_the_policy_says(api: Api, namespace: str, asked: Object) -> None:
    """Compare what the server makes of a pod with what its policy does, evaluated here."""
    made, want = dry_run(api, namespace, asked), rewritten(asked)
    for part in ("resourceClaims", "schedulingGates"):
        assert made["spec"].get(part) == want["spec"].get(part)
    for part in ("containers", "initContainers"):
        found = [one["resources"] for one in made["spec"].get(part, ())]
        assert found == [one["resources"] for one in want["spec"].get(part, ())]
