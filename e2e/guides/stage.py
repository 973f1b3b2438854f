"""A cluster of `queueing dev` and a person before it, who types what a page says."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from e2e.guides.pages import ROOT, Command
from e2e.guides.printed import is_shown, normal
from e2e.guides.worlds import World, lasting, whole
from queueing.controller.process.recording_file import RecordingFile
from queueing.core.settings import Settings
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    workload,
)

WITHIN_S = 60.0
"""How long what a page shows may take to come."""
AGAIN_S = 0.3
_READS = re.compile(
    r"(\S+ \| )?"
    r"(kubectl( -n \S+)? (get|describe)|queueing (credits|explain|get|plan|trace|usage))\b"
)
"""Commands that may be typed again until they print what the page shows: they change nothing."""
_ENDLESS = re.compile(r"\s(-w|--watch|--follow|--for \d+m)\b|port-forward|^queueing (run|top|ui)\b")
"""Commands that go on until Ctrl-C."""
_MADE_UP = re.compile(r"\b[a-z0-9][a-z0-9-]*-[a-z0-9]{5}\b")
"""A name of which the cluster makes up the end."""
_KUBECONFIG = re.compile(r"kubectl --kubeconfig (\S+) get")


class Person:
    """Types commands into a shell, in a folder with the checkout's own."""

    def __init__(self, folder: Path, kubectl: str) -> None:
        self.folder, self.patience_s = folder, WITHIN_S
        paths = [Path(sys.executable).parent, Path(kubectl).parent, "/usr/bin", "/bin"]
        self._environment = {
            "PATH": ":".join(map(str, paths)),
            "HOME": str(folder),
            "KUBECONFIG": str(folder / ".kube" / "config"),
            "BROWSER": "true",
            "COLUMNS": "160",
            "LANG": "C.UTF-8",
        }

    def types(self, command: Command) -> None:
        """Type a command, as it is written, and see that it prints what is shown."""
        text = _MADE_UP.sub(self._real_name, command.text)
        plays = self._until_ctrl_c if _ENDLESS.search(text) else self._to_its_end
        deadline = time.monotonic() + WITHIN_S
        while (why := plays(text, command)) and time.monotonic() < deadline:
            if not (command.shown and _READS.match(text)):
                break
            time.sleep(AGAIN_S)
        assert not why, f"$ {text}\n{why}"

    def _to_its_end(self, text: str, command: Command) -> str:
        """Run a command; return what is wrong with what it did."""
        with self._running(text, subprocess.PIPE) as process:
            printed, said = process.communicate(timeout=self.patience_s)
        if process.returncode:
            return f"exit code {process.returncode}:\n{printed}{said}"
        return _difference(command, printed)

    def _until_ctrl_c(self, text: str, command: Command) -> str:
        """Run a command until it has printed what is shown, or something; and then end it."""
        printed: list[str] = []
        with self._running(text, subprocess.STDOUT) as process:
            assert process.stdout is not None
            reading = threading.Thread(target=lambda: printed.extend(process.stdout or ()))
            reading.start()
            deadline = time.monotonic() + WITHIN_S
            while time.monotonic() < deadline and process.poll() is None:
                if printed and not _difference(command, "".join(printed)):
                    break
                time.sleep(AGAIN_S)
            failed = process.poll()
            if failed is None:
                os.killpg(process.pid, signal.SIGINT)
                process.wait(WITHIN_S)
            reading.join(WITHIN_S)
        if failed or not printed:
            return f"exit code {process.returncode}:\n{''.join(printed)}"
        return _difference(command, "".join(printed))

    @contextmanager
    def _running(self, text: str, errors: int) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", text],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def _real_name(self, found: re.Match[str]) -> str:
        """Return the name that stands in this cluster for one of the page."""
        stem = found[0][:-5]
        kinds = "workloads,pods,checkpoints"
        known = self.kubectl("get", kinds, "-A", "-o", "name").split()
        names = (one.partition("/")[2] for one in known)
        return next(
            (one for one in names if one.startswith(stem) and len(one) == len(found[0])), found[0]
        )

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Do something that the page leaves to its reader."""
        done = subprocess.run(
            ["kubectl", *words],
            cwd=self.folder,
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, (words, stdin, done.stderr)
        return done.stdout

    def apply(self, *objects: Mapping[str, Any]) -> None:
        """Apply objects, as a reader who has saved them in a file."""
        self.kubectl(
            "apply",
            "-f",
            "-",
            stdin=yaml.safe_dump_all(map(lasting, map(whole, objects)), sort_keys=False),
        )


def _difference(command: Command, printed: str) -> str:
    if not command.shown or is_shown(command.shown, printed):
        return ""
    shown = "\n".join(normal(command.shown))
    return f"the page shows\n{shown}\nand this is printed\n{printed}"


@contextmanager
def stage(world: World, folder: Path, kubectl: str) -> Iterator[Person]:
    """Run the cluster of a page, until the block ends."""
    for name in ("config", "examples", "docs", "api"):
        (folder / name).symlink_to(ROOT / name)
    for name, text in world.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if world.recording:
        record(folder / world.recording)
    words = ["--no-samples"]
    if world.objects:
        (folder / "world.yaml").write_text(
            yaml.safe_dump_all(map(lasting, world.objects), sort_keys=False)
        )
        words += ["-f", str(folder / "world.yaml")]
    for one in world.given:
        words += ["-f", str(ROOT / one)]
    if world.configuration:
        written = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
        (folder / "dev.yaml").write_text(yaml.safe_dump({**written, **world.configuration}))
        words += ["--config", str(folder / "dev.yaml")]
    with _dev(words, folder) as kubeconfig:
        yield at_home(folder, kubectl, kubeconfig, world.namespace)


def at_home(folder: Path, kubectl: str, kubeconfig: Path, namespace: str) -> Person:
    """Return a person with a kubeconfig in their home, whose context has a namespace."""
    told = yaml.safe_load(kubeconfig.read_text())
    told["contexts"][0]["context"]["namespace"] = namespace
    (folder / ".kube").mkdir()
    (folder / ".kube" / "config").write_text(json.dumps(told))
    return Person(folder, kubectl)


def record(path: Path) -> None:
    """Record how a workload ends and another one is admitted."""
    file = RecordingFile(path)
    engine = file.engine(Settings())
    over = (condition("Finished", "Succeeded", changed=60.0),)
    ended = admitted("first", {"cpu": 8_000}, conditions=over)
    second = workload("second", {"cpu": 8_000}, created=30.0)
    for fact in (namespace(), flavor(), cluster_queue(), local_queue(), ended, second):
        engine.observe(fact)
    engine.cycle(61.0)
    file.close()


@contextmanager
def _dev(words: list[str], folder: Path) -> Iterator[Path]:
    log = folder / "dev.log"
    with log.open("w") as kept:
        process = subprocess.Popen(
            [Path(sys.executable).parent / "queueing", "dev", *words],
            stdout=subprocess.PIPE,
            stderr=kept,
            text=True,
            start_new_session=True,
        )
    assert process.stdout is not None
    with process:
        try:
            told = ""
            for line in process.stdout:
                told += line
                if "Ctrl-C" in line:
                    break
            found = _KUBECONFIG.search(told)
            assert found is not None, told + log.read_text()
            yield Path(found[1])
            os.killpg(process.pid, signal.SIGINT)
            rest, _ = process.communicate(timeout=WITHIN_S)
            assert "Stopped." in rest, rest + log.read_text()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
