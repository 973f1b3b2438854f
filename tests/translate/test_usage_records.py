"""UsageRecords between objects and rows."""

import msgspec
import pytest

from queueing.core.credits.facts import (
    PART,
    Member,
    RowName,
    UsageRecordFact,
    UsageRow,
)
from queueing.core.credits.folding import Resolution
from queueing.core.credits.holding import Holding, Runs
from queueing.core.names import FlavorName, FlavorResource, Key, QueueName, ResourceName, Uid
from queueing.translate import credits_wire as wire
from queueing.translate.usage_records import Stretch, usage_object, usage_record, usage_status
from queueing_api.queueing.v1alpha1 import UsageRecord
from queueing_api.scheme import decode

ALL = Member("Cohort", "all")
CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
HOUR = 1_700_000_000 // 3600 * 3600
RECORD = UsageRecordFact(
    root=ALL,
    start=HOUR,
    as_of=HOUR + 90,
    unit="GPUh",
    rows=(
        UsageRow(
            name=RowName(Member("ClusterQueue", "a"), "team/q", "ada", CPU),
            used=2**70,
            borrowed=7 * PART + 3,
            idle=5,
            wasted=6,
            cost=2**70,
        ),
        UsageRow(name=RowName(Member("Cohort", "left"), "", "", CPU), quota=9, lent=PART + 1),
    ),
    leavers=(
        Holding(
            uid=Uid("u"),
            queue=QueueName("a"),
            priority=3,
            since=HOUR,
            until=HOUR + 95,
            usage={CPU: 1000},
            local_queue=Key("team/q"),
            user="ada",
            runs=Runs(HOUR + 5, HOUR + 5),
        ),
    ),
)


def test_what_is_written_is_read_again_to_the_last_part() -> None:
    document = usage_object(Stretch(ALL, Resolution.HOUR, HOUR), usage_status(RECORD))
    found = msgspec.json.decode(msgspec.json.encode(document), type=wire.UsageRecord)
    assert usage_record(found) == RECORD
    assert isinstance(decode(document), UsageRecord), "its schema lets it in"


@pytest.mark.parametrize(
    ("root", "resolution", "name"),
    [
        pytest.param(ALL, Resolution.HOUR, "all.2023111422", id="hour"),
        pytest.param(ALL, Resolution.DAY, "all.20231114", id="day"),
        pytest.param(ALL, Resolution.MONTH, "all.202311", id="month"),
        pytest.param(Member("ClusterQueue", "all"), Resolution.MONTH, "all.q202311", id="queue"),
    ],
)
def test_a_record_is_named_by_its_tree_and_time(
    root: Member, resolution: Resolution, name: str
) -> None:
    assert Stretch(root, resolution, resolution.span(HOUR).begin).name == name


def test_trees_of_long_names_have_records_of_different_names() -> None:
    names = {
        Stretch(Member("Cohort", "a" * 250 + last), Resolution.HOUR, HOUR).name for last in "xyz"
    }
    assert len(names) == 3
    assert max(map(len, names)) <= 253
