"""Twenty hostile texts, as the source and in all that is drawn of it: not one is run, and each is shown as what it is."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from core.examples import saved
from core.sessions import Store
from core.sessions.place import folder
from core.settings import Settings
from tests.browser.test_page import text_box, until
from tests.replayed import ANN

PAYLOADS = (
    "<script>window.fired=1</script>", "<img src=x onerror=window.fired=1>", "<svg onload=window.fired=1>",
    "<iframe srcdoc='<script>parent.fired=1</script>'></iframe>", "<a href=javascript:window.fired=1>x</a>",
    "<body onload=window.fired=1>", "<input autofocus onfocus=window.fired=1>", "<details open ontoggle=window.fired=1>",
    "<video><source onerror=window.fired=1></video>", "<math><mtext></math><img src=x onerror=window.fired=1>",
    "\"><img src=x onerror=window.fired=1>", "'><img src=x onerror=window.fired=1>", "</script><script>window.fired=1</script>",
    "</textarea><img src=x onerror=window.fired=1>", "</option></select><img src=x onerror=window.fired=1>",
    "${window.fired=1}", "{{constructor.constructor('window.fired=1')()}}", "`;window.fired=1;`",
    "[x](javascript:window.fired=1)![x](x\"onerror=\"window.fired=1)", "<style>@import'javascript:window.fired=1'</style>",
)


def spoilt(trace, payload: str):
    """A run whose every token, and its text, is the payload."""
    def token(one):
        return replace(one, text=payload)

    steps = tuple(replace(step, texts=(payload,) * len(step.texts)) for step in trace.steps)
    return replace(trace, settings=Settings(text=payload), source=tuple(map(token, trace.source)), steps=steps,
                   target=tuple(map(token, trace.target)), start=token(trace.start))


@pytest.fixture(scope="module")
def address(serve) -> str:
    return serve("app")


@pytest.fixture(scope="module")
def shared(address) -> str:
    store = Store(folder())
    session = store.create(ANN, PAYLOADS[1])
    store.annotate(session.id, ANN, PAYLOADS[0])
    for payload in PAYLOADS:
        row = store.keep(session.id, spoilt(saved()[2], payload))
        store.remark(session, row, payload, "row")
    store.share(session.id, ANN, {"tab": "sessions"})
    return session.id


def calm(page) -> None:
    assert page.evaluate("window.fired") is None
    assert page.locator("img, iframe, video, math, #ts-tabs script, #ts-tabs style:has-text('import')").count() == 0


def test_tokens_of_a_replay_and_of_a_lecture_are_only_text(open_page, address, shared):
    page = open_page(f"{address}/?session={shared}", viewport={"width": 1280, "height": 900})
    page.wait_for_selector("[data-ready]", state="attached")  # the link opens another tab
    for at, payload in enumerate(PAYLOADS):
        page.locator(".rb-root [data-ts=pick]").select_option(str(at))
        expect(text_box(page)).to_have_value(payload)
        expect(page.locator(".ts-output .ts-chip").first).to_have_text(payload)
        page.locator(".ts-chips .ts-chip").first.hover()
        calm(page)
    page.get_by_role("tab", name="Sessions").click()
    expect(page.locator(".sl-root")).to_be_visible()
    calm(page)
    page.context.close()


def test_what_is_typed_is_only_text_in_every_tab(open_page, address):
    page = open_page(address, viewport={"width": 1280, "height": 900})
    page.wait_for_selector("[data-ready]")
    for payload in PAYLOADS:
        before = page.evaluate("window.twoStacks.stepper.run()")
        text_box(page).fill(payload)
        page.get_by_role("button", name="Run", exact=True).click()
        until(page, f"s.run() !== {before!r} && s.steps() > 0")
        calm(page)
    for tab in ("Masks", "Noise", "Scores", "Sessions"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        calm(page)
    page.locator(".sl-card").first.click()
    expect(page.locator(".sl-entry")).to_have_count(len(PAYLOADS))
    page.get_by_label("Arrange a lecture").check()
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".lc-root")).to_be_visible()
    calm(page)
    page.context.close()
