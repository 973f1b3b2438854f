import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from queueing.cli.lazy import LazyGroup
from queueing.cli.main import COMMANDS, cli
from queueing_api.crd.generate import crds


def invoke(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, arguments, input=text)


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in COMMANDS])
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"queueing {name}" in result.output or "queueing run" in result.output


NOWHERE = """\
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {}}]
current-context: a
"""


@pytest.mark.parametrize(
    "command",
    ["plan --live", "credits", "suspend workload a", "hand-over", "uninstall"],
)
def test_a_cluster_that_does_not_answer_is_named_with_the_way_out(
    command: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(NOWHERE)
    result = invoke(*command.split(), "--kubeconfig", str(kubeconfig))
    assert result.exit_code == 2
    assert "there is no cluster: " in result.stderr
    assert "no connection to 127.0.0.1:1: Connection refused" in result.stderr
    assert "--kubeconfig or --context" in result.stderr


def test_the_version_is_told_by_a_flag_as_well() -> None:
    told = invoke("--version").output.split()
    assert told[-1] in invoke("version").output


def test_help_lists_the_commands_for_people_only() -> None:
    output = invoke("--help").output
    assert all(entry.summary in output for entry in COMMANDS.values() if not entry.hidden)
    assert "serve" not in output


def test_help_and_completion_import_nothing_slow() -> None:
    code = (
        "import sys; from queueing.cli.main import cli\n"
        "try: cli.main(['--help'], standalone_mode=False)\n"
        "finally: print('IMPORTED', sorted({*sys.argv[1:]} & {*sys.modules}))"
    )
    slow = ["aiohttp", "kubernetes_asyncio", "pydantic", "rich", "yaml"]
    done = subprocess.run(
        [sys.executable, "-c", code, *slow], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("IMPORTED []\n")


def test_completion_answers_from_the_table() -> None:
    assert isinstance(cli, LazyGroup)
    with cli.make_context("queueing", ["plan"]) as context:
        found = [one.value for one in cli.shell_complete(context, "de")]
    assert sorted(found) == ["delete", "demo", "dev", "devices"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_us_back(shell: str) -> None:
    result = invoke("completion", shell)
    assert result.exit_code == 0
    assert "_QUEUEING_COMPLETE" in result.output


def test_an_unknown_command_is_named() -> None:
    result = invoke("frobnicate")
    assert result.exit_code == 2
    assert "No such command 'frobnicate'" in result.output


def test_a_misspelt_command_is_answered_with_the_one_that_may_be_meant() -> None:
    result = invoke("simulat")
    assert result.exit_code == 2
    assert "No such command 'simulat'. Did you mean simulate?" in result.output


def test_version_speaks_json() -> None:
    found = json.loads(invoke("version", "-o", "json").output)
    assert set(found) == {"queueing", "python", "api"}


def test_crds_are_printed_whole_or_by_name() -> None:
    assert invoke("crds", "workloads", "-o", "table").output.count("\n") == 2
    listed = json.loads(invoke("crds", "-o", "json").output)
    assert {one["kind"] for one in listed["items"]} == {"CustomResourceDefinition"}
    assert len(listed["items"]) == len(crds())


def test_crds_of_an_unknown_kind_are_refused_with_the_known_ones() -> None:
    result = invoke("crds", "unicorns")
    assert result.exit_code == 2
    assert "no definition of unicorns; there are admissionchecks" in result.output


def test_a_closed_pipe_is_no_error_worth_a_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m queueing.cli.main crds | head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert "Traceback" not in done.stderr


INTERRUPTED_AT = """\
import importlib.abc, os, signal, sys
# As in a terminal: what a job in the background starts would ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from queueing.cli.entry import main
module, sys.argv = sys.argv[1], ["queueing", *sys.argv[2:]]
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
main()
"""


def interrupted_at(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that gets SIGINT when it comes to import a module."""
    command = [sys.executable, "-c", INTERRUPTED_AT, module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        pytest.param("queueing.cli.main", ["plan"], id="before the command line is read"),
        pytest.param("click", ["--help"], id="while what all commands need is loaded"),
        *(
            pytest.param(entry.module, [name], id=f"while {name} is loaded")
            for name, entry in COMMANDS.items()
        ),
        pytest.param("queueing.cli.live", ["plan", "--live"], id="in a command that loads more"),
    ],
)
def test_ctrl_c_while_anything_is_loaded_leaves_no_traceback(
    module: str, arguments: list[str]
) -> None:
    done = interrupted_at(module, *arguments)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "Interrupted."
