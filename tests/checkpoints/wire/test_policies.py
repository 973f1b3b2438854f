from typing import Any

import msgspec
import pytest

from queueing.checkpoints.wire import inbound
from queueing.checkpoints.wire import objects as wire
from tests.webhooks.table import Row, written

POLICIES = [row for row in written() if row.kind == "CheckpointPolicy"]


def read(spec: dict[str, Any]) -> None:
    inbound.terms(msgspec.json.decode(msgspec.json.encode(spec), type=wire.Terms))


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in POLICIES if row.says])
def test_terms_that_are_refused_are_not_used_and_it_is_said_in_the_same_words(row: Row) -> None:
    with pytest.raises(inbound.BadTermsError) as refused:
        read(row.new["spec"])
    assert row.says in str(refused.value)
    assert str(refused.value).startswith("spec.")


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in POLICIES if not row.says])
def test_terms_that_are_accepted_are_used(row: Row) -> None:
    read(row.new["spec"])
