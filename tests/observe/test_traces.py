import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typing_extensions import override

from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.checkpoints.rules.times import Moments, stages
from queueing.observe.span_table import SPANS
from queueing.observe.spans import (
    Note,
    Placed,
    Round,
    SpanPlan,
    Timed,
    plan_cycle,
    plan_eviction,
    plan_spans,
    root_of,
)
from queueing.observe.trace_ids import SpanRef, parse_traceparent, trace_id_of
from queueing.observe.traces import TraceConfigurationError, Tracer, settings_from

SUBMITTER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
STORY = Round(
    uid="u-1",
    workload="ns/w",
    queued=100.0,
    reserved=160.0,
    admitted=170.0,
    placed=Placed(scheduled=180.0, claims=2, claimed=172.0, allocated=179.0),
    ready=200.5,
    attributes={"k8s.namespace.name": "ns", "queueing.cluster_queue": "cq"},
    reasons=(Note(101.0, "WaitingForQuota", {"message": "cpu"}), Note(150.0, "Preempting")),
    attempts=(
        Timed(name="attempt", began=101.0, ended=101.25, failure="no quota"),
        Timed(name="attempt", began=160.0, ended=160.25),
    ),
    victims=(
        Timed(name="victim", began=150.0, ended=155.0, notes=(Note(151.0, "notified"),)),
        Timed(name="victim", began=151.0, ended=159.0),
    ),
    steps=(
        Timed(name="status write", began=170.0, ended=170.5),
        Timed(name="unsuspend", began=170.5, ended=171.0),
    ),
    traceparent=SUBMITTER,
)


def tree(plans: tuple[SpanPlan, ...]) -> list[str]:
    """Draw the spans as an indented list with their times."""
    depth: dict[str, int] = {}
    drawn = []
    for plan in plans:
        parent = plan.parent.span_id if plan.parent else ""
        depth[plan.ref.span_id] = depth.get(parent, -1) + 1
        indent = "  " * depth[plan.ref.span_id]
        drawn.append(f"{indent}{plan.timed.name} {plan.timed.began:g}-{plan.timed.ended:g}")
    return drawn


def test_an_admission_is_one_tree_of_spans() -> None:
    plans = plan_spans(STORY)
    assert tree(plans) == [
        "admission 100-200.5",
        "  queued 100-160",
        "    attempt 101-101.25",
        "    attempt 160-160.25",
        "    preemption 150-159",
        "      victim 150-155",
        "      victim 151-159",
        "  admission checks 160-170",
        "  status write 170-170.5",
        "  unsuspend 170.5-171",
        "  pods scheduled 171-180",
        "    claims 172-179",
        "  pods ready 180-200.5",
    ]
    assert {plan.ref.trace_id for plan in plans} == {SUBMITTER.split("-")[1]}
    assert len({plan.ref.span_id for plan in plans}) == len(plans)
    assert plans[0].ref == root_of("u-1", SUBMITTER)
    assert plans[0].parent is not None
    assert plans[0].parent.traceparent == SUBMITTER
    assert plans[0].timed.attributes["queueing.cluster_queue"] == "cq"


@pytest.mark.parametrize(
    ("claimed", "allocated", "want"),
    [
        pytest.param(20.0, 179.0, "claims 171-179", id="waited for its first pods"),
        pytest.param(20.0, 60.0, "claims 171-171", id="had its devices before"),
    ],
)
def test_a_claim_that_pods_share_takes_no_time_of_before_their_start(
    claimed: float, allocated: float, want: str
) -> None:
    shared = Placed(scheduled=180.0, claims=1, claimed=claimed, allocated=allocated)
    found = [one.strip() for one in tree(plan_spans(replace(STORY, placed=shared)))]
    assert [one for one in found if one.startswith("claims")] == [want]


def test_every_span_has_its_row_in_the_reference() -> None:
    planned = (
        *plan_spans(STORY),
        *plan_eviction("u-1", 1, Timed(name="", began=1.0, ended=2.0)),
        plan_cycle("here", 1, Timed(name="", began=1.0, ended=2.0)),
    )
    known = {one.name for one in SPANS}
    assert {one.timed.name for one in planned} <= known
    record = Record(
        request=SaveRequest.made(
            "r", 1, StopCause("Preempted"), terms=Terms(driver=Driver.HTTP), now=1.0
        ),
        phase=Phase.RELEASED,
        notified_at=2.0,
        accepted_at=3.0,
        suspended_at=4.0,
    )
    moments = Moments(chosen_at=0.5, halted_at=5.0, drained_at=6.0)
    assert {one.name for one in stages(record, 9.0, moments)} <= known


def test_the_same_facts_give_the_same_spans_in_every_replica() -> None:
    assert plan_spans(STORY) == plan_spans(STORY)
    assert trace_id_of("u-1") != trace_id_of("u-2")


def test_a_later_round_hangs_below_the_first() -> None:
    (covering, *_) = plan_spans(Round(uid="u-1", workload="ns/w", number=1, queued=300, ready=400))
    assert covering.parent == root_of("u-1")
    assert covering.ref != root_of("u-1")


@pytest.mark.parametrize(
    ("told", "want"),
    [
        pytest.param(Round(uid="u", workload="w", queued=1.0), [], id="still waiting: nothing yet"),
        pytest.param(
            Round(uid="u", workload="w", queued=1.0, reserved=5.0, admitted=5.0),
            ["queued 1-5"],
            id="admitted at once: no checks, and the whole comes later",
        ),
        pytest.param(
            Round(uid="u", workload="w", queued=1.0, closed=5.0),
            ["admission 1-5", "  queued 1-5"],
            id="ended while waiting",
        ),
        pytest.param(
            Round(uid="u", workload="w", queued=9.5, reserved=9.0, admitted=9.0, ready=9.0),
            ["admission 9.5-9.5", "  queued 9.5-9.5", "  pods ready 9-9"],
            id="stored seconds never make a span that ends before it begins",
        ),
    ],
)
def test_only_what_is_over_is_told(told: Round, want: list[str]) -> None:
    assert tree(plan_spans(told)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(SUBMITTER, True, id="a valid one"),
        pytest.param(SUBMITTER.replace("0af", "0AF"), False, id="upper case"),
        pytest.param("ff" + SUBMITTER[2:], False, id="the forbidden version"),
        pytest.param("00-" + "0" * 32 + "-b7ad6b7169203331-01", False, id="an empty trace"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_what_counts_as_a_traceparent(text: str, want: bool) -> None:
    assert (parse_traceparent(text) is not None) is want


ON = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"}


@pytest.mark.parametrize(
    ("environment", "want"),
    [
        pytest.param({}, None, id="nothing is configured"),
        pytest.param({**ON, "OTEL_SDK_DISABLED": "true"}, None, id="disabled"),
        pytest.param({**ON, "OTEL_TRACES_EXPORTER": "none"}, None, id="no traces"),
        pytest.param(ON, "http://collector:4318/v1/traces", id="one endpoint for all signals"),
        pytest.param(
            {**ON, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"},
            "http://t/x",
            id="one of its own is taken as it is",
        ),
        pytest.param(
            {"OTEL_TRACES_EXPORTER": "otlp"}, "http://localhost:4318/v1/traces", id="the default"
        ),
    ],
)
def test_where_traces_go(environment: dict[str, str], want: str | None) -> None:
    settings = settings_from(environment)
    assert (settings.endpoint if settings else None) == want


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_TRACES_SAMPLER", "sometimes"),
    ],
)
def test_what_cannot_be_followed_is_named(variable: str, value: str) -> None:
    with pytest.raises(TraceConfigurationError, match=f"{variable}={value}"):
        settings_from({**ON, variable: value})


def test_a_ratio_must_be_one() -> None:
    wrong = {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "2"}
    with pytest.raises(TraceConfigurationError, match="OTEL_TRACES_SAMPLER_ARG=2"):
        settings_from(ON | wrong)


@pytest.mark.parametrize(
    ("sampler", "argument", "submitter", "want"),
    [
        pytest.param("parentbased_always_on", "", None, 1000, id="all by default"),
        pytest.param("always_off", "", True, 0, id="none"),
        pytest.param("parentbased_always_off", "", True, 1000, id="the submitter's decision"),
        pytest.param("parentbased_always_on", "", False, 0, id="also against"),
        pytest.param("traceidratio", "0.25", None, 250, id="a share, by the id"),
    ],
)
def test_which_traces_are_kept(
    sampler: str, argument: str, submitter: bool | None, want: int
) -> None:
    environment = {"OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": argument}
    settings = settings_from(ON | environment)
    assert settings is not None
    parent = None if submitter is None else SpanRef("1" * 32, "2" * 16, submitter)
    kept = sum(settings.keeps(trace_id_of(str(number)), parent) for number in range(1000))
    assert kept == pytest.approx(want, abs=60)


class Unused:
    """Where no span is sent."""

    def send(self, plan: SpanPlan) -> None:
        raise AssertionError(plan)

    def close(self) -> None:
        """There is nothing left."""


@pytest.mark.parametrize(
    ("trace_id", "want"),
    [
        pytest.param("1" * 32, {True}, id="below the share"),
        pytest.param("f" * 32, {False}, id="above it"),
    ],
)
def test_of_one_submitters_trace_all_workloads_are_kept_or_none(
    trace_id: str, want: set[bool]
) -> None:
    half = {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"}
    settings = settings_from(ON | half)
    assert settings is not None
    tracer = Tracer(settings, Unused())
    submitter = SpanRef(trace_id, "2" * 16).traceparent
    assert {tracer.keeps(str(number), submitter) for number in range(50)} == want


class Collector:
    """A receiver of OTLP over HTTP that decodes what comes."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.paths: list[str] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.paths.append(self.path)
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            @override
            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def collector() -> Iterator[Collector]:
    receiving = Collector()
    thread = threading.Thread(target=receiving.server.serve_forever, args=(0.01,))
    thread.start()
    yield receiving
    receiving.server.shutdown()
    receiving.server.server_close()
    thread.join(20)


async def test_a_collector_receives_the_whole_trace(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=prod,service.name=mine")
    tracer = Tracer.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, "1.2.3")
    assert tracer is not None
    assert tracer.keeps("u-1", SUBMITTER)
    tracer.export(plan_spans(STORY))
    await tracer.close()
    assert collector.paths == ["/v1/traces"]
    (resource_spans,) = collector.requests[0].resource_spans
    resource = {pair.key: pair.value.string_value for pair in resource_spans.resource.attributes}
    assert resource == {
        "service.name": "mine",
        "service.version": "1.2.3",
        "k8s.cluster.name": "prod",
    }
    spans = {span.name: span for span in resource_spans.scope_spans[0].spans}
    assert len(resource_spans.scope_spans[0].spans) == 13
    root, queued = spans["admission"], spans["queued"]
    assert root.trace_id.hex() == trace_id_of("u-1", SUBMITTER)
    assert root.parent_span_id.hex() == SUBMITTER.split("-")[2]
    assert root.end_time_unix_nano - root.start_time_unix_nano == 100_500_000_000
    assert queued.parent_span_id == root.span_id
    assert [event.name for event in queued.events] == ["WaitingForQuota", "Preempting"]
    attempts = [s for s in resource_spans.scope_spans[0].spans if s.name == "attempt"]
    assert sorted(span.status.message for span in attempts) == ["", "no quota"]


def test_without_configuration_there_is_no_tracer_and_no_sdk() -> None:
    code = (
        "import sys, queueing.observe.traces as t\n"
        "assert t.Tracer.from_environment({}, '1') is None\n"
        "assert not [m for m in sys.modules if m.startswith('opentelemetry')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
