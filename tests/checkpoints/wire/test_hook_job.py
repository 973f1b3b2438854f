"""What is made of a policy's template, and what the Job's state amounts to."""

from typing import Any

import msgspec
import pytest

from queueing.checkpoints.rules.record import SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.checkpoints.wire import hook_job
from queueing.checkpoints.wire.objects import Pod
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta
from tests.batch_jobs import batch_job

META = Meta(name="train-1", namespace="team", uid="ckpt-uid")
Wire = dict[str, Any]


def request(template: Wire) -> SaveRequest:
    terms = Terms(driver=Driver.JOB, job=msgspec.json.encode(template), save_max_s=60.5)
    return SaveRequest.made("r1", 3, StopCause("Preempted", "p"), terms=terms, now=1_790_000_000.0)


def job(**status: Any) -> JobView:
    meta = {"name": "save-r1", "namespace": "team", "uid": "h", "resourceVersion": "1"}
    body = {"metadata": meta, "spec": {"template": {}}, "status": status}
    return batch_job(body)


def pod(message: str, code: int = 0) -> Pod:
    ended = {"terminated": {"exitCode": code, "message": message}}
    body = {
        "metadata": {"name": "p", "namespace": "team", "uid": "p", "resourceVersion": "1"},
        "status": {"containerStatuses": [{"name": "c", "state": ended}]},
    }
    return msgspec.convert(body, Pod)


def ended(kind: str, message: str = "") -> JobView:
    return job(conditions=[{"type": kind, "status": "True", "message": message}])


@pytest.mark.parametrize(
    "template",
    [
        pytest.param({}, id="empty"),
        pytest.param({"spec": 5, "metadata": "x"}, id="nonsense"),
        pytest.param({"spec": {"template": {"spec": {"containers": [3, {"env": 4}]}}}}, id="deep"),
    ],
)
def test_a_template_that_means_nothing_is_left_to_the_api_server_to_refuse(template: Wire) -> None:
    made = hook_job.made(request(template), META, {"A": "1"})
    assert made["metadata"]["name"] == "save-r1"
    assert made["spec"]["suspend"] is False


def test_a_deadline_of_its_own_counts_only_if_it_is_shorter() -> None:
    short = hook_job.made(request({"spec": {"activeDeadlineSeconds": 5}}), META, {})
    long = hook_job.made(request({"spec": {"activeDeadlineSeconds": 9999}}), META, {})
    assert short["spec"]["activeDeadlineSeconds"] == 5
    assert long["spec"]["activeDeadlineSeconds"] == 161  # 20 to begin, 60.5 to save, one refusal


@pytest.mark.parametrize(
    ("state", "pods", "want"),
    [
        pytest.param(job(), [], None, id="not begun"),
        pytest.param(None, [], {"answer": "Failed", "message": "it is gone"}, id="gone"),
        pytest.param(job(active=1), [], {"answer": "Heartbeat", "beat": "b"}, id="running"),
        pytest.param(job(failed=1), [], {"answer": "Heartbeat", "beat": "b"}, id="to be retried"),
        pytest.param(ended("Complete"), [], {"answer": "Saved"}, id="complete, and silent"),
        pytest.param(
            ended("Complete"),
            [pod("oh", 1), pod("snap://v/1\n")],
            {"answer": "Saved", "uri": "snap://v/1"},
            id="a URI",
        ),
        pytest.param(
            ended("Complete"),
            [pod('{"uri": "snap://v/2", "step": 2, "more": 1}')],
            {"answer": "Saved", "uri": "snap://v/2", "step": 2},
            id="an answer",
        ),
        pytest.param(
            ended("Complete"), [pod('{"uri": 5}')], {"answer": "Saved"}, id="no answer at all"
        ),
        pytest.param(
            ended("Complete"),
            [pod('{"answer": "Refused"}')],
            {"answer": "Failed", "message": "it answered Refused"},
            id="a word that makes no sense at the end",
        ),
        pytest.param(ended("Complete"), [pod("[1]")], {"answer": "Saved"}, id="a list"),
        pytest.param(
            ended("Failed", "too often"),
            [pod("disk full", 1), pod("fine", 0)],
            {"answer": "Failed", "message": "too often; disk full"},
            id="failed",
        ),
    ],
)
def test_the_state_of_the_job_is_its_answer(
    state: JobView | None, pods: list[Pod], want: Wire | None
) -> None:
    said = hook_job.said(request({}), state, pods, "b")
    if want is None:
        assert said == b""
    else:
        assert msgspec.json.decode(said) == {"requestID": "r1", "epoch": 3, **want}
