"""What the servers accept of TLS, by the Configuration's `tls`."""

import ssl
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The lowest version, and the cipher suites of TLS 1.2 by OpenSSL's names; all when empty."""

    minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    ciphers: tuple[str, ...] = ()

    def context(self) -> ssl.SSLContext:
        """Return a server's context, still without a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = self.minimum
        if self.ciphers:
            context.set_ciphers(":".join(self.ciphers))
        return context


USUAL = TlsSettings()
"""What is accepted where the Configuration says nothing."""
