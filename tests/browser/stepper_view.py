"""The stepper alone on a page, what the server sends it, and what it has drawn."""

import base64
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page

from tests.browser.first_tab import HOOK, until

READY = "[data-ready]"
MODULE = "tests.browser.stepper_page"


def still(open_page: Callable[..., Page], serve: Callable[[str], str]) -> Page:
    """A page that holds still: what is sent is drawn to its end at once."""
    page = open_page(serve(MODULE), viewport={"width": 1280, "height": 1000}, reduced_motion="reduce")
    page.wait_for_selector(READY)
    return page


def hook(page, call: str):
    return page.evaluate(f"{HOOK}.{call}")


def send(page, name: str, step: int | None = None) -> None:
    """Have the server send a whole pack, and stand still at a step of it."""
    page.locator(f"#{name}").click()
    until(page, f's.run() === "{name}" && s.steps() > 0')
    if step:
        hook(page, f"goto({step})")


def part(page, name: str):
    return page.locator(f'[data-ts="{name}"]')


def hover_cell(page, row: int, column: int) -> None:
    grid = hook(page, "geometry()")
    place = {"x": (column + 0.5) * grid["cw"], "y": (row + 0.5) * grid["ch"]}
    part(page, "cells").hover(position=place, force=True)


def weights(pack) -> np.ndarray:
    """(target, layers, heads, source) in float64, from the pack's float16."""
    shape = (*pack["shapes"]["cross"], len(pack["source"]))
    rows = [np.frombuffer(base64.b64decode(row["w"]), "<f2").reshape(shape) for row in pack["rows"]]
    return np.stack(rows).astype(np.float64)


def frame(page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def halves(text: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f2").reshape(shape).astype(np.float64)


def drawn(page) -> np.ndarray:
    """What is on the canvas, NaN where nothing may be read."""
    frame(page)
    return np.array(hook(page, "picture()")["values"], dtype=float)
