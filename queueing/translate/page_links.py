"""Where the page shows something, for who reads of it elsewhere."""

from urllib.parse import quote, urlsplit

NO_ADDRESS = "must be an address like https://queueing.example.com/ui"


def page_problem(url: str) -> str:
    """Say what is wrong with the address of the page; empty if nothing is."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return NO_ADDRESS
    if not good or any(one.isspace() or one in "()" for one in url):
        return NO_ADDRESS
    return "must have neither a query nor a fragment" if parts.query or parts.fragment else ""


def workload_page(page: str, namespace: str, name: str) -> str:
    """Return the address at which a workload is shown; empty where that of the page is not known.

    `page` is where the page is served for its visitors.
    """
    if not page:
        return ""
    parts = ("namespaces", namespace, "workloads", name)
    return "/".join((page.rstrip("/"), *(quote(one, safe="") for one in parts)))
