"""`make shots`: a picture of every tab and of what opens in it, light, dark, phone and German, in shots/, to be looked at."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from app.words import LANGUAGES
from tests.bench.painting import browser, server
from tests.browser.tabs import open_tab

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60  # seconds for a page or a picture
TALLEST = 4200  # px of a picture; the sheets of formulas go on for ten times as much
# Look -> width in px, theme, the browser's language.
LOOKS = {"light": (1280, "light", "en"), "dark": (1280, "dark", "en"), "phone": (390, "light", "en"),
         "german": (1280, "light", "de")}
# Drawn: nothing has changed for a while in the page, however long that takes within limits.
CALM = """([rest, most]) => new Promise((resolve) => {
  const began = performance.now();
  let last = began;
  const watch = new MutationObserver(() => { last = performance.now(); });
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  const look = setInterval(() => {
    const now = performance.now();
    if (now - last < rest && now - began < most) return;
    clearInterval(look);
    watch.disconnect();
    resolve(now - began < most);
  }, 50);
})"""


class Scene(NamedTuple):
    """A picture: the tab, by the key of its name; what is done there; a selector of what must be drawn by then."""

    tab: str
    drawn: str
    act: Callable = lambda page: None


def _section(name: str) -> Callable:
    return lambda page: page.locator(f"#{name} > button.label-wrap").click()


def _sections(page) -> None:
    """Every closed section of the tab, open."""
    closed = "#ts-tabs > [role=tabpanel]:visible .ts-section button.label-wrap:not(.open)"
    while page.locator(closed).count():
        page.locator(closed).first.click()
        page.wait_for_timeout(100)


def _sheet(name: str) -> Callable:
    return lambda page: page.locator("#ts-formulas-cards .fc-sheets button", has_text=name).click()


def _dials(page) -> None:
    page.locator("#ts-formulas-cards [data-card='temperature'] .fc-mover").click()


SCENES = {
    "attention": Scene("attention", "[data-ready]"),
    "search": Scene("search", "#ts-search-tree svg rect"),
    "search-sections": Scene("search", "#ts-search-pointer-view [data-ts=root]", _sections),
    "masks": Scene("masks", "#ts-masks-maps canvas"),
    "masks-sections": Scene("masks", "#ts-masks-prefix-maps canvas", _sections),
    "noise": Scene("noise", "#ts-noise-view [data-source]"),
    "training": Scene("train", "#ts-train-teaching-view .tr-step"),
    "training-families": Scene("train", "#ts-train-kinds-view .tr-body table, #ts-train-kinds-view .tr-body button",
                               _section("ts-train-kinds")),
    "scores": Scene("scores", "#ts-scores-board table"),
    "formulas": Scene("formulas", "#ts-formulas-cards .fc-cards canvas"),
    "formulas-003": Scene("formulas", "#ts-formulas-cards [data-card='temperature']", _sheet("003")),
    "formulas-moved": Scene("formulas", "#ts-formulas-cards .fc-slot .main-svg", _dials),
    "formulas-004": Scene("formulas", "#ts-formulas-cards .fc-cards .fc-card", _sheet("004")),
    "sessions": Scene("sessions", ".sl-root"),
    "lecture": Scene("", ".lc-root"),
}


def shots(folder: Path, names: list[str], looks: list[str]) -> None:
    """Write folder/LOOK-SCENE.png for each scene and look, or for those named."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as chrome, server("app") as (address, _):
        for look in looks:
            width, theme, language = LOOKS[look]
            page = chrome.new_context(viewport={"width": width, "height": 900}, locale=language,
                                      reduced_motion="reduce").new_page()
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(f"{address}/?__theme={theme}")
            page.wait_for_selector("[data-ready]")
            page.wait_for_function("/ready|bereit/.test(document.querySelector('#ts-status').innerText)")
            for name in names:
                scene = SCENES[name]
                if scene.tab:
                    open_tab(page, LANGUAGES[language][f"page.{scene.tab}"])
                else:
                    page.goto(f"{address}/?lecture=4&__theme={theme}")
                scene.act(page)
                page.wait_for_selector(scene.drawn)
                still = page.evaluate(CALM, [500, 15000])
                path = folder / f"{look}-{name}.png"
                # in a window as tall as the page: what sticks to an edge of the window covers nothing
                height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
                page.set_viewport_size({"width": width, "height": height})
                still = page.evaluate(CALM, [300, 5000]) and still
                page.screenshot(path=path, animations="disabled")
                page.set_viewport_size({"width": width, "height": 900})
                print(path, "" if still else "(still changing)", flush=True)
            page.context.close()


def _hidden_token(page) -> None:
    """The word umbrella hidden by a mask, and what that changed."""
    page.locator("#ts-masks-grid [data-ts=cross]").click()
    page.locator("#ts-masks-grid [data-ts=cols] [data-at]", has_text="umbrella").click()
    page.wait_for_selector("#ts-masks-told [data-line=after]")
    page.mouse.move(0, 0)


# Picture of the README -> its scene, what of it is shown (from the first to the last of these, in px at most).
README = {
    "first-screen": (SCENES["attention"], ("#ts-head", "#ts-tabs .ts-foot"), 1500),
    "masks": (Scene("masks", "#ts-masks-maps canvas", _hidden_token), ("#ts-masks-grid", "#ts-masks-told"), 1100),
    "search": (SCENES["search"], ("#ts-search-tree", "#ts-search-tree"), 760),
    "noise": (SCENES["noise"], ("#ts-noise-picker", "#ts-noise-view"), 900),
}
EDGE = 12  # px around it
BETWEEN = """([first, last]) => {
  const [from, to] = [first, last].map((one) => document.querySelector(one).getBoundingClientRect());
  return [Math.min(from.top, to.top) + scrollY, Math.max(from.bottom, to.bottom) + scrollY];
}"""


def pictures(folder: Path) -> None:
    """Write folder/NAME-LOOK.png for the README, light and dark, each in 256 colours so that it stays small."""
    with browser() as chrome, server("app") as (address, _):
        for look in ("light", "dark"):
            for name, (scene, ends, most) in README.items():
                page = chrome.new_context(viewport={"width": 1280, "height": 2400}, reduced_motion="reduce").new_page()
                page.set_default_timeout(1000 * PATIENCE)
                page.add_init_script("localStorage.setItem('two-stacks-minutes', 'off')")
                page.goto(f"{address}/?__theme={look}")
                page.wait_for_selector("[data-ready]")
                page.wait_for_function("document.querySelector('#ts-status').innerText.match(/ready|bereit/)")
                open_tab(page, LANGUAGES["en"][f"page.{scene.tab}"])
                page.wait_for_selector(scene.drawn)
                scene.act(page)
                page.evaluate(CALM, [500, 15000])
                top, bottom = page.evaluate(BETWEEN, list(ends))
                clip = dict(x=0, y=max(0, top - EDGE), width=1280, height=min(bottom - top, most) + 2 * EDGE)
                path = folder / f"{name}-{look}.png"
                path.write_bytes(page.screenshot(clip=clip, animations="disabled"))
                with Image.open(path) as picture:
                    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
                print(path, f"{path.stat().st_size / 1e3:.0f} kB", flush=True)
                page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.shots", description=__doc__)
    parser.add_argument("scenes", nargs="*", help=f"only these of {', '.join(SCENES)}")
    parser.add_argument("--looks", nargs="*", default=list(LOOKS), choices=list(LOOKS))
    parser.add_argument("--out", type=Path, default=ROOT / "shots")
    parser.add_argument("--readme", action="store_true", help="only the README's own, into assets/pictures/")
    args = parser.parse_args()
    if args.readme:
        return pictures(ROOT / "assets" / "pictures")
    if strange := set(args.scenes) - set(SCENES):
        parser.error(f"no scene {', '.join(sorted(strange))}; the scenes: {', '.join(SCENES)}")
    shots(args.out, args.scenes or list(SCENES), args.looks)


if __name__ == "__main__":
    main()
