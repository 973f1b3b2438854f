"""Jobs, and what the API itself does to them. They are suspended, so no controller interferes."""

from typing import Any

import pytest

from tests.conformance.harness import Server, failed, job


@pytest.mark.parametrize(
    ("field", "want"),
    [
        ("parallelism", 1),
        ("completions", 1),
        ("backoffLimit", 6),
        ("completionMode", "NonIndexed"),
        ("suspend", True),
        ("manualSelector", False),
        ("podReplacementPolicy", "TerminatingOrFailed"),
    ],
)
def test_defaults_of_a_job(server: Server, field: str, want: Any) -> None:
    assert server.made(server.jobs, job())["spec"][field] == want


@pytest.mark.parametrize(
    ("field", "want"),
    [
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
        ("terminationGracePeriodSeconds", 30),
        ("securityContext", {}),
        ("restartPolicy", "Never"),
    ],
)
def test_defaults_of_its_pod_template(server: Server, field: str, want: Any) -> None:
    assert server.made(server.jobs, job())["spec"]["template"]["spec"][field] == want


@pytest.mark.parametrize(
    ("image", "want"),
    [("a", "Always"), ("a:latest", "Always"), ("a:1", "IfNotPresent"), ("h:5000/a", "Always")],
)
def test_the_pull_policy_follows_the_tag(server: Server, image: str, want: str) -> None:
    pod = {"containers": [{"name": "c", "image": image}]}
    made = server.made(server.jobs, job(pod=pod))
    assert made["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] == want


def test_a_container_has_nothing_but_its_defaults(server: Server) -> None:
    container = server.made(server.jobs, job())["spec"]["template"]["spec"]["containers"][0]
    assert container == {
        "name": "c",
        "image": "registry.example.com/work:1",
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }


def test_amounts_of_a_template_are_canonical_and_no_more(server: Server) -> None:
    amounts = {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {"cpu": "500m"}}
    pod = {"containers": [{"name": "c", "image": "i:1", "resources": amounts}]}
    made = server.made(server.jobs, job(pod=pod))
    assert made["spec"]["template"]["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "500m"},
    }


@pytest.mark.parametrize("labels", [{}, {"a": "b"}], ids=["none", "of the template"])
def test_a_job_without_labels_takes_those_of_its_pods(
    server: Server, labels: dict[str, str]
) -> None:
    body = job()
    body["spec"]["template"]["metadata"] = {"labels": labels}
    made = server.made(server.jobs, body)
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    assert labels.items() <= made["metadata"]["labels"].items()


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        pytest.param({"parallelism": "x"}, "JobSpec.spec.parallelism of type int32", id="number"),
        pytest.param({"template": []}, "JobSpec.spec.template of type", id="object"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(server: Server, spec: Any, part: str) -> None:
    answer = server.call("POST", server.jobs, job(**spec))
    text = 'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal'
    failed(answer, 400, text, part)


def test_an_unknown_field_of_a_job_is_refused_on_demand(server: Server) -> None:
    answer = server.call("POST", server.jobs, job(nonsense=1), fieldValidation="Strict")
    text = 'Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field'
    failed(answer, 400, text, '"spec.nonsense"')


def test_an_unknown_field_of_a_job_is_dropped_with_a_warning(server: Server) -> None:
    answer = server.made(server.jobs, job(nonsense=1))
    assert "nonsense" not in answer["spec"]
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.nonsense\\""'


def test_limits_are_requests_in_a_pod(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/serviceaccounts"
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    assert server.call("POST", path, body).status in (201, 409)
    resources = {"limits": {"cpu": "1000m"}}
    spec = {
        "schedulingGates": [{"name": "a.example.com/x"}],
        "containers": [{"name": "c", "image": "i:1", "resources": resources}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": spec}
    found = server.made(server.pods, pod)["spec"]["containers"][0]["resources"]
    assert found == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


def test_a_job_selects_its_own_pods(server: Server) -> None:
    made = server.made(server.jobs, job())
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert made["spec"]["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "one",
        "controller-uid": uid,
        "job-name": "one",
    }


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        pytest.param(
            job(parallelism=-1),
            ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
            id="parallelism",
        ),
        pytest.param(
            job(completions=-1), ["spec.completions: Invalid value: -1"], id="completions"
        ),
        pytest.param(
            job(backoffLimit=-1), ["spec.backoffLimit: Invalid value: -1"], id="backoff limit"
        ),
        pytest.param(
            job(pod={"restartPolicy": "Always"}),
            ["spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'],
            id="restart policy",
        ),
        pytest.param(
            job(pod={"containers": []}),
            ["spec.template.spec.containers: Required value"],
            id="no containers",
        ),
        pytest.param(
            job(pod={"containers": [{"name": "c"}]}),
            ["spec.template.spec.containers[0].image"],
            id="no image",
        ),
        pytest.param(
            job(pod={"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]}),
            ['spec.template.spec.containers[1].name: Duplicate value: "c"'],
            id="same name twice",
        ),
        pytest.param(job(completionMode="Indexed"), [], id="indexed"),
    ],
)
def test_a_broken_job_is_refused(server: Server, body: Any, parts: list[str]) -> None:
    answer = server.call("POST", server.jobs, body)
    if not parts:
        assert answer.status in (201, 422)
        return
    failed(answer, 422, 'Job.batch "one" is invalid: ', *parts)


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"parallelism": 5}, id="parallelism"),
        pytest.param({"suspend": True, "backoffLimit": 3}, id="backoff limit"),
        pytest.param({"template": {"spec": {"nodeSelector": {"a": "b"}}}}, id="node selector"),
        pytest.param(
            {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}, id="tolerations"
        ),
        pytest.param({"template": {"metadata": {"labels": {"a": "b"}}}}, id="labels of the pods"),
        pytest.param(
            {"template": {"metadata": {"annotations": {"a": "b"}}}}, id="annotations of the pods"
        ),
        pytest.param(
            {"template": {"spec": {"schedulingGates": [{"name": "a.example.com/x"}]}}}, id="gates"
        ),
    ],
)
def test_a_suspended_job_takes_scheduling_directives(server: Server, patch: Any) -> None:
    server.made(server.jobs, job())
    answer = server.merge(f"{server.jobs}/one", {"spec": patch})
    assert answer.status == 200, answer
    assert answer["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        pytest.param({"completions": 5}, "spec.completions", id="completions"),
        pytest.param({"completionMode": "Indexed"}, "spec.completionMode", id="completion mode"),
        pytest.param({"selector": {"matchLabels": {"a": "b"}}}, "spec.selector", id="selector"),
        pytest.param(
            {"template": {"spec": {"containers": [{"name": "c", "image": "other:2"}]}}},
            "spec.template",
            id="image",
        ),
    ],
)
def test_the_rest_of_a_job_is_immutable(server: Server, patch: Any, field: str) -> None:
    server.made(server.jobs, job())
    failed(server.merge(f"{server.jobs}/one", {"spec": patch}), 422, field, "field is immutable")


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        pytest.param("1 core", "quantities must match the regular expression", id="a word"),
        pytest.param("200MB", "quantities must match the regular expression", id="megabytes"),
        pytest.param("", "quantities must match the regular expression", id="nothing"),
        pytest.param("1kk", "unable to parse quantity's suffix", id="twice a thousand"),
    ],
)
def test_an_amount_that_is_none_is_refused(server: Server, amount: str, told: str) -> None:
    resources = {"requests": {"cpu": amount}}
    container = {"name": "c", "image": "registry.example.com/work:1", "resources": resources}
    answer = server.call("POST", server.jobs, job(pod={"containers": [container]}))
    failed(answer, 400, 'Job in version "v1" cannot be handled as a Job: ', told)


def test_a_job_waits_suspended(server: Server) -> None:
    made = server.made(server.jobs, job())
    assert made["metadata"]["generation"] == 1
    assert (
        server.call("DELETE", f"{server.jobs}/one", {"propagationPolicy": "Background"}).status
        == 200
    )


def test_jobs_are_selected_by_what_succeeded(server: Server) -> None:
    server.made(server.jobs, job())
    found = server.call("GET", server.jobs, fieldSelector="status.successful=0")
    assert [item["metadata"]["name"] for item in found["items"]] == ["one"]
