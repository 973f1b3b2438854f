from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from queueing.checkpoints.rules.answers import PodState, Word
from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Command, Driver, Endpoint, OnFailure, Terms
from queueing.checkpoints.wire import inbound, names, outbound, pods
from queueing.checkpoints.wire import objects as wire
from queueing.core.selectors import Requirement, Selector
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

NOW = 1_790_000_000.123
TERMS = Terms(
    driver=Driver.HTTP,
    ack_s=1.5,
    save_s=61,
    save_max_s=3600,
    heartbeat_s=5,
    fresh_s=1,
    grace_s=30,
    force_after_s=30,
    idle_after_s=1800.0,
    leader=Selector((Requirement(key="rank", operator="In", values=("0",)),)),
    refusal_limit=2,
    refusal_delay_s=10,
    on_failure=OnFailure.TRY_OTHER_VICTIM,
    http=Endpoint(port=8080, path="/save"),
    job=b'{"spec":{"template":{}}}',
    command=Command(words=("save", "--now"), container="main"),
)


def workload(name: str = "job-train-abcde", evictions: int = 2) -> Workload:
    counts = [{"reason": "Preempted", "underlyingCause": "", "count": evictions}]
    body = {
        "metadata": {"name": name, "namespace": "team", "uid": "u", "resourceVersion": "1"},
        "status": {
            "schedulingStats": {"evictions": counts},
            "conditions": [
                {"type": kind, "status": "True", "reason": "Preempted", "message": "m"}
                | {"lastTransitionTime": "2026-01-01T00:00:00Z"}
                for kind in ("QuotaReserved", "Evicted", "Preempted")
            ],
        },
    }
    return msgspec.convert(body, Workload)


def job() -> JobView:
    meta = {"name": "train", "namespace": "team", "uid": "job-uid", "resourceVersion": "1"}
    return batch_job({"metadata": meta, "spec": {"template": {}}})


def request() -> SaveRequest:
    cause = StopCause("Preempted", "preemptor-uid")
    return SaveRequest.made(
        outbound.request_id(workload(), 2), 2, cause, terms=TERMS, now=round(NOW, 3)
    )


def stored(record: Record) -> wire.Checkpoint:
    """Return the Checkpoint as the server keeps it after it was made and its record written."""
    origin = outbound.RequestOwners(workload=workload(), jobs=(job(),), policy="team/save")
    made: dict[str, Any] = msgspec.json.decode(outbound.made(origin, record.request))
    made["metadata"] |= {"uid": "c", "resourceVersion": "1"}
    meta = msgspec.json.decode(msgspec.json.encode(made), type=wire.Checkpoint).metadata
    written = msgspec.json.decode(outbound.status(meta, record))["status"]
    made["status"] = {key: value for key, value in written.items() if value is not None}
    return msgspec.json.decode(msgspec.json.encode(made), type=wire.Checkpoint)


def test_a_record_is_read_as_it_was_written() -> None:
    record = Record(
        request=request(),
        phase=Phase.SUSPENDING,
        message="the work is saved",
        outcome=SaveOutcome.SAVED,
        asked=("a", "b"),
        attempts=1,
        refusals=1,
        notified_at=NOW + 1,
        accepted_at=NOW + 2,
        save_by=NOW + 3,
        heard_at=NOW + 4,
        resume_at=NOW + 5,
        suspended_at=NOW + 6,
        kill_by=NOW + 7,
        ended_at=NOW + 8,
        saved=Saved(uri="s3://b/1", step=4, size=5, at=NOW, by="a"),
    )
    assert inbound.record(stored(record)) == record


def test_a_checkpoint_that_was_only_made_is_selected() -> None:
    record = Record(request=request())
    found = stored(record)
    assert inbound.record(found) == record
    owners = [(one.name, one.uid, one.controller) for one in found.metadata.owner_references]
    of = workload().metadata
    assert owners == [("train", "job-uid", False), (of.name, of.uid, False)]


def test_each_eviction_has_a_checkpoint_of_its_own_and_whoever_makes_it_names_it_alike() -> None:
    long = workload("x" * 253)
    assert outbound.name_of(long, 1) != outbound.name_of(long, 2)
    assert len(outbound.name_of(long, 12345)) == 253
    assert outbound.epoch_of(workload(evictions=7)) == 7
    assert outbound.request_id(long, 1) == outbound.request_id(long, 1)


def test_who_is_spared_is_evicted_no_more() -> None:
    written = msgspec.json.decode(outbound.spare(workload(), "it could not save", NOW))
    found = {one["type"]: (one["status"], one["reason"]) for one in written["status"]["conditions"]}
    assert found == {
        "QuotaReserved": ("True", "Preempted"),
        "Evicted": ("False", "Spared"),
        "Preempted": ("False", "Spared"),
    }


def test_terms_that_cannot_be_read_name_their_field() -> None:
    with pytest.raises(inbound.BadTermsError, match="duration"):
        inbound.terms(wire.Terms(driver="Annotation", ack_deadline="soon"))
    with pytest.raises(inbound.BadTermsError, match=r"spec\.leader"):
        inbound.terms(wire.Terms(driver="Annotation", answer_from="Leader"))
    with pytest.raises(inbound.BadTermsError, match=r"spec\.http"):
        inbound.terms(wire.Terms(driver="HTTP"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("yes", id="no JSON"),
        pytest.param('{"answer": "Maybe"}', id="an unknown word"),
        pytest.param('["Saved"]', id="a list"),
        pytest.param('{"answer": "Saved", "step": "many"}', id="no number"),
    ],
)
def test_what_is_no_answer_is_none(text: str) -> None:
    assert pods.answer(text) is None


def test_an_answer_is_read_whole() -> None:
    text = msgspec.json.encode(
        {
            "answer": "Saved",
            "requestID": "r",
            "epoch": 3,
            "uri": "s3://x/y",
            "step": 7,
            "size": -1,
            "later": "field",
        }
    )
    found = pods.answer(text)
    assert found is not None
    assert (found.word, found.request_id, found.epoch) == (Word.SAVED, "r", 3)
    assert (found.uri, found.step, found.size) == ("s3://x/y", 7, None)


def pod(
    phase: str = "Running", code: int | None = None, message: str = "", **meta: Any
) -> wire.Pod:
    state = {} if code is None else {"terminated": {"exitCode": code, "message": message}}
    body = {
        "metadata": {"name": "p", "namespace": "team", **meta},
        "status": {"phase": phase, "containerStatuses": [{"name": "c", "state": state}]},
    }
    return msgspec.convert(body, wire.Pod)


def test_the_last_words_of_a_container_are_an_answer_to_the_request_that_ended_it() -> None:
    record = Record(request=request())
    said = '{"answer": "Saved", "uri": "s3://x/9", "step": 9}'
    voice = pods.voice(pod("Failed", names.EXIT_CODE, said), record)
    assert voice.condition is PodState.LOST
    assert voice.answer is not None
    assert voice.answer.request_id == record.request.request_id
    assert voice.answer.step == 9
    assert pods.voice(pod("Failed", 1, said), record).answer is None, "a crash saved nothing"
    other = '{"answer": "Saved", "requestID": "another", "step": 9}'
    old = pods.voice(pod("Failed", names.EXIT_CODE, other), record).answer
    assert old is not None
    assert old.request_id == "another"


def test_a_pod_that_is_asked_finds_the_request_in_its_annotation() -> None:
    record = replace(Record(request=request()), resume_at=None)
    told = pods.notice(record)["metadata"]
    assert told["labels"] == {names.REQUEST: record.request.request_id}
    asked = msgspec.json.decode(told["annotations"][names.REQUEST])
    until = datetime.fromtimestamp(round(NOW + 1.5, 3), tz=UTC)
    assert datetime.fromisoformat(asked["ackBy"]) == until.replace(
        microsecond=until.microsecond // 1000 * 1000
    )
    assert asked["epoch"] == 2
    down = msgspec.json.decode(
        pods.notice(record, cancelled=True)["metadata"]["annotations"][names.REQUEST]
    )
    assert down["cancelled"] is True
