import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from queueing.apiserver.server import serve
from queueing.controller.admission_policies.installation import install, minor_version
from queueing.controller.admission_policies.rendering import (
    PROBE_LABEL,
    PolicyRules,
    digest_of,
    render,
    render_validation,
)
from queueing.core.selectors import Requirement, Selector
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.webhooks.suspension import kinds_on

SOME = Selector((Requirement(key="team", operator="Exists"),))


def rules(**more: Any) -> PolicyRules:
    usual: dict[str, Any] = {
        "namespaces": SOME,
        "without_queue_name": False,
        "namespace": "kueue-system",
    }
    return PolicyRules(**{**usual, **more})


def named(found: PolicyRules, name: str) -> dict[str, Any]:
    return next(
        wire
        for _, wire in render(found)
        if wire["metadata"]["name"] == name and wire["kind"] == "MutatingAdmissionPolicy"
    )


def test_every_policy_is_bound_and_the_probe_comes_last() -> None:
    kinds = [wire["kind"] for _, wire in render(rules())]
    assert kinds == ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"] * 6
    names = [wire["metadata"]["name"] for _, wire in render(rules())]
    assert names[-1] == "queueing-policy-probe"
    for _, wire in render(rules()):
        if wire["kind"] == "MutatingAdmissionPolicyBinding":
            assert wire["spec"]["policyName"] == wire["metadata"]["name"]


def test_managed_namespaces_are_those_of_the_configuration() -> None:
    spec = named(rules(), "queueing-suspend-jobs")["spec"]
    assert spec["matchConstraints"]["namespaceSelector"] == {
        "matchExpressions": [{"key": "team", "operator": "Exists"}]
    }


def test_jobs_without_a_queue_are_suspended_only_if_they_are_managed() -> None:
    def condition(found: PolicyRules) -> str:
        spec = named(found, "queueing-suspend-jobs")["spec"]
        return str(spec["matchConditions"][0]["expression"])

    assert "ownerReferences" not in condition(rules())
    assert "ownerReferences" in condition(rules(without_queue_name=True))


def test_what_an_object_of_a_kind_that_is_on_makes_is_not_suspended() -> None:
    kinds = kinds_on(["ray.io/rayjob", "ray.io/raycluster"], {})
    spec = named(rules(kinds=kinds), "queueing-suspend-jobs")["spec"]
    condition = spec["matchConditions"][0]["expression"]
    assert condition.count("in [['ray.io', 'RayCluster'], ['ray.io', 'RayJob']]") == 1


def test_a_default_queue_labels_and_suspends_at_once() -> None:
    """A policy does not see what another one changed, so that both must be in one."""
    policy = named(rules(), "queueing-default-queue")
    expression = policy["spec"]["mutations"][0]["jsonPatch"]["expression"]
    assert "path: '/metadata/labels/kueue.x-k8s.io~1queue-name', value: 'default'" in expression
    assert "path: '/spec/suspend', value: true" in expression
    assert policy["spec"]["paramKind"]["kind"] == "LocalQueue"


def test_gates_add_and_take_away_policies() -> None:
    def names(found: PolicyRules) -> set[str]:
        rendered = [*render(found), *render_validation(found)]
        return {wire["metadata"]["name"] for _, wire in rendered}

    usual, gated = names(rules()), names(rules(default_class=False, reject_unknown_flavors=True))
    assert usual - gated == {"queueing-default-priority"}
    assert gated - usual == {"queueing-validate-flavors-of-checks"}
    assert usual - names(rules(hands_trace=False)) == {"queueing-hand-trace"}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(rules(without_queue_name=True), id="jobs without a queue"),
        pytest.param(rules(namespaces=Selector()), id="namespaces"),
    ],
)
def test_the_probe_answers_for_exactly_these_policies(changed: PolicyRules) -> None:
    assert digest_of(render(rules())) == digest_of(render(rules()))
    assert digest_of(render(changed)) != digest_of(render(rules()))
    probe = named(rules(), "queueing-policy-probe")
    expression = probe["spec"]["mutations"][0]["applyConfiguration"]["expression"]
    assert f"'{PROBE_LABEL}': '{digest_of(render(rules()))}'" in expression


async def test_a_server_without_policies_does_not_keep_us_waiting() -> None:
    ready: list[bool] = []
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        assert await minor_version(client) == 0
        await install(client, rules(), lambda: ready.append(True))
    assert ready == [True]


class Accepting:
    """A server that takes all policies, and notes how long it is given for each, and for trials."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.held: dict[str, dict[str, Any]] = {}
        """What was applied, by path, with some defaults of a real server."""
        self.applied: list[str] = []
        self.digest = ""
        self.app = web.Application()
        self.app.router.add_get("/version", self.version)
        self.app.router.add_route("*", "/{path:.*}", self.take)

    async def version(self, _: web.Request) -> web.Response:
        return web.json_response({"major": "1", "minor": "36"})

    async def take(self, request: web.Request) -> web.Response:
        if "limit" in request.query:
            return web.json_response({"metadata": {}, "items": self.listed(request.path)})
        if request.method == "DELETE":
            self.held.pop(request.path)
        applied = request.method == "PATCH" and "polic" in request.path
        if applied:
            self.applied.append(request.path)
            self.held[request.path] = defaulted(await request.json())
        if applied or "dryRun" in request.query:
            self.given.append(request.query["timeout"])
        mark = {PROBE_LABEL: self.digest}
        spec = {"resourceClaims": [{"name": "any"}]}
        meta = {"name": "any", "uid": "1", "resourceVersion": "1", "annotations": mark}
        return web.json_response({"metadata": meta, "spec": spec})

    def listed(self, path: str) -> list[dict[str, Any]]:
        return [one for at, one in self.held.items() if at.rpartition("/")[0] == path]

    async def install(self, found: PolicyRules) -> list[str]:
        """Return the paths of what a start of the product applied."""
        self.applied, self.digest = [], digest_of(render(found))
        told = asyncio.Event()
        async with TestServer(self.app) as server:
            cluster = Cluster.plain(str(server.make_url("/")).rstrip("/"))
            async with Client(cluster, write_timeout_s=0.8) as client, asyncio.timeout(30):
                installing = asyncio.create_task(install(client, found, told.set))
                await told.wait()
                installing.cancel()
        return self.applied


def defaulted(wire: dict[str, Any]) -> dict[str, Any]:
    """Fill in what a server does, and what it keeps beside."""
    constraints = wire["spec"].get("matchConstraints")
    if constraints is not None:
        usual = {"namespaceSelector": {}, "matchPolicy": "Equivalent", "objectSelector": {}}
        wire["spec"]["matchConstraints"] = constraints = {**usual, **constraints}
        for rule in constraints["resourceRules"]:
            rule["scope"] = "*"
    wire["metadata"] |= {"uid": "u", "generation": 1, "managedFields": []}
    return wire


async def test_a_policy_may_take_longer_to_compile_than_a_decision_may_take_to_write() -> None:
    accepting = Accepting()
    await accepting.install(rules())
    assert set(accepting.given) == {"27.000s"}


async def test_what_the_server_has_already_is_not_written_again() -> None:
    accepting = Accepting()
    everything = {
        wire["metadata"]["name"] for _, wire in [*render(rules()), *render_validation(rules())]
    }
    applied = await accepting.install(rules())
    assert {path.rpartition("/")[2] for path in applied} == everything
    assert await accepting.install(rules()) == []


async def test_policies_of_a_kind_that_is_off_again_go_and_those_of_others_stay() -> None:
    accepting = Accepting()
    await accepting.install(rules())
    before = set(accepting.held)
    foreign = f"{next(iter(before)).rpartition('/')[0]}/queueing-of-somebody-else"
    accepting.held[foreign] = {"metadata": {"name": "queueing-of-somebody-else"}, "spec": {}}
    await accepting.install(rules(kinds=kinds_on(["kubeflow.org/mpijob"], {})))
    names = {path.rpartition("/")[2] for path in accepting.held}
    assert "queueing-validate-mpijobs.kubeflow.org" in names
    await accepting.install(rules())
    assert set(accepting.held) == {*before, foreign}


async def test_what_another_configuration_asks_for_is_written() -> None:
    accepting = Accepting()
    await accepting.install(rules())
    applied = await accepting.install(rules(namespaces=Selector()))
    names = {path.rpartition("/")[2] for path in applied}
    assert {"queueing-suspend-jobs", "queueing-validate-jobs", "queueing-policy-probe"} <= names
    assert "queueing-validate-workloads" not in names


def loosened(wire: dict[str, Any]) -> None:
    wire["spec"]["failurePolicy"] = "Ignore"


def narrowed(wire: dict[str, Any]) -> None:
    wire["spec"]["matchConstraints"]["objectSelector"] = {"matchLabels": {"only": "these"}}


def excepted(wire: dict[str, Any]) -> None:
    wire["spec"]["matchConditions"].append({"name": "never", "expression": "false"})


def added(wire: dict[str, Any]) -> None:
    wire["spec"]["matchConstraints"]["excludeResourceRules"] = [{"resources": ["*"]}]


def shortened(wire: dict[str, Any]) -> None:
    del wire["spec"]["validations"][-1]


def disowned(wire: dict[str, Any]) -> None:
    del wire["metadata"]["ownerReferences"]


def leaving(wire: dict[str, Any]) -> None:
    wire["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "edit", [loosened, narrowed, excepted, added, shortened, disowned, leaving]
)
async def test_what_somebody_edited_is_mended(edit: Callable[[dict[str, Any]], None]) -> None:
    accepting = Accepting()
    await accepting.install(rules())
    (path,) = [
        one
        for one in accepting.held
        if one.endswith("admissionpolicies/queueing-validate-workloads")
    ]
    edit(accepting.held[path])
    assert await accepting.install(rules()) == [path]


def test_what_refuses_follows_the_same_namespaces_and_spares_us() -> None:
    rendered = render_validation(rules(namespace="batch-system"))
    policies = {
        wire["metadata"]["name"]: wire["spec"]
        for resource, wire in rendered
        if resource.plural == "validatingadmissionpolicies"
    }
    assert len(policies) * 2 == len(rendered)
    of_jobs = policies["queueing-validate-jobs"]
    assert of_jobs["matchConstraints"]["namespaceSelector"] == {
        "matchExpressions": [{"key": "team", "operator": "Exists"}]
    }
    for spec in policies.values():
        assert "batch-system:kueue-controller-manager" in spec["matchConditions"][-1]["expression"]
