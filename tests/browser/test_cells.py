"""Only rows that change are drawn: the picture is to the pixel what drawing all of it gives."""

import pytest

from tests.browser.stepper_view import frame, hook, part, send, still


@pytest.fixture(scope="module")
def page(open_page, serve):
    return still(open_page, serve)


def same_when_drawn_anew(page) -> None:
    frame(page)
    seen = hook(page, "pixels()")
    hook(page, "redraw()")
    assert seen == hook(page, "pixels()")
    assert any(seen[2:])


@pytest.mark.parametrize("name, steps", [("square", 12), ("pieces", 8), ("large", 128)])
def test_steps_and_jumps(page, name, steps):
    send(page, name, 2)
    for step in (3, 4, 3, steps, 1, 2, steps // 2):
        hook(page, f"goto({step})")
        same_when_drawn_anew(page)


def test_maps_words_and_themes(page):
    send(page, "pieces", 4)
    for choice in ("map=decoder", "map=encoder", "map=cross", "cover=sum", "layer=2", "cover=weights"):
        name, value = choice.split("=")
        part(page, name).select_option(value)
        frame(page)
        hook(page, "goto(5)")
        hook(page, "goto(6)")
        same_when_drawn_anew(page)
    for name in ("words", "hard", "specials"):
        part(page, name).click()
        hook(page, "goto(3)")
        hook(page, "goto(4)")
        same_when_drawn_anew(page)
        part(page, name).click()
    for change in ("add", "remove"):
        page.evaluate(f"document.body.classList.{change}('dark')")
        same_when_drawn_anew(page)


def test_what_follows_the_heatmap_is_there_by_the_next_frame(page):
    """The one after it where another drawing was due at that time, as after a change of size."""
    send(page, "square", 3)
    frame(page)
    shown = page.evaluate(
        """() => new Promise((done) => {
          const text = (name) => document.querySelector(`[data-ts=${name}]`).textContent;
          document.querySelector("[data-ts=forward]").click();
          const next = (then) => requestAnimationFrame(then);
          next(() => next(() => next(() => setTimeout(() => done([text("count"), text("caption")])))));
        })"""
    )
    assert shown[0] == "Step 4 of 12" and shown[1].startswith("Step 4 of 12")
