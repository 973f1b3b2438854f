"""What can be looked at, by its path below the page's own."""

from queueing.serving.ui import account_views, quota_views, rack_views, workload_views
from queueing.serving.ui.paths import Paths

PATHS = Paths(
    (
        ("", quota_views.overview),
        ("cohorts/{name}", quota_views.cohort),
        ("clusterqueues/{name}", quota_views.cluster_queue),
        ("namespaces/{namespace}", quota_views.namespace),
        ("namespaces/{namespace}/localqueues/{name}", quota_views.local_queue),
        ("namespaces/{namespace}/workloads/{name}", workload_views.workload),
        ("racks", rack_views.flavors),
        ("racks/{name}", rack_views.racks),
        ("credits", account_views.credits_),
        ("usage", account_views.usage),
        ("devices", account_views.devices),
    )
)
