"""What an admission makes of a Job is what the golden manifests say, and can be undone exactly."""

import pytest

from tests.devices.wire.golden import (
    Golden,
    admitted,
    goldens,
    job_of,
    made,
    realised,
    started,
)
from tests.kinds.rows import applied
from tests.webhooks.pod_cases import rewritten

ALL = [pytest.param(one, id=one.path.stem) for one in goldens()]


@pytest.mark.parametrize("golden", ALL)
def test_an_admission_makes_what_the_manifest_says(golden: Golden) -> None:
    assert made(golden) == golden.expected


@pytest.mark.parametrize("golden", ALL)
def test_undoing_a_start_gives_the_job_its_template_back(golden: Golden) -> None:
    job = job_of(started(golden))
    undone = job.undo(admitted(job_of(golden.job), {}), b"")
    assert applied(started(golden), undone) == golden.job


@pytest.mark.parametrize("golden", ALL)
def test_a_started_job_is_still_that_of_its_workload(golden: Golden) -> None:
    job = job_of(golden.job)
    workload = admitted(job, golden.flavors)
    assert job_of(started(golden)).fits(workload)


@pytest.mark.parametrize("golden", ALL)
def test_a_pod_that_has_its_claim_is_left_alone(golden: Golden) -> None:
    assert rewritten(golden.expected["pod"]) == golden.expected["pod"]


@pytest.mark.parametrize("golden", ALL)
def test_names_are_valid_and_the_same_each_time(golden: Golden) -> None:
    first, second = realised(golden), realised(golden)
    assert first.plan == second.plan
    for one in first.objects:
        assert len(one["metadata"]["name"]) <= 63
        assert one["metadata"]["ownerReferences"][0]["uid"] == "job-uid"
