"""`python -m app.formula_markup` writes assets/formulas.json: every formula as MathML, each symbol marked with what it is.

Chromium, Firefox and Safari draw MathML by themselves, so the page needs no script and no font for it, and a symbol is a
node that can be pointed at. LaTeX is converted here, once; the page reads the file (a test keeps it true).
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as Tree

from app.formula_lines import ITEM_LINES, LINES
from core.formulas import FORMULAS, GLOSSARY, ITEMS, LOCAL
from core.formulas.sheets import ALL

FILE = Path(__file__).resolve().parents[1] / "assets" / "formulas.json"
_SPACE = "http://www.w3.org/1998/Math/MathML"
_SCRIPTS = {"L": "ℒ", "V": "𝒱", "F": "ℱ", "D": "𝒟", "M": "ℳ"}
_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_UNDER = ("∑", "∏", "min", "max", "arg min")  # what stands below these stands below
_DOUBLE = {"R": "ℝ", "E": "𝔼", "1": "𝟙"}
# Terms that mean the same on the sheets 003 and 004; there, other letters say what they are only where an entry says so.
_EVERYWHERE = {r"\theta", "d_k", r"\sqrt{d_k}", "d_{ff}", r"\mathcal L", "W_U"}


def mathml(latex: str, block: bool = True) -> Tree.Element:
    """LaTeX as a MathML tree whose letters are drawn as they are: browsers know no mathvariant but the normal one."""
    from latex2mathml.converter import convert

    latex = latex.replace("<", r"\lt ").replace("{aligned}", "{split}")  # what the converter does not know
    latex = latex.replace(r"\arg\min", r"\text{arg min}").replace(r"\backslash", "∖")
    latex = re.sub(r"\\[Bb]ig\\([{}])", lambda found: r"\left\{" if found[1] == "{" else r"\right\}", latex)
    latex = re.sub(r"\\mathrm\{(\w+)\}", r"\\text{\1}", latex)  # one word, not a letter after the other
    root = Tree.fromstring(convert(latex, display="block").replace(f' xmlns="{_SPACE}"', ""))
    root.set("display", "block" if block else "inline")
    for node in root.iter():
        if node.tag in _LIMITS and _only(node[0]).text in _UNDER:  # the converter sets them beside the sign
            node.tag, node[0] = _LIMITS[node.tag], _only(node[0])
        if node.text == "′":
            node.set("class", "fc-prime")  # as an index it would be too small to see
        variant = node.attrib.pop("mathvariant", "")
        if variant == "normal":
            node.set("mathvariant", "normal")
        elif variant and node.text:
            node.text = "".join(_letter(variant, letter) for letter in node.text)
    return root


def _letter(variant: str, letter: str) -> str:
    if variant in ("script", "double-struck"):
        return (_SCRIPTS if variant == "script" else _DOUBLE).get(letter, letter)
    if variant == "bold" and letter.isascii() and letter.isalpha():
        return chr((0x1D400 - 65 if letter.isupper() else 0x1D41A - 97) + ord(letter))
    return letter


def marked(id: str, latex: str, own: bool = True) -> str:
    """MathML text of a formula, its symbols marked: data-form, the LaTeX of the symbol, and data-term, what it is.

    own: of sheet 000, whose glossary it is.
    """
    forms = [(form, name) for name, term in GLOSSARY.items() for form in term.forms if own or form in _EVERYWHERE]
    # the last one holds
    forms += [(form, f"{where}:{form}") for where in ("" if own else id, id) for form in LOCAL.get(where, {})]
    found = {_same(mathml(form)): (plain(form), name) for form, name in forms}
    root = mathml(latex)
    _mark(root, found)
    return Tree.tostring(root, encoding="unicode")


def _mark(node: Tree.Element, found: dict[str, tuple[str, str]]) -> None:
    for child in node:
        if (key := found.get(_same(child))) is not None:
            child.attrib |= {"data-form": key[0], "data-term": key[1]}
        else:
            _mark(child, found)


def plain(form: str) -> str:
    """A form without what only makes it look so: by it a symbol finds the picture that is meant."""
    return re.sub(r"\\mathbf|[{}\s]", "", form)


def _only(root: Tree.Element) -> Tree.Element:
    """The one node that a symbol is, without the rows around it."""
    while len(root) == 1 and root.tag in ("math", "mrow"):
        root = root[0]
    return root


def _same(node: Tree.Element) -> str:
    """A text that is equal where two nodes look the same: rows around a single node do not count."""
    node = _only(node)
    inside = "".join(_same(child) for child in node)
    return f"<{node.tag}>{(node.text or '').strip()}{inside}</>"


def made() -> dict[str, dict[str, str]]:
    """What the file holds."""
    both = [(one.id, one, LINES[one.id]) for one in FORMULAS.values()]
    both += [(f"item.{number}", one, ITEM_LINES[number]) for number, one in ITEMS.items()]
    shown = {name: {"math": marked(one.id, one.latex), "numbers": Tree.tostring(mathml(line), encoding="unicode")}
             for name, one, line in both}
    shown |= {id: {"math": marked(id, one.latex, own=False)} for id, one in ALL.items() if id not in FORMULAS}
    shown |= {f"term.{name}": {"math": Tree.tostring(mathml(term.latex, block=False), encoding="unicode")}
              for name, term in GLOSSARY.items() if term.latex}
    return shown


def places(latex: str) -> set[str]:
    """The numbers that a line has places for."""
    return set(re.findall(r"@(\w+)", latex))


if __name__ == "__main__":
    FILE.write_text(json.dumps(made(), ensure_ascii=False, indent=0) + "\n", "utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
