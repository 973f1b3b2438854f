from dataclasses import replace

import pytest

from queueing.checkpoints.rules.terms import (
    UNBOUNDED_BY_ADMIN,
    Command,
    Driver,
    Endpoint,
    OnFailure,
    Terms,
    faults,
    within,
)

TEAM = Terms(
    driver=Driver.ANNOTATION,
    ack_s=3600,
    save_s=86_000,
    save_max_s=86_000,
    refusal_limit=9,
    on_failure=OnFailure.ABORT,
)


def test_a_team_is_no_looser_than_its_admin() -> None:
    bounds = replace(TEAM, ack_s=10, save_s=60, save_max_s=90, on_failure=OnFailure.PROCEED)
    held = within(TEAM, bounds)
    assert (held.ack_s, held.save_s, held.save_max_s) == (10, 60, 90)
    assert held.on_failure is OnFailure.PROCEED


def test_a_team_may_be_tighter_than_its_admin() -> None:
    tight = replace(TEAM, ack_s=1, save_s=2, save_max_s=3, on_failure=OnFailure.PROCEED)
    held = within(tight, replace(TEAM, on_failure=OnFailure.ABORT))
    assert (held.ack_s, held.save_s, held.save_max_s) == (1, 2, 3)
    assert held.on_failure is OnFailure.PROCEED


def test_a_team_refuses_no_longer_and_no_more_often_than_its_admin_allows() -> None:
    bounds = replace(TEAM, refusal_limit=2, refusal_delay_s=30)
    held = within(replace(TEAM, refusal_delay_s=3600), bounds)
    assert (held.refusal_limit, held.refusal_delay_s) == (2, 30)
    held = within(replace(TEAM, refusal_limit=0, refusal_delay_s=5), bounds)
    assert (held.refusal_limit, held.refusal_delay_s) == (0, 5)


def test_without_an_admins_word_nobody_can_veto() -> None:
    held = within(TEAM, UNBOUNDED_BY_ADMIN)
    assert held.on_failure is OnFailure.TRY_OTHER_VICTIM
    assert (held.refusal_limit, held.refusal_delay_s) == (1, 60)
    assert held.save_max_s == 1800


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        pytest.param(replace(TEAM, ack_s=0), "ackDeadline", id="no time to answer"),
        pytest.param(
            replace(TEAM, save_s=90_000, save_max_s=90_000), "saveDeadline", id="more than a day"
        ),
        pytest.param(replace(TEAM, save_max_s=1), "saveDeadlineMax", id="an extension backwards"),
        pytest.param(
            replace(TEAM, save_s=5, heartbeat_s=15), "heartbeat", id="no beat before the end"
        ),
        pytest.param(replace(TEAM, driver=Driver.HTTP), "http", id="nowhere to post to"),
        pytest.param(replace(TEAM, driver=Driver.JOB), "job", id="no Job to make"),
        pytest.param(replace(TEAM, driver=Driver.EXEC), "exec", id="nothing to run"),
        pytest.param(
            replace(TEAM, driver=Driver.EXEC, command=Command(words=())), "exec", id="empty command"
        ),
    ],
)
def test_terms_that_nobody_can_meet_name_their_field(terms: Terms, field: str) -> None:
    assert [one.field for one in faults(terms)] == [field]


def test_good_terms_have_no_problem() -> None:
    assert list(faults(Terms(driver=Driver.HTTP, http=Endpoint(port=80, path="/x")))) == []
