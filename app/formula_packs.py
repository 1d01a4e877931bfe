"""What the formulas tab sends: once the course (formulas, glossary, words, script), then numbers for each moment."""

import json
from typing import Any

from app import formula_attention, formula_outputs
from app.formula_markup import FILE
from app.formula_outputs import TOP
from app.formula_shown import Place, packed
from app.tour_packs import MAKERS, Pair
from core.formulas import FORMULAS, GLOSSARY, ITEMS, LOCAL
from core.formulas.decoder_only import FORMULAS_003
from core.formulas.foundations import NEEDS
from core.formulas.moment import Moment

REFERENCED = ("bleu", "rouge")  # cards that need a reference text
# what moves on a card; each is a control of its script
MOVES = {
    "encoder_attention": ("root", "T"), "cross_attention": ("root", "T"), "output_head": ("T",), "beam_score": ("alpha",),
    "pointer": ("gate",), "distillation": ("lambda", "T"), "prefix_mask": ("n",),
    "item.6": ("T",), "item.8": ("root",), "item.9": ("n",),
}


def course() -> dict[str, Any]:
    """Formulas and items in course order with their MathML, the glossary, the prerequisite map. Texts go by keys."""
    markup = json.loads(FILE.read_text("utf-8"))
    one = [_card(id, formula, markup) for id, formula in FORMULAS.items()]
    items = [_card(f"item.{number}", formula, markup) | {"needs": list(NEEDS[number])} for number, formula in ITEMS.items()]
    terms = [{"id": name, "term": term.term, "label": term.label, "math": markup.get(f"term.{name}", {}).get("math", "")}
             for name, term in GLOSSARY.items()]
    return {"cards": one, "items": items, "terms": terms}


def _card(id: str, formula: Any, markup: dict) -> dict[str, Any]:
    return {
        "id": id, "lesson": formula.lesson, "math": markup[id]["math"], "numbers": markup[id]["numbers"],
            "moves": list(MOVES.get(id, ())),
        "at": formula.at, "reference": formula.reference, "shapes": [[name, list(axes)] for name, axes in formula.shapes.items()],
    }


def meanings() -> dict[str, str]:
    """Words of the course that live on its registries, in English: key -> text. Translations stand in assets/course/."""
    found = {f"meaning.{id}": formula.meaning for id, formula in (FORMULAS | FORMULAS_003).items()}
    found |= {f"clash.{id}": formula.note for id, formula in (FORMULAS | FORMULAS_003).items() if formula.note}
    found |= {f"meaning.item.{number}": formula.meaning for number, formula in ITEMS.items()}
    found |= {f"term.{name}": term.meaning for name, term in GLOSSARY.items()}
    return found | {f"local.{where}:{form}": text for where, forms in LOCAL.items() for form, text in forms.items()}


def numbers(moment: Moment, reference: str = "") -> dict[str, Any]:
    """Values and pictures of every card of the sheet, for one moment."""
    place = Place(moment)
    found = {}
    for id in FORMULAS:
        maker = getattr(formula_attention, id, None) or getattr(formula_outputs, id)
        found[id] = maker(place, reference) if id in REFERENCED else maker(place)
    return {"cards": found, "about": _about(moment), "sizes": _sizes(place), "model": moment.settings.model,
            "place": [moment.step + 1, moment.layer + 1, moment.head + 1], "step": place.target[place.t],
        "logits": packed(moment.arrays["logits"], "<f4"), "weak": packed(moment.arrays["weak"], "<f4"),
        "top": list(moment.texts[:TOP])}


def tour(moment: Moment) -> dict[str, Any]:
    """The same for the items of the foundations page."""
    pair = Pair(moment)
    return {"cards": {f"item.{number}": maker(pair) for number, maker in enumerate(MAKERS)}, "about": _about(moment),
            "sizes": _sizes(pair) | {"query": pair.n, "key": pair.n}}


def _about(moment: Moment) -> dict[str, Any]:
    return {"input": moment.settings.text, "text": moment.text, "how": moment.about}


def _sizes(place: Place) -> dict[str, int]:
    """How long each axis is here."""
    facts = place.moment.facts
    return {"source": place.n, "target": place.m, "width": place.d, "vocab": int(facts["V"]), "d_k": place["cross.q"].shape[1],
            "d_v": place["cross.v"].shape[1]}
