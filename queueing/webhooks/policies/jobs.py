"""Demands on Jobs beside those on all kinds: how many pods they may run with, and where."""

from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.jobs import COMPLETIONS_EQUAL, MIN_PARALLELISM
from queueing.webhooks.policies.demand import GROUP, WHOLE_NUMBER, Demand
from queueing.webhooks.policies.queued import beside_a_default_queue, policy_of
from queueing.webhooks.policies.topology import JOB_DEMANDS, OF_JOBS
from queueing.webhooks.suspension import JOB
from queueing.webhooks.workloads import ELASTIC

_VARIABLES: Final = {
    "parallelism": "object.spec.?parallelism.orValue(1)",
    # Nobody counts anew: the parallelism may be what an admission made of it.
    "admitted": "oldObject != null"
    " && object.spec.?parallelism.orValue(1) == oldObject.spec.?parallelism.orValue(1)"
    f" && object.metadata.?annotations[?'{MIN_PARALLELISM}']"
    f" == oldObject.metadata.?annotations[?'{MIN_PARALLELISM}']",
    "least": f"object.metadata.?annotations[?'{MIN_PARALLELISM}'].orValue('')",
    "equal": f"object.metadata.?annotations[?'{COMPLETIONS_EQUAL}'].orValue('false')",
    **OF_JOBS,
}
_PARTIAL: Final = (
    Demand(
        path=f"metadata.annotations[{MIN_PARALLELISM}]",
        expression=f"!('{MIN_PARALLELISM}' in variables.annotations)"
        f" || variables.least.matches('^{WHOLE_NUMBER}$')",
        message="must be a whole number",
    ),
    Demand(
        path=f"metadata.annotations[{MIN_PARALLELISM}]",
        expression=f"variables.admitted || !variables.least.matches('^{WHOLE_NUMBER}$')"
        " || (int(variables.least) > 0 && int(variables.least) < variables.parallelism)",
        message="should be between 0 and the parallelism less one",
        words="'should be between 0 and ' + string(variables.parallelism - 1)",
    ),
    Demand(
        path=f"metadata.annotations[{MIN_PARALLELISM}]",
        expression=f"variables.admitted || !('{MIN_PARALLELISM}' in variables.annotations)"
        f" || variables.annotations[?'{ELASTIC}'].orValue('') != 'true'",
        message="partial admission and elastic job cannot be used together",
    ),
    Demand(
        path=f"metadata.annotations[{COMPLETIONS_EQUAL}]",
        expression="variables.equal in ['true', 'false']",
        message="must be a boolean value",
    ),
    Demand(
        path=f"metadata.annotations[{COMPLETIONS_EQUAL}]",
        expression="variables.equal != 'true'"
        " || object.spec.?completionMode.orValue('NonIndexed') == 'Indexed'",
        message="should not be enabled for NonIndexed jobs",
    ),
    Demand(
        path="spec.completions",
        expression="variables.equal != 'true'"
        " || object.spec.?completions.orValue(1) == variables.parallelism",
        message=f"should be equal to parallelism when {COMPLETIONS_EQUAL} is true",
    ),
)
_OF_TEMPLATE: Final = (
    f"object.spec.template.?metadata.?annotations.orValue({{}}).exists(k, k.startsWith('{GROUP}'))"
)
_CHANGES: Final = (
    Demand(
        path="spec.parallelism",
        expression="variables.kept || oldObject.spec.?suspend.orValue(false)"
        f" || !('{MIN_PARALLELISM}' in variables.annotations)"
        " || object.spec.?parallelism == oldObject.spec.?parallelism",
        message="cannot change when partial admission is enabled and the job is not suspended",
        fault=CauseType.FORBIDDEN,
    ),
)

JOBS: Final = policy_of(
    JOB,
    variables=_VARIABLES,
    demands=(*_PARTIAL, *JOB_DEMANDS),
    changes=_CHANGES,
    marks=(_OF_TEMPLATE,),
)
JOBS_BESIDE_A_DEFAULT_QUEUE: Final = beside_a_default_queue(JOB)
