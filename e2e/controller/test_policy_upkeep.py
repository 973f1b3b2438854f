"""What a leader does about admission policies that are there: nothing, or mend them."""

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.identities import CONTROLLER, IDENTITIES
from e2e.product import Residents, install
from e2e.wire import Object
from e2e.writes import audit_log

GROUP = "admissionregistration.k8s.io/v1"
KINDS = {
    f"{verb}AdmissionPolicy{more}": f"{verb}admissionpolic{plural}".lower()
    for verb in ("Mutating", "Validating")
    for more, plural in (("", "ies"), ("Binding", "ybindings"))
}
EDITED, DELETED = "queueing-validate-workloads", "queueing-suspend-jobs"


def test_a_new_leader_mends_the_policies_that_were_edited_and_writes_no_others(
    audited: Cluster, residents: Residents
) -> None:
    install(audited)
    residents.at(audited)
    api, log = audited.api(), audit_log(audited)
    as_rendered = specs(api)
    residents.leave(audited)

    policy = f"{GROUP}/ValidatingAdmissionPolicy"
    api.patch(policy, EDITED, {"spec": {"failurePolicy": "Ignore", "matchConditions": None}})
    api.delete(f"{GROUP}/MutatingAdmissionPolicyBinding", DELETED)
    assert specs(api) != as_rendered

    log.mark()
    residents.at(audited)
    user = IDENTITIES[CONTROLLER].user
    written = log.writes(user=user, resources=KINDS.values())
    assert sorted((one.resource, one.name) for one in written) == [
        ("mutatingadmissionpolicybindings", DELETED),
        ("validatingadmissionpolicies", EDITED),
    ]
    assert specs(api) == as_rendered


def specs(api: Api) -> dict[tuple[str, str], Object]:
    """Return what our policies and bindings say."""
    return {
        (kind, one["metadata"]["name"]): one["spec"]
        for kind in KINDS
        for one in api.items(f"{GROUP}/{kind}")
        if one["metadata"]["name"].startswith("queueing-")
    }
