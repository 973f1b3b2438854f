"""Certificates and keys for one test cluster: an authority, the server's, the front proxy's."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Fixed dates: nothing here depends on the clock of the machine, and a cluster lives for minutes.
NOT_BEFORE = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
NOT_AFTER = dt.datetime(2049, 12, 31, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate with its private key, and where both are stored as PEM."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    certificate_file: Path
    key_file: Path


def authority(folder: Path, name: str) -> Pair:
    """Make a self-signed certificate authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
    )
    return _store(folder / f"{name}-ca", builder.sign(key, hashes.SHA256()), key)


def issue(folder: Path, name: str, *, issuer: Pair, hosts: tuple[str, ...] = ()) -> Pair:
    """Issue a certificate for a server (when `hosts` are given) or a client."""
    key = ec.generate_private_key(ec.SECP256R1())
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(name, _common_name(issuer.certificate), key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()),
            critical=False,
        )
    )
    if hosts:
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return _store(folder / name, builder.sign(issuer.key, hashes.SHA256()), key)


def service_account_key(path: Path) -> Path:
    """Store the key that signs service account tokens, and return its path."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(_pem(key))
    return path


def _builder(
    name: str, issuer: str, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_distinguished(name))
        .issuer_name(_distinguished(issuer))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _distinguished(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _common_name(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _store(stem: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    certificate_file, key_file = stem.with_suffix(".crt"), stem.with_suffix(".key")
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(_pem(key))
    return Pair(
        certificate=certificate,
        key=key,
        certificate_file=certificate_file,
        key_file=key_file,
    )
