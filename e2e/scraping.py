"""Reading the port of the metrics as a Prometheus does."""

import ssl
import urllib.error
import urllib.request

from e2e.components import HOST


def scraped(port: int, token: str, path: str = "/metrics") -> tuple[int, str]:
    """Return the status, and the text if there is one."""
    trust = ssl.create_default_context()
    # Scrapers that check the name use the Service's; the certificate is not for loopback.
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"https://{HOST}:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30, context=trust) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""
