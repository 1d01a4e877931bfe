"""Scales and categories for every kind of colour vision, and that no colour of theirs stands anywhere else."""

import itertools
import json
import re
from pathlib import Path

import pytest

from app import palette
from app.experiments import EXPERIMENTS
from app.formula_moves import look, moved
from tests.vision import BLINDNESS, apart, lab, linear, rgb, seen_by

ROOT = Path(__file__).resolve().parents[1]
SEEN = {"everyone": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], **BLINDNESS}
NEIGHBOURS, ANY = 20, 15  # CIE76; 2.3 is just noticed


def distance(one: str, other: str, who: str) -> float:
    return apart(seen_by(linear(rgb(one)), SEEN[who]), seen_by(linear(rgb(other)), SEEN[who]))


@pytest.mark.parametrize("who", SEEN)
@pytest.mark.parametrize("colours", [palette.CATEGORIES, palette.DARK], ids=["light", "dark"])
def test_categories_stay_apart(colours, who):
    assert min(distance(a, b, who) for a, b in zip(colours, colours[1:], strict=False)) > NEIGHBOURS
    assert min(distance(a, b, who) for a, b in itertools.combinations(colours, 2)) > ANY


@pytest.mark.parametrize("who", SEEN)
def test_what_grows_gets_lighter(who):
    lightness = [lab(seen_by(linear(rgb(one)), SEEN[who]))[0] for one in palette.SEQUENTIAL]
    assert all(b > a + 2 for a, b in zip(lightness, lightness[1:], strict=False)) and lightness[-1] - lightness[0] > 60


@pytest.mark.parametrize("who", SEEN)
def test_below_and_above_zero_differ_and_weigh_the_same(who):
    below, above = (seen_by(linear(rgb(one)), SEEN[who]) for one in (palette.BELOW, palette.ABOVE))
    assert apart(below, above) > 60 and abs(lab(below)[0] - lab(above)[0]) < 20


def test_scripts_css_and_plotly_have_the_same_colours():
    said = json.loads(palette.constant().removeprefix("const PALETTE = ").rstrip(";\n"))
    assert said["categories"] == list(palette.CATEGORIES) and said["below"] == rgb(palette.BELOW)
    assert said["sequential"] == [rgb(one) for one in palette.SEQUENTIAL]
    for name, colour in palette.NAMED.items():
        assert said[name] == colour and f"--c-{name}: {colour};" in palette.variables()
    assert look(False)["layout"]["colorway"] == palette.CATEGORIES and look(True)["layout"]["colorway"] == palette.DARK


def test_nobody_mixes_scales_of_their_own():
    """Outside app/palette.py no script, style or picture writes one of its colours, or names a scale of plotly's."""
    colours = {*palette.NAMED.values(), *palette.SEQUENTIAL}
    spelt = "|".join([*(one[1:] for one in colours), *(", ?".join(map(str, rgb(one))) for one in colours)])
    for folder, kinds in (("assets/js", "*.js"), ("assets/css", "*.css"), ("app", "*.py")):
        for path in (ROOT / folder).rglob(kinds):
            if path.name != "palette.py":
                text = path.read_text("utf-8")
                assert not re.search(spelt, text, re.I), path.name
                assert not re.search(r"RdBu|Blues\"|Greens|Reds|Jet|Rainbow|Viridis|turbo", text), path.name


@pytest.mark.parametrize("id", EXPERIMENTS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_figure_tells_its_parts_apart(id, dark):
    """Two lines of one figure differ in their dashes or for every eye; no line stands on red against green."""
    first = {dial.name: dial.first for dial in EXPERIMENTS[id].dials}
    figure = json.loads(moved({"id": id, "values": first, "dark": dark, "turn": 0})[1].plot)
    ways = figure["layout"]["template"]["layout"]["colorway"]
    named = [(k, trace) for k, trace in enumerate(figure["data"]) if trace.get("name") and "lines" in trace.get("mode", "")]
    lines = [(trace.get("line", {}).get("color") or ways[k % len(ways)], trace.get("line", {}).get("dash", "solid"),
              trace.get("xaxis", "x")) for k, trace in named]
    for one, other in itertools.combinations(lines, 2):
        if one[1:] == other[1:]:
            assert min(distance(one[0], other[0], who) for who in SEEN) > 10, (one, other)


# States that stand beside each other: file of assets/css -> the rules that tell them apart.
STATES = {
    "beam_tree": (".bt-box.bt-best rect", ".bt-box.bt-ended rect", ".bt-box.bt-pruned rect"),
    "findings": (".fd-gone", ".fd-new", ".fd-moved", ".fd-here", ".fd-still"),
    "noise": (".nz-moved", ".nz-by-hand::after", ".nz-linked"),
    "stepper": (".ts-col.ts-undercovered", ".ts-col.ts-overcovered"),
}
COLOURS = ("color", "background", "fill", "stroke", "opacity")


def shape(style: str, rule: str) -> str:
    """What a rule sets besides colours."""
    told = re.search(rf"(?:^|\}}|,)\s*{re.escape(rule)}\s*\{{([^}}]*)\}}", style, re.M)
    assert told, rule
    pairs = [part.strip().split(":", 1) for part in told[1].split(";") if part.strip()]
    kept = [f"{name}:{value}" for name, value in pairs if name not in COLOURS and not name.endswith("-color")]
    return re.sub(r"color-mix\([^;]*\)|var\(--[^)]*\)|#[0-9a-f]{3,8}\b", "", ";".join(kept))


@pytest.mark.parametrize("file", STATES)
def test_no_state_is_told_by_colour_alone(file):
    style = (ROOT / "assets" / "css" / f"{file}.css").read_text("utf-8")
    shapes = [shape(style, rule) for rule in STATES[file]]
    assert all(shapes) and len(set(shapes)) == len(shapes) == len(STATES[file])


def test_a_state_of_colour_alone_is_found():
    assert shape(".a { color: var(--x); background: #fff; border-color: red }", ".a") == ""
    assert shape(".a { border: 2px solid var(--x) }", ".a") == shape(".a { border: 2px solid #123456 }", ".a") != ""
