"""What a kubeconfig says of one context: where the server is, whom to trust, and what to present.

kubernetes-asyncio merges the files, finds relative names, and speaks OIDC. Two things are done here
instead: inline certificates and keys, which it would write into temporary files that outlive a
killed process, and exec plugins, of which it forgets when a certificate ends.
"""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = "-data"


@dataclass(frozen=True, slots=True)
class Identification:
    """Certificates in PEM, empty where there is none: the server's CA, and ours with its key."""

    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a context."""

    namespace: str
    identification: Identification
    token_in_file: bool
    """Whether the token stands in a file that somebody renews."""
    end: float | None
    """When what a plugin gave ends, in epoch seconds."""


async def read_kubeconfig(names: str, context: str | None, settings: Any) -> Reading:
    """Read a context of the files with these names into the settings of kubernetes-asyncio.

    Raises what kubernetes-asyncio raises for what is no kubeconfig, and OSError for files.
    """
    from kubernetes_asyncio.config.kube_config import (  # noqa: PLC0415 - slow, see config
        KubeConfigLoader,
        KubeConfigMerger,
    )

    merged: Any = KubeConfigMerger(names).config
    loader: Any = KubeConfigLoader(merged, config_base_path=None, active_context=context)
    chosen = loader.current_context["context"]
    cluster = merged["clusters"].get_with_name(chosen["cluster"])["cluster"].value
    found = merged["users"].get_with_name(chosen.get("user"), safe=True)
    user = found["user"].value if found else {}
    given, end = await _asked(found["user"]) if "exec" in user else ({}, None)
    user.update(given)
    inline = {**_taken(cluster, "certificate-authority"), **_taken(user, "client-certificate")}
    inline.update(_taken(user, "client-key"))
    await loader.load_and_set(settings)
    return Reading(
        namespace=str(chosen.get("namespace") or "default"),
        identification=Identification(
            authority=inline.get("certificate-authority") or content_of(settings.ssl_ca_cert),
            certificate=inline.get("client-certificate") or content_of(settings.cert_file),
            key=inline.get("client-key") or content_of(settings.key_file),
        ),
        token_in_file="tokenFile" in user and "token" not in user,
        end=end,
    )


async def _asked(user: Any) -> tuple[dict[str, str], float | None]:
    """Ask the plugin of a user: what the user has from now on, and until when."""
    from kubernetes_asyncio.config.config_exception import (  # noqa: PLC0415 - as above
        ConfigException,
    )
    from kubernetes_asyncio.config.dateutil import parse_rfc3339  # noqa: PLC0415 - as above
    from kubernetes_asyncio.config.exec_provider import ExecProvider  # noqa: PLC0415 - as above

    status = await ExecProvider(user["exec"]).run()
    del user.value["exec"]
    given = {}
    if "token" in status:
        given["token"] = status["token"]
    if "clientCertificateData" in status and "clientKeyData" in status:
        given["client-certificate-data"] = _encoded(status["clientCertificateData"])
        given["client-key-data"] = _encoded(status["clientKeyData"])
    if not given:
        raise ConfigException("exec: the plugin gave neither a token nor a certificate with a key")
    end = status.get("expirationTimestamp")
    return given, parse_rfc3339(end).timestamp() if end else None


def _taken(entry: dict[str, Any], key: str) -> dict[str, bytes]:
    """Take out what stands inline, so that nobody else writes it into a file."""
    text = entry.pop(key + _SUFFIX, None)
    return {key: base64.b64decode(text, validate=True)} if text else {}


def content_of(file: str | None) -> bytes:
    """Read a file, if one is named."""
    return Path(file).read_bytes() if file else b""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
