"""Controllers of kinds of jobs that are not Kubernetes' own, and the definitions of these kinds.

Each is built from its module when a test first needs it, into the cache of the control plane.
"""

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from e2e.controlplane.build import SOURCES, once, run

DOWNLOAD_S = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class JobController:
    """A program, and where its module has the definitions of its kinds and its webhooks."""

    module: str
    version: str
    package: str = ""
    """The program's folder in the module; empty for its root."""
    manifests: tuple[str, ...]
    """Folders of the module with what is to be applied."""

    @property
    def program(self) -> str:
        return (self.package or self.module).rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Built:
    """A controller that was built."""

    command: str
    manifests: Path
    """The folder with what is to be applied."""


JOBSET = JobController(
    module="sigs.k8s.io/jobset",
    version="v0.12.0",
    manifests=("config/components/crd/bases", "config/components/webhook"),
)
MPI = JobController(
    module="github.com/kubeflow/mpi-operator",
    version="v0.8.2",
    package="cmd/mpi-operator",
    manifests=("manifests/base",),
)
TRAINING = JobController(
    module="github.com/kubeflow/training-operator",
    version="v1.8.1",
    package="cmd/training-operator.v1",
    manifests=("manifests/base/crds", "manifests/base/webhook"),
)
TRAINER = JobController(
    module="github.com/kubeflow/trainer/v2",
    version="v2.0.0",
    package="cmd/trainer-controller-manager",
    manifests=("manifests/base/crds", "manifests/base/webhook"),
)


def built(one: JobController) -> Built:
    """Return a controller, built first when it is not in the cache. Raises BuildError."""
    folder = once(f"{one.program}-{one.version}", partial(_build, one))
    return Built(str(folder / one.program), folder / "manifests")


def _build(one: JobController, go: str, out: Path) -> None:
    download = [go, "mod", "download", "-json", f"{one.module}@{one.version}"]
    said = subprocess.run(
        download, cwd=SOURCES, stdout=subprocess.PIPE, check=True, timeout=DOWNLOAD_S
    )
    module = Path(json.loads(said.stdout)["Dir"])
    build = [go, "build", "-C", str(module), "-trimpath", "-ldflags", "-s -w"]
    run(one.program, [*build, "-o", str(out / one.program), f"./{one.package}"])
    (out / "manifests").mkdir()
    for path in one.manifests:
        for file in sorted((module / path).glob("*.yaml")):
            shutil.copyfile(file, out / "manifests" / file.name)
