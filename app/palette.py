"""The colours that say something, in one place: categories, and two scales. tests/test_palette.py sees them as people do who
lack a kind of cone.

Okabe and Ito, "Color Universal Design" (2008), for categories and the two ends of a scale around 0; viridis (Smith and van der
Walt, 2015) for what grows from 0. Python imports them, CSS has each as var(--c-NAME), and a script that names `PALETTE` gets
them in front of it. Greys and tints of text are the themes' own.
"""

import json

BLUE, VERMILION, GREEN, PINK, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
GREY = "#7f7f7f"  # what others are measured by: a start, a bound
NAMED = {"blue": BLUE, "vermilion": VERMILION, "green": GREEN, "pink": PINK, "orange": ORANGE, "sky": SKY}
CATEGORIES = (BLUE, VERMILION, GREEN, ORANGE, SKY, PINK)  # in this order, neighbours differ for everyone
DARK = (SKY, ORANGE, GREEN, VERMILION, PINK)  # the same on a dark ground
SEQUENTIAL = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
BELOW, ABOVE = BLUE, VERMILION  # of 0; white lies between


def scale(colours: tuple[str, ...]) -> list[list]:
    """Colours at even places from 0 to 1, as plotly wants them."""
    return [[k / (len(colours) - 1), colour] for k, colour in enumerate(colours)]


DIVERGING = scale((BELOW, "#ffffff", ABOVE))
VIRIDIS = scale(SEQUENTIAL)


def variables() -> str:
    """The CSS that defines var(--c-NAME)."""
    return ":root { " + " ".join(f"--c-{name}: {colour};" for name, colour in NAMED.items()) + " }\n"


def constant() -> str:
    """The script that defines PALETTE: the names, `categories` as hex; `sequential`, `below` and `above` as [r, g, b]."""
    def rgb(colour: str) -> list[int]:
        return [int(colour[k:k + 2], 16) for k in (1, 3, 5)]

    found = NAMED | {"categories": CATEGORIES, "sequential": [rgb(one) for one in SEQUENTIAL], "below": rgb(BELOW),
                     "above": rgb(ABOVE)}
    return f"const PALETTE = {json.dumps(found, separators=(',', ':'))};\n"
