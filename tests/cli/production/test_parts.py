"""What of the Configuration reaches the serving process."""

import ssl
from pathlib import Path

import pytest

from queueing.cli.production.choices import Flags
from queueing.cli.production.parts import first_of, serving_options
from queueing.controller.process.recording_file import RecordingFile
from queueing.serving.process import ServingOptions
from queueing_api.config.ciphers import OPENSSL_NAMES
from queueing_api.config.load import ConfigurationError, load

FLAGS = Flags(
    config=None,
    queueing_config=None,
    kubeconfig=None,
    context=None,
    feature_gates=None,
    compatibility=None,
    namespace=None,
    log_format="text",
    log_level="info",
)


def options(text: str) -> ServingOptions:
    head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    return serving_options(FLAGS, load(head + text), Path("socket"))


@pytest.mark.parametrize("name", ["alive", "/alive"])
def test_probes_are_answered_where_the_configuration_says(name: str) -> None:
    found = options(f"health: {{livenessEndpointName: {name}, readinessEndpointName: up}}\n")
    assert (found.alive_path, found.ready_path) == ("/alive", "/up")


def test_zeros_of_a_program_in_go_leave_addresses_and_the_lease_as_they_are() -> None:
    written = options(
        'namespace: ""\n'
        'webhook: {port: 0, host: "", certDir: ""}\n'
        'health: {healthProbeBindAddress: "", livenessEndpointName: ""}\n'
        'metrics: {bindAddress: ""}\n'
        'leaderElection: {leaderElect: true, retryPeriod: 0s, resourceName: "",'
        ' resourceNamespace: ""}\n'
        'visibilityServer: {bindAddress: "", bindPort: 0}\n'
        'tls: {minVersion: "", cipherSuites: []}\n'
    )
    assert written == options("")
    assert written.lease is not None
    assert written.lease.name == "c1f6bfd2.kueue.x-k8s.io"


def test_versions_and_cipher_suites_of_tls_are_those_of_the_configuration() -> None:
    found = options(
        "tls:\n  minVersion: VersionTLS13\n"
        "  cipherSuites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n"
    )
    assert found.tls.minimum is ssl.TLSVersion.TLSv1_3
    assert found.tls.ciphers == ("ECDHE-RSA-AES128-GCM-SHA256",)


def test_a_cipher_suite_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match=r"tls\.cipherSuites\[0\].*is not supported"):
        options("tls: {cipherSuites: [TLS_NOTHING]}\n")


@pytest.mark.parametrize("name", sorted(filter(None, OPENSSL_NAMES.values())))
def test_openssl_knows_each_cipher_suite_that_can_be_chosen(name: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(f"{name}:@SECLEVEL=0")
    assert name in [one["name"] for one in context.get_ciphers()]


def test_a_file_that_cannot_be_written_is_told_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "life.jsonl"
    with pytest.raises(OSError) as error:
        RecordingFile(path)
    group = BaseExceptionGroup("tasks", [BaseExceptionGroup("more", [error.value])])
    assert first_of(group) == f"{path}: No such file or directory"
