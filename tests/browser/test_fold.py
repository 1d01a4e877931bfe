"""What a newcomer sees without scrolling: a drawn translation, its heatmap with it, and where to type."""

import pytest

PLACES = """() => Object.fromEntries([["text", "#ts-text textarea"], ["run", "#ts-run"],
  ["written", ".ts-root [data-ts=text]"],
  ["labels", ".ts-root [data-ts=cols] span"], ["cells", ".ts-root [data-ts=cells]"],
  ["rows", ".ts-root [data-ts=rows] > :nth-child(3)"]]
  .map(([name, where]) => [name, document.querySelector(where).getBoundingClientRect().bottom + scrollY]).concat([
  ["top", document.querySelector(".ts-root [data-ts=cells]").getBoundingClientRect().top + scrollY]]))"""
# Window, language -> where the cells may begin, px from the top of the page. The phone shows them after one swipe.
SCREENS = [((1280, 900), "en", 700), ((1280, 900), "de", 725), ((1366, 768), "en", 700),
           ((390, 844), "en", 1110), ((390, 844), "de", 1150)]


@pytest.mark.parametrize(("size", "language", "most"), SCREENS, ids=lambda one: str(one))
def test_the_heatmap_is_in_sight(open_page, address, size, language, most):
    page = open_page(address, viewport={"width": size[0], "height": size[1]}, locale=language, reduced_motion="reduce")
    page.wait_for_selector("[data-ready]")
    page.wait_for_function("/ready|bereit/.test(document.querySelector('#ts-status').innerText)")
    page.wait_for_function("document.querySelector('.ms-root')")  # the strip for newcomers stands above it
    found = page.evaluate(PLACES)
    page.context.close()
    print(size, language, found)
    assert found["top"] <= most, found
    assert max(found["text"], found["run"]) < size[1]
    if size == (1280, 900):  # and rows of it, not only where they begin
        assert found["rows"] < size[1] and found["written"] < found["top"]
