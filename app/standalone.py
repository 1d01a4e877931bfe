"""A session as one HTML page that replays from disk: the stepper and its packs, no server, no network, no model."""

import html
import json
from collections.abc import Sequence
from typing import Any

from app.palette import variables
from app.widgets.scripts import script, styles
from app.widgets.stepper import SCRIPTS, TEMPLATE
from app.words import LANGUAGES

MOST_BYTES = 32 * 2**20
# What Gradio's theme gives the components; light or dark as the reader's system says.
_FRAME = """
:root { color-scheme: light dark; --font: system-ui, "Segoe UI", "Noto Sans", sans-serif; --color-accent: var(--c-blue);
  --body-text-color: #1f2937; --border-color-primary: #d9dee5; --block-background-fill: #fff; --input-background-fill: #fff;
  --link-text-color: var(--c-blue); }
:root.dark { --body-text-color: #f1f5f9; --border-color-primary: #3b4350; --block-background-fill: #1e293b;
  --input-background-fill: #334155; --link-text-color: var(--c-sky); }
body { margin: 0 auto; padding: 16px; max-width: 1400px; font-family: var(--font); color: var(--body-text-color);
  background: #fff; overflow-wrap: anywhere; }
.dark body { background: #0b1020; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; } p { margin: 0 0 .6rem; white-space: pre-wrap; }
#pick { font: inherit; max-width: 100%; margin-bottom: .8rem; padding: 4px 8px; }
"""
_START = """
const packs = PACKS, pick = document.getElementById("pick"), element = document.getElementById("stepper");
window.gradio_config = { i18n_translations: WORDS };
const dark = matchMedia("(prefers-color-scheme: dark)");
const shade = () => [document.documentElement, document.body].forEach((node) => node.classList.toggle("dark", dark.matches));
dark.onchange = shade;
shade();
packs.forEach((pack, i) => {
  const option = document.createElement("option");
  option.value = i;
  option.textContent = i + 1 + " · " + pack.input + " → " + pack.output;
  pick.append(option);
});
pick.hidden = packs.length < 2;
const props = { value: JSON.stringify(packs[0]), plotly_url: "" }, watchers = [];
const watch = (name, call) => watchers.push(call), trigger = () => {};
pick.onchange = () => { props.value = JSON.stringify(packs[pick.value]); watchers.forEach((call) => call()); };
"""


def page_of(name: str, note: str, packs: Sequence[dict[str, Any]]) -> str:
    """The page; `packs`: whole traces as core.records.browser_trace gives them. What asks a model is left out."""
    words = {language: {key: text for key, text in texts.items() if key.startswith("stepper.")}
             for language, texts in LANGUAGES.items()}
    begin = _START.replace("PACKS", _script(list(packs)), 1).replace("WORDS", _script(words), 1)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:">
<title>{html.escape(name)} · Two Stacks</title>
<style>{variables()}{_FRAME}#stepper {{ {styles("stepper")} }} [data-ts=explain] {{ display: none !important; }}</style></head>
<body><h1 dir="auto">{html.escape(name)}</h1><p dir="auto">{html.escape(note)}</p><select id="pick" aria-label="run"></select>
<div id="stepper">{TEMPLATE}</div>
<script>(() => {{ {begin}
(() => {{ {script("stepper", SCRIPTS)} }})(); }})();</script></body></html>
"""


def _script(value: Any) -> str:
    """JSON that no text in it can end or open an element with."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028") \
        .replace("\u2029", "\\u2029")
