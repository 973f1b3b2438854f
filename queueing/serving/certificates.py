"""The serving certificate: made by ourselves, renewed long before it ends, never kept in a file.

A CA signs one certificate for the names of the webhook service. Both live in a Secret so that all
replicas serve the same; the API server trusts the CA through the `caBundle` of our objects.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME_S = 365 * 24 * 3600
RENEW_BEFORE_S = 90 * 24 * 3600
BACKDATE_S = 3600
"""Clocks of nodes differ: a certificate that starts this far back is valid on all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM texts: the CA that signed (and after it the one before), the certificate, its key."""

    ca: bytes
    certificate: bytes
    key: bytes


def make(names: Sequence[str], now: float) -> Certificates:
    """Make a new CA and a certificate for these DNS names, valid from about `now`.

    The CA's key is thrown away: the next renewal makes a new CA, so there is nothing to steal.
    """
    start = _moment(now - BACKDATE_S)
    end = _moment(now + LIFETIME_S)
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "queueing-ca")])
    ca_id = x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key())
    ca = (
        _builder(ca_name, ca_name, ca_key.public_key(), (start, end))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(ca_id, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(ca_id)
    certificate = (
        _builder(subject, ca_name, key.public_key(), (start, end))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
        )
        .add_extension(authority, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return Certificates(
        ca=ca.public_bytes(serialization.Encoding.PEM),
        certificate=certificate.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def is_usable(held: Certificates, names: Sequence[str], now: float) -> bool:
    """Say whether a certificate serves these names, is signed by its CA, and is not due."""
    try:
        certificate = x509.load_pem_x509_certificate(held.certificate)
        ca = x509.load_pem_x509_certificate(held.ca)
        certificate.verify_directly_issued_by(ca)
        key = serialization.load_pem_private_key(held.key, None)
        served = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (ValueError, TypeError, x509.ExtensionNotFound, InvalidSignature):
        return False
    if key.public_key() != certificate.public_key():
        return False
    fresh = certificate.not_valid_after_utc.timestamp() - now > RENEW_BEFORE_S
    return fresh and set(names) <= set(served.value.get_values_for_type(x509.DNSName))


def first_certificate(bundle: bytes) -> bytes:
    """Return the first certificate of a PEM bundle; nothing when there is none."""
    try:
        return x509.load_pem_x509_certificate(bundle).public_bytes(serialization.Encoding.PEM)
    except ValueError:
        return b""


def service_names(service: str, namespace: str) -> tuple[str, ...]:
    """Return the DNS names by which the API server calls a service."""
    return (
        f"{service}.{namespace}.svc",
        service,
        f"{service}.{namespace}",
        f"{service}.{namespace}.svc.cluster.local",
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    valid: tuple[dt.datetime, dt.datetime],
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid[0])
        .not_valid_after(valid[1])
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(int(seconds), tz=dt.UTC)
