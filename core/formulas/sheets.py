"""Where each formula stands: the three sheets, section by section in their own order. One entry may stand in several places."""

from core.formulas import FORMULAS
from core.formulas.formula import Formula

ALL: dict[str, Formula] = {**FORMULAS}


def _by_lesson(formulas: dict[str, Formula]) -> dict[int, tuple[str, ...]]:
    lessons = sorted({one.lesson for one in formulas.values()})
    return {lesson: tuple(id for id, one in formulas.items() if one.lesson == lesson) for lesson in lessons}


# sheet -> lesson (000, 003) or section (004, in the order of its headings) -> ids, in the order of the document
SHEETS: dict[str, dict[int, tuple[str, ...]]] = {"000": _by_lesson(FORMULAS)}


def places(formula: Formula) -> list[tuple[str, int]]:
    """(sheet, lesson or section) of each place where it stands; its own first."""
    also = (place.split(".") for place in formula.also)
    return [(formula.sheet, formula.lesson), *((sheet, int(number)) for sheet, number in also)]
