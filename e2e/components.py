"""The command lines of the control plane's components, and the files that they read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from e2e import certificates
from e2e.certificates import Pair

HOST = "127.0.0.1"
AUTHORITY = "e2e"
# Simulated nodes send no heartbeats: no session is as long as this.
NODE_GRACE = "12h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may differ between test clusters."""

    emulated_version: str = ""
    """`1.34`: behave as this minor version of Kubernetes."""
    audit: bool = True
    """Log every write with its user, for counting (about 2 % of the server's time)."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: tuple[str, ...] = ()

    def common_flags(self) -> list[str]:
        """Return the flags that all three Kubernetes components know."""
        emulated = [f"--emulated-version=kube={self.emulated_version}"]
        gates = ",".join(f"{name}={str(on).lower()}" for name, on in self.feature_gates.items())
        return [
            *(emulated if self.emulated_version else []),
            *([f"--feature-gates={gates}"] if gates else []),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one cluster, all in its folder."""

    folder: Path
    authority: Pair
    server: Pair
    front_proxy_authority: Pair
    front_proxy: Pair
    service_account_key: Path
    tokens: Path

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    @property
    def audit_policy(self) -> Path:
        return self.folder / "audit-policy.yaml"

    def kubeconfig(self, identity: str) -> Path:
        return self.folder / f"{identity}.kubeconfig"


def write_files(folder: Path, token_lines: str) -> Files:
    """Make the keys, certificates and policies of a new cluster."""
    authority = certificates.authority(folder, AUTHORITY)
    front_proxy_authority = certificates.authority(folder, "front-proxy")
    hosts = (HOST, "localhost", "kubernetes.default.svc", "10.96.0.1")
    files = Files(
        folder=folder,
        authority=authority,
        server=certificates.issue(folder, "server", issuer=authority, hosts=hosts),
        front_proxy_authority=front_proxy_authority,
        front_proxy=certificates.issue(folder, "front-proxy", issuer=front_proxy_authority),
        service_account_key=certificates.service_account_key(folder / "service-account.key"),
        tokens=folder / "tokens.csv",
    )
    files.tokens.write_text(token_lines)
    files.audit_policy.write_text(yaml.safe_dump(AUDIT_POLICY))
    return files


AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "verbs": ["create", "update", "patch", "delete", "deletecollection"],
            "omitManagedFields": True,
        },
        {"level": "None"},
    ],
}


def etcd(files: Files, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://{HOST}:{port}", f"http://{HOST}:{peer_port}"
    return [
        "--name=e2e",
        f"--data-dir={files.folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=e2e={peer}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--log-level=warn",
    ]


def apiserver(files: Files, options: Options, *, port: int, etcd_port: int) -> list[str]:
    audit = [f"--audit-policy-file={files.audit_policy}", f"--audit-log-path={files.audit_log}"]
    extra = ",".join(options.runtime_config)
    return [
        f"--etcd-servers=http://{HOST}:{etcd_port}",
        f"--secure-port={port}",
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        f"--tls-cert-file={files.server.certificate_file}",
        f"--tls-private-key-file={files.server.key_file}",
        f"--service-account-key-file={files.service_account_key}",
        f"--service-account-signing-key-file={files.service_account_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--token-auth-file={files.tokens}",
        "--authorization-mode=RBAC,Node",
        "--service-cluster-ip-range=10.96.0.0/16",
        # No API server of ours is reachable by an address, so none is advertised.
        "--endpoint-reconciler-type=none",
        f"--requestheader-client-ca-file={files.front_proxy_authority.certificate_file}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={files.front_proxy.certificate_file}",
        f"--proxy-client-key-file={files.front_proxy.key_file}",
        "--allow-privileged=true",
        "--max-requests-inflight=1000",
        "--max-mutating-requests-inflight=500",
        "--shutdown-delay-duration=0s",
        *(audit if options.audit else []),
        *([f"--runtime-config={extra}"] if extra else []),
        *options.common_flags(),
    ]


def controller_manager(files: Files, options: Options) -> list[str]:
    return [
        f"--kubeconfig={files.kubeconfig('controller-manager')}",
        f"--service-account-private-key-file={files.service_account_key}",
        f"--root-ca-file={files.authority.certificate_file}",
        "--use-service-account-credentials",
        "--authentication-skip-lookup",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--concurrent-job-syncs=16",
        "--concurrent-gc-syncs=8",
        "--concurrent-namespace-syncs=4",
        f"--node-monitor-grace-period={NODE_GRACE}",
        "--node-monitor-period=10m",
        *options.common_flags(),
    ]


def scheduler(files: Files, options: Options) -> list[str]:
    config = files.folder / "scheduler.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "clientConnection": {
                    "kubeconfig": str(files.kubeconfig("scheduler")),
                    "qps": 500,
                    "burst": 1000,
                },
                "leaderElection": {"leaderElect": False},
            }
        )
    )
    return [
        f"--config={config}",
        "--secure-port=0",
        "--authentication-skip-lookup",
        *options.common_flags(),
    ]


def kwok(kubeconfig: Path, *, lease_s: int) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--config={Path(__file__).with_name('kwok.yaml')}",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        f"--node-lease-duration-seconds={lease_s}",
        "--server-address=",
    ]
