"""A real Chromium, driven by Playwright: that of this machine, as Playwright brings none along."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Tests may run as root, on machines that reach no other."""
WAIT_MS = 30_000


def chromium() -> str:
    """Return the path of a browser; fails with what to do where there is none."""
    chosen = os.environ.get("QUEUEING_BROWSER", "")
    found = chosen or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.fail(
            "The page is tested in a real browser, and there is none: `apt-get install chromium`, "
            "or set QUEUEING_BROWSER to the path of a Chromium or Chrome."
        )
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """Run a browser until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()
