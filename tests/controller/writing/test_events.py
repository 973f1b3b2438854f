import pytest

from queueing.controller.writing.events import Events
from queueing.core.settings import Compatibility
from queueing.kube.events import EventNote, EventType, Regarding
from queueing.translate.wire.meta import Meta
from tests.batch_jobs import batch_job

META = Meta(name="w", namespace="ns", uid="u")
JOB = batch_job({"metadata": {"name": "w", "namespace": "ns", "uid": "u"}})


class Book:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.kept: list[tuple[Regarding, EventNote]] = []

    def record(self, regarding: Regarding, note: EventNote) -> None:
        self.kept.append((regarding, note))


def an_admission(events: Events) -> None:
    events.job(JOB, "CreatedWorkload", "made")
    events.workload(META, "QuotaReserved", "reserved")
    events.workload(META, "Admitted", "admitted")
    events.job(JOB, "Started", "started")


def test_an_admission_costs_two_events() -> None:
    book = Book()
    an_admission(Events(book, Compatibility.QUEUEING))
    assert [note.reason for _, note in book.kept] == ["Admitted", "Started"]


def test_kueue_mode_records_all_of_kueues() -> None:
    book = Book()
    an_admission(Events(book, Compatibility.KUEUE))
    assert len(book.kept) == 4


def test_an_event_says_whom_it_is_about() -> None:
    book = Book()
    events = Events(book, Compatibility.QUEUEING)
    events.workload(META, "WaitingForQuota", "1 more needed", warning=True)
    regarding, note = book.kept[0]
    assert (regarding.kind, regarding.uid) == ("Workload", "u")
    assert (note.type, note.message) == (EventType.WARNING, "1 more needed")


def test_a_reservation_that_waits_for_checks_is_told_in_every_mode() -> None:
    for mode in Compatibility:
        book = Book()
        Events(book, mode).reserved(META, "reserved")
        assert [note.reason for _, note in book.kept] == ["QuotaReserved"]


PAGE = "https://queueing.example.com/ui/"


def linked(mode: Compatibility, page: str) -> list[str]:
    book = Book()
    events = Events(book, mode, page)
    events.waits(META, "WaitingForQuota", "1 more needed", [JOB])
    events.reserved(META, "reserved")
    events.job(JOB, "Started", "started")
    return [note.link for _, note in book.kept]


def test_events_about_a_workload_lead_to_its_page() -> None:
    where = "https://queueing.example.com/ui/namespaces/ns/workloads/w"
    assert linked(Compatibility.QUEUEING, PAGE) == [where, where, where, ""]


@pytest.mark.parametrize(
    ("mode", "page"),
    [
        pytest.param(Compatibility.QUEUEING, "", id="the page's address is not known"),
        pytest.param(Compatibility.KUEUE, PAGE, id="Events are Kueue's"),
    ],
)
def test_without_a_page_events_lead_nowhere(mode: Compatibility, page: str) -> None:
    assert set(linked(mode, page)) == {""}


def test_a_cohort_in_which_something_is_wrong_gets_a_warning() -> None:
    book = Book()
    Events(book, Compatibility.QUEUEING).cohort(Meta(name="pool", uid="u"), "spec: no good")
    regarding, note = book.kept[0]
    assert (regarding.kind, regarding.name, regarding.namespace) == ("Cohort", "pool", "")
    assert (note.type, note.message) == (EventType.WARNING, "Counts as not given: spec: no good")
