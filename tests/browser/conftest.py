"""A server on a free port, a Chromium, and pages that fail the test on a script error or a request off 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.first_tab import ready
from tests.visitors import free_port

STARTS_IN = PATIENCE = 90  # seconds a server, or a page, may take on a busy machine
SCREEN = {"width": 1280, "height": 900}
ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # nothing else can be reached, whoever asks
)
# What Gradio logs, without a pageerror, when a component's script fails; and our own warning for a damaged pack.
SCRIPT_FAILED = ("Error executing js_on_load", "Error in watch callback", "Error evaluating template", "stepper:")
# Svelte's own transitions, on a page that is being left: its style sheet has gone before them.
OF_GRADIO = ("reading 'insertRule'", "/assets/index-")
expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def serve(tmp_path_factory) -> Iterator[Callable[..., str]]:
    """serve("tests.browser.stepper_page") starts `python -m MODULE --port N`; its address, once it answers.

    It ends with the file of tests: pages that idle to the end would take a core from the others.
    """
    running: list[subprocess.Popen] = []

    def start(module: str, *arguments: str) -> str:
        port = free_port()
        log = tmp_path_factory.mktemp("server") / "log"
        command = [sys.executable, "-m", module, "--port", str(port), *arguments]
        with log.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        running.append(process)
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + STARTS_IN
        while time.monotonic() < until and process.poll() is None:
            try:
                with urllib.request.urlopen(address, timeout=5):
                    return address
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        pytest.fail(f"{module} did not start within {STARTS_IN} s:\n{log.read_text()}")

    yield start
    for process in running:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def address(serve) -> str:
    """The app's; a file of tests of something else has a fixture of its own by this name."""
    return serve("app")


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The system's Chromium. Without one the tests fail; only NO_BROWSER=1 leaves them out."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        if os.environ.get("NO_BROWSER", "0") not in ("", "0"):
            pytest.skip("NO_BROWSER=1")
        pytest.fail("no Chromium: install it, name it with CHROMIUM=/path, or leave these tests out with NO_BROWSER=1")
    return {"executable_path": path, "args": list(ARGUMENTS)}


@pytest.fixture(scope="session")
def troubles() -> list[str]:
    """What went wrong in any page since the last test."""
    return []


@pytest.fixture(autouse=True)
def no_trouble(troubles) -> Iterator[None]:
    troubles.clear()
    yield
    assert not [one for one in troubles if not (OF_GRADIO[0] in one and OF_GRADIO[1] in one)]


@pytest.fixture(scope="module")
def open_page(browser, troubles, serve) -> Iterator[Callable[..., Page]]:
    """open_page(address, **context options) -> a watched page, SCREEN wide and high where the options say nothing else.

    What is still open at the end of the file is closed, before `serve` ends the servers.
    """

    def asked(request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about", "file") and parts.hostname != "127.0.0.1":
            troubles.append(f"request off this machine: {request.url}")

    def said(message) -> None:
        if message.text.startswith(SCRIPT_FAILED):
            troubles.append(f"console: {message.text}")

    def open_(address: str, **options) -> Page:
        page = browser.new_context(**{"viewport": SCREEN} | options).new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("request", asked)
        page.on("pageerror", lambda error: troubles.append(f"pageerror: {error}\n{error.stack}"))
        page.on("console", said)
        page.goto(address)
        return page

    yield open_
    for context in browser.contexts:
        context.close()


@pytest.fixture(scope="module")
def page(open_page, address) -> Page:
    """The whole page with its model loaded, for all tests of a file; a file that begins elsewhere makes its own of it."""
    page = open_page(address)
    ready(page)
    return page


@pytest.fixture
def nothing_open(page) -> Iterator[None]:
    """After the test no sheet is open, and projector mode is off."""
    yield
    page.evaluate("document.querySelector('dialog[open]')?.close(); document.body.classList.remove('ts-projector')")
