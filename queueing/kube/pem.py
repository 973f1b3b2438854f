"""Certificates and keys as bytes, handed to `ssl` without leaving a file behind.

`ssl` reads a certificate chain and its key from files only. Where the system has files in memory
(Linux), the key is never on a disk; elsewhere it passes through a temporary file of this user's
own, which is gone when it has been read.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


def as_text(certificates: bytes) -> str:
    """Return certificates in PEM as `ssl` takes those to trust; comments may lose letters."""
    return certificates.decode("ascii", errors="ignore")


def present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Present a certificate chain, in PEM, from the next connection on.

    Raises an OSError when it cannot be read, or the key does not fit.
    """
    with _file_of(certificate) as chain, _file_of(key) as private:
        context.load_cert_chain(chain, private)


@contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("pem"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name
