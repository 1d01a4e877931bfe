"""Formula: one line of the course, with the function that computes it and what that is tested against."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module


@dataclass(frozen=True)
class Formula:
    """latex: as the course has it. at: "module:name" of the function; it is the product's own where there is one.

    shapes: tensor -> axes in the alphabet of core/shapes.py, inputs first, the result last (() is a single number).
    reference: what the tests compute the same with. sheet: the document; lesson: 1 to 10 there, or the section in the order
    of sheet 004; 0 for the items of the foundations page. also: where else it stands, as "sheet.lesson" ("003.3").
    note: a misprint or a clash of conventions in the sheets, and what the code does.
    """

    id: str
    lesson: int
    latex: str
    meaning: str
    at: str
    reference: str
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sheet: str = "000"
    also: tuple[str, ...] = ()
    note: str = ""

    @property
    def function(self) -> Callable:
        """Imported only now, because some of them need torch and the first screen must not wait for it."""
        module, _, name = self.at.partition(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True)
class Term:
    """One entry of the glossary (appendix C). latex: of a symbol, "" for an acronym; forms: how it stands in formulas.

    A form that is part of a longer one is a symbol of its own only where the longer one is not.
    """

    id: str
    term: str
    meaning: str
    latex: str = ""
    forms: tuple[str, ...] = ()
    label: str = ""  # CONFIG, STATE or θ, in the words of the lessons
