"""`make shots`: a picture of every tab, light, dark and on a phone, in shots/, to be looked at."""

import argparse
from pathlib import Path

from tests.bench.painting import PATIENCE, browser, server
from tests.browser.tabs import open_tab

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"light": 1280, "dark": 1280, "phone": 390}  # px wide
REST = 3000  # ms after a tab opens


def shots(folder: Path, names: list[str]) -> None:
    """Write folder/SIZE-TAB.png for each tab, or for those named."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as chrome, server("app") as (address, _):
        for name, width in SIZES.items():
            page = chrome.new_context(viewport={"width": width, "height": 900}).new_page()
            page.goto(f"{address}/?__theme={'dark' if name == 'dark' else 'light'}", timeout=1000 * PATIENCE)
            page.wait_for_selector("[data-ready]", timeout=1000 * PATIENCE)
            page.wait_for_function("document.querySelector('#ts-status').innerText.includes('ready')", timeout=1000 * PATIENCE)
            if not names:  # of the first page, which is wide: a narrow one keeps some in a menu
                names = [text.strip() for text in page.locator("#ts-tabs > .tab-wrapper [role=tab]:visible").all_text_contents()]
            for tab in names:
                open_tab(page, tab)
                page.wait_for_timeout(REST)
                path = folder / f"{name}-{tab.lower()}.png"
                page.screenshot(path=path, full_page=True)
                print(path, flush=True)
            page.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.shots", description=__doc__)
    parser.add_argument("tabs", nargs="*", help="only these, as they are named on the page")
    parser.add_argument("--out", type=Path, default=ROOT / "shots")
    args = parser.parse_args()
    shots(args.out, args.tabs)


if __name__ == "__main__":
    main()
