"""A cluster to test on, whoever started it, and how to speak to it."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from e2e import identities
from e2e.api import Api
from e2e.controlplane.build import Binaries
from e2e.process import Process, Program, Reaper
from e2e.wire import Access

KUBECTL_S = 120.0


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A running cluster. `accesses` holds an entry per identity of `e2e.identities`."""

    folder: Path
    binaries: Binaries
    reaper: Reaper
    accesses: dict[str, Access]
    audit_log: Path | None = None
    """Where the server logs each write, when it is ours and was asked to."""
    components: dict[str, Process] = field(default_factory=dict)
    programs: list[Process] = field(default_factory=list)
    """Whatever ran on the cluster since `forget_programs`, also what ended since."""
    _apis: dict[str, Api] = field(default_factory=dict)

    def api(self, identity: str = identities.ADMIN) -> Api:
        """Return the API as one identity sees it."""
        if identity not in self._apis:
            self._apis[identity] = Api(self.accesses[identity])
        return self._apis[identity]

    def grant(self, identity: str, access: Access) -> None:
        """Let tests speak as an identity, and write its kubeconfig anew."""
        self.accesses[identity] = access
        if former := self._apis.pop(identity, None):
            former.close()
        self.kubeconfig(identity).write_text(access.kubeconfig())

    def ensure_controller_account(self, labels: dict[str, str] | None = None) -> None:
        """Make the namespace and service account under which the product runs."""
        name, account = identities.CONTROLLER_NAMESPACE, identities.CONTROLLER_ACCOUNT
        namespace = {"metadata": {"name": name, "labels": labels or {}}}
        self.api().apply({"apiVersion": "v1", "kind": "Namespace", **namespace})
        place = {"metadata": {"name": account, "namespace": name}}
        self.api().apply({"apiVersion": "v1", "kind": "ServiceAccount", **place})

    def kubeconfig(self, identity: str = identities.ADMIN) -> Path:
        """Return the path of an identity's kubeconfig."""
        return self.folder / f"{identity}.kubeconfig"

    def through(self, port: int, identity: str) -> Path:
        """Write a kubeconfig that goes by way of another port of loopback; return its path."""
        access = replace(self.accesses[identity], server=f"https://127.0.0.1:{port}")
        path = self.folder / f"{identity}-{port}.kubeconfig"
        path.write_text(access.kubeconfig())
        return path

    def kubectl(
        self, *arguments: str, stdin: str = "", identity: str = identities.ADMIN, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl and return what it said; its exit code is for the caller to judge."""
        return subprocess.run(
            self.kubectl_command(*arguments, identity=identity),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=KUBECTL_S,
            check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **environment},
        )

    def kubectl_command(self, *arguments: str, identity: str = identities.ADMIN) -> list[str]:
        """Return the command that `kubectl` runs."""
        return [
            self.binaries.command("kubectl"),
            f"--kubeconfig={self.kubeconfig(identity)}",
            f"--cache-dir={self.folder / 'kubectl-cache'}",
            *arguments,
        ]

    def run(self, name: str, command: Sequence[str], **environment: str) -> Process:
        """Start a program with its log in the cluster's folder; the caller ends it."""
        log = self.folder / "logs" / f"{name}.log"
        process = Process(Program(name, command, log, environment=environment), self.reaper)
        self.programs.append(process)
        return process

    def run_component(self, name: str, flags: Sequence[str]) -> Process:
        """Start one of the built programs; it ends with the cluster."""
        process = self.run(name, [self.binaries.command(name), *flags])
        self.components[name] = process
        return process

    def stop(self) -> None:
        """End the components, last started first, each waited for."""
        for api in self._apis.values():
            api.close()
        while self.components:
            _, process = self.components.popitem()
            process.terminate(grace_s=15)

    def log_tails(self, lines: int = 15) -> str:
        """Return the ends of the logs: the components' and, longer, those of other programs."""
        components = list(self.components.values())
        others = [one for one in self.programs if one not in components]
        tails = [one.tail(lines) for one in components] + [one.tail() for one in others]
        return "\n".join(tails)

    def forget_programs(self) -> None:
        """Leave what ended out of later `log_tails`."""
        self.programs = [one for one in self.programs if one.running]
