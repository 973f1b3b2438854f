import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.checkpoints.rules.terms import Driver
from queueing.cli.main import cli
from queueing.cli.output import UsageProblem
from queueing.cli.production.choices import Flags, parse_gates, read_choices
from queueing.cli.production.parts import serving_options
from queueing.cli.production.supervisor import supervise
from queueing.core.settings import Compatibility
from queueing.serving.process import serve
from queueing.testing.ports import HOST, free_ports
from queueing_api.kueue.convert import convert_review

CONFIG = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
OURS = "apiVersion: config.queueing.dev/v1alpha1\nkind: QueueingConfiguration\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["run", *arguments])


def flags(**given: str) -> Flags:
    empty = dict.fromkeys(
        (
            "config",
            "queueing_config",
            "kubeconfig",
            "context",
            "feature_gates",
            "compatibility",
            "namespace",
        )
    )
    return Flags(**{**empty, "log_format": "text", "log_level": "info", **given})


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("fairSharing: {}\n", "fairSharing.preemptionStrategies: required", id="list"),
        pytest.param("webhook: {port: 99999}\n", "webhook.port: ", id="a port out of range"),
        pytest.param("nonsense: 1\n", ":3: nonsense: unknown field", id="an unknown field"),
        pytest.param("integrations: {frameworks: [x]}\n", "frameworks[0]: ", id="a framework"),
        pytest.param(
            "featureGates:\n  Warp: true\n",
            "c.yaml:4: featureGates.Warp: unrecognized feature gate: Warp",
            id="a gate",
        ),
        pytest.param("webhook: [\n", "c.yaml:4: ", id="no YAML"),
        pytest.param("webhook: []\n", ":3: webhook: must be a mapping", id="a list"),
        pytest.param(
            "fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare]}\n",
            "fairSharing.enable: a field of v1beta1 only",
            id="a field of the older version",
        ),
        pytest.param(
            "integrations: {podOptions: {podSelector: {}}}\n",
            "integrations.podOptions: a field of v1beta1 only",
            id="another of these",
        ),
        pytest.param(
            "leaderElection: {leaseDurations: 15s}\n",
            "leaderElection.leaseDurations: unknown field; did you mean leaseDuration?",
            id="a typo",
        ),
    ],
)
def test_a_bad_configuration_is_refused_by_field(tmp_path: Path, text: str, want: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG + text)
    result = run("--config", str(path))
    assert result.exit_code == 2
    assert want in result.stderr


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        CONFIG
        + "webhook: {prt: 1, port: x}\n"
        + "fairSharing: {preemptionStrategies: [Least]}\n"
        + "waitForPodsReady:\n"
        + "  timeout: 10 minutes\n"
    )
    result = run("--config", str(path))
    assert result.exit_code == 2
    told = [line.removeprefix("Error: ") for line in result.stderr.splitlines()]
    places = [line.removeprefix(f"{path}:").partition(": ") for line in told]
    assert [(number, rest.partition(": ")[0]) for number, _, rest in places] == [
        ("3", "webhook.port"),
        ("3", "webhook.prt"),
        ("4", "fairSharing.preemptionStrategies[0]"),
        ("6", "waitForPodsReady.timeout"),
    ]


def test_gates_come_from_one_place(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG + "featureGates: {PartialAdmission: false}\n")
    result = run("--config", str(path), "--feature-gates", "PartialAdmission=true")
    assert result.exit_code == 2
    assert "cannot both specified" in result.stderr


def test_gates_and_namespace_of_the_command_line_are_taken() -> None:
    found = read_choices(flags(feature_gates="PartialAdmission=false", namespace="batch"))
    assert found.configuration.feature_gates == {"PartialAdmission": False}
    assert found.configuration.namespace == "batch"


def test_a_gate_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(UsageProblem, match="must be NAME=true or NAME=false"):
        parse_gates("PartialAdmission=maybe")


@pytest.mark.parametrize(
    ("text", "flag", "want"),
    [
        pytest.param("", "", Compatibility.QUEUEING, id="the default"),
        pytest.param("compatibility: Kueue\n", "", Compatibility.KUEUE, id="the file"),
        pytest.param("compatibility: Kueue\n", "Queueing", Compatibility.QUEUEING, id="the flag"),
    ],
)
def test_compatibility_is_chosen_by_flag_file_or_default(
    tmp_path: Path, text: str, flag: str, want: Compatibility
) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(OURS + text)
    given = {"queueing_config": str(path)} | ({"compatibility": flag} if flag else {})
    assert read_choices(flags(**given)).compatibility is want


def test_commands_are_run_in_containers_only_where_that_is_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(OURS)
    assert Driver.EXEC not in read_choices(flags(queueing_config=str(path))).drivers
    path.write_text(OURS + "checkpointDrivers: [Annotation, Exec]\n")
    found = read_choices(flags(queueing_config=str(path))).drivers
    assert found == {Driver.ANNOTATION, Driver.EXEC}


def test_the_address_of_the_page_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(OURS)
    assert read_choices(flags(queueing_config=str(path))).page == ""
    path.write_text(OURS + "pageURL: https://queueing.example.com/ui\n")
    assert read_choices(flags(queueing_config=str(path))).page == "https://queueing.example.com/ui"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(OURS + "compatibility: Slurm\n", ":3: compatibility: 'Slurm'", id="a word"),
        pytest.param(OURS + "credits: on\n", ":3: credits: unknown field", id="a field"),
        pytest.param(
            OURS + "checkpointDrivers: [Pigeon]\n", ":3: checkpointDrivers: 'Pigeon'", id="a driver"
        ),
        pytest.param(
            OURS + "pageURL: queueing/ui\n",
            ":3: pageURL: 'queueing/ui' must be an",
            id="an address",
        ),
        pytest.param(CONFIG, ":1: apiVersion: ", id="another kind of file"),
    ],
)
def test_a_bad_file_of_our_own_is_refused_by_field(tmp_path: Path, text: str, want: str) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(text)
    with pytest.raises(UsageProblem) as caught:
        read_choices(flags(queueing_config=str(path)))
    assert want in str(caught.value)


def test_without_a_cluster_it_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "queueing.cli.main", "run", "--no-serving"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "kubeconfig" in done.stderr.lower()


NOBODY = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
NAMED = ("--config", "config.yaml", "--kubeconfig", "kubeconfig")
FIELDS = (
    "health.healthProbeBindAddress",
    "metrics.bindAddress",
    "webhook.port",
    "visibilityServer.bindPort",
)


def configure(place: Path) -> tuple[int, ...]:
    """Write a kubeconfig that leads nowhere, and a configuration; return the ports of `FIELDS`."""
    ports = tuple(free_ports(len(FIELDS)))
    health, metrics, webhook, visibility = ports
    settings = {
        "health": {"healthProbeBindAddress": f"{HOST}:{health}"},
        "metrics": {"bindAddress": f"{HOST}:{metrics}"},
        "webhook": {"host": HOST, "port": webhook},
        "visibilityServer": {"bindAddress": HOST, "bindPort": visibility},
    }
    (place / "config.yaml").write_text(CONFIG + yaml.safe_dump(settings))
    (place / "kubeconfig").write_text(NOBODY)
    return ports


@contextmanager
def taking(place: Path, field: str) -> Iterator[str]:
    """Configure with the port of a field in use; yield what is told of it."""
    port = configure(place)[FIELDS.index(field)]
    with socket.create_server((HOST, port)):
        yield f"{field}: cannot listen on {HOST}:{port}: "


@pytest.mark.parametrize("field", FIELDS)
async def test_a_port_in_use_is_an_error_that_names_the_field(tmp_path: Path, field: str) -> None:
    with taking(tmp_path, field) as told:
        given = flags(config=str(tmp_path / "config.yaml"), kubeconfig=str(tmp_path / "kubeconfig"))
        options = serving_options(given, read_choices(given).configuration, tmp_path / "socket")
        with pytest.raises(ExceptionGroup) as caught:
            async with asyncio.timeout(60):
                await serve(options, convert_review)
    assert caught.group_contains(OSError, match=re.escape(told))


def test_a_port_in_use_ends_a_part_as_a_mistake_of_the_configuration_does(tmp_path: Path) -> None:
    with taking(tmp_path, "metrics.bindAddress") as told:
        done = subprocess.run(
            [sys.executable, "-m", "queueing.cli.main", "run", "--no-serving", *NAMED],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=tmp_path,
        )
    assert done.returncode == 2
    assert f"Error: {told}" in done.stderr
    assert "address already in use" in done.stderr


@contextmanager
def at_work(place: Path, temporary: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "queueing.cli.main", "run", *NAMED]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, cwd=place, env=environment, stderr=subprocess.DEVNULL) as run:
        try:
            yield run
        finally:
            run.terminate()


def wait_for_the_one_that_serves(temporary: Path, before: Sequence[Path] = ()) -> list[Path]:
    """Wait until all temporary files are those of one run, another than before; return them."""
    ends = time.monotonic() + 60
    while True:
        found = [*temporary.iterdir()]
        serving = len(found) == 1 and (found[0] / "serving.sock").exists()
        if serving and found != before:
            return found
        assert time.monotonic() < ends, f"there is {sorted(temporary.rglob('*'))}"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_run_after_a_killed_one_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    configure(tmp_path)
    with TemporaryDirectory() as name:  # its name is short, as that of a socket must be
        temporary = Path(name)
        with at_work(tmp_path, temporary) as first:
            left = wait_for_the_one_that_serves(temporary)
            first.kill()
        with at_work(tmp_path, temporary):
            wait_for_the_one_that_serves(temporary, left)
        assert list(temporary.iterdir()) == []


async def test_when_one_part_fails_the_whole_fails() -> None:
    async with asyncio.timeout(60):
        assert await supervise((["version"], ["dev", "--no-samples"])) == 1


async def test_a_signal_ends_all_parts_in_order() -> None:
    loop = asyncio.get_running_loop()
    loop.call_later(2.0, os.kill, os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(60):
        assert await supervise((["dev", "--no-samples"], ["dev", "--no-samples"])) == 0
