"""The page behind a real nginx under a sub-path, set up as GUIDE.md says: one run, drawn in Chromium."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.visitors import free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
GUIDE = (Path(__file__).resolve().parents[2] / "GUIDE.md").read_text("utf-8")
pytestmark = pytest.mark.skipif(not NGINX, reason="no nginx here (Debian: apt-get install nginx-light)")
CONF = """
daemon off; worker_processes 1; pid FOLDER/pid; error_log FOLDER/error.log;
events {}
http {
  access_log off; include /etc/nginx/mime.types;
  client_body_temp_path FOLDER/b; proxy_temp_path FOLDER/p;
  fastcgi_temp_path FOLDER/f; uwsgi_temp_path FOLDER/u; scgi_temp_path FOLDER/s;
  server { listen 127.0.0.1:PORT; LOCATION }
}
"""


@pytest.fixture(scope="module")
def proxied(serve, tmp_path_factory):
    """The address of the page as nginx serves it."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    behind = serve("app", "--root-path", "/stacks")
    location = re.search(r"^```nginx\n(.*?)^```$", GUIDE, re.M | re.S)[1].replace("http://127.0.0.1:7860", behind)
    conf = folder / "conf"
    conf.write_text(CONF.replace("FOLDER", str(folder)).replace("PORT", str(port)).replace("LOCATION", location))
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(conf)])
    address, until = f"http://127.0.0.1:{port}/stacks/", time.monotonic() + 20
    while time.monotonic() < until:
        try:
            httpx.get(f"{address}healthz").raise_for_status()
            break
        except httpx.HTTPError:
            time.sleep(0.1)
    yield address
    process.terminate()
    process.wait(10)


def test_a_run_is_drawn_behind_a_proxy_under_a_sub_path(proxied, open_page):
    page = open_page(proxied)
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: failed.append((response.status, response.url)) if response.status >= 400 else None)
    page.reload()
    box = page.locator("#ts-text textarea")
    expect(box).to_be_visible()
    box.fill("Two cats sleep on a red sofa.")
    page.locator("#ts-run").click()
    expect(page.locator(".ts-root").first).to_contain_text("Zwei")
    page.wait_for_function("() => window.Plotly")  # our own static file
    assert asked and all(url.startswith((proxied, "data:", "blob:")) for url in asked), asked
    assert not failed
