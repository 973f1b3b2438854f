"""The manifests of a queue, as people write them: quota of cpu, in the flavor `default`."""

BREAK = "---\n"
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: team}
"""
FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
"""


def cluster_queue(name: str, cpu: int) -> str:
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {{name: default, resources: [{{name: cpu, nominalQuota: {cpu}}}]}}
"""


def local_queue(name: str, cluster_queue: str, namespace: str = "team") -> str:
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{clusterQueue: {cluster_queue}}}
"""


def queues(cluster: str, cpu: int, *local: str, namespace: str = "team") -> str:
    """Return a flavor, a ClusterQueue with so much of it, and the LocalQueues that lead there."""
    doors = (local_queue(name, cluster, namespace) for name in local)
    return BREAK.join((FLAVOR, cluster_queue(cluster, cpu), *doors))
