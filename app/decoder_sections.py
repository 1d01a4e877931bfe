"""Sections of the masks tab about a decoder: what it makes of seeing the answer, and a row of its attention set by hand."""

from collections.abc import Iterator

import gradio as gr

from app import decoder_looks, decoder_packs, row_looks
from app.mask_looks import Looks
from app.mask_packs import numbered
from app.mask_sections import Asked
from app.masked import Pair
from app.row_looks import SITES, SetRow, set_row
from app.sections import Event, Section
from app.words import said, worded
from core.errors import InputError
from core.trace import Trace


class UnmaskedPart(Section):
    """A decoder that was trained causally sees the answer; beside it one that was trained that way."""

    NAME = "unmasked"

    def answers(self, values: dict) -> Iterator[dict]:
        yield {"kind": "progress", "text": worded("told.unmasked")}
        found = []
        for one in decoder_looks.unmasked(self.looks, self.settings(values)):
            found.append(one)
            yield {self.told: decoder_packs.unmasked_said(found), self.maps: decoder_packs.unmasked(found)}


class RowPart(Section):
    """One row of attention set by hand; decoding goes on from there as a branch, until it is taken back."""

    NAME = "row"

    def __init__(self, looks: Looks, asked: Asked):
        super().__init__(looks, asked)
        self.held = gr.State("")  # id of the run whose branch is shown
        self.hand = gr.State(None)  # row_looks.Hand: the row as the last drag left it
        self.inputs |= {self.held, self.hand}
        self.outputs += [self.held, self.hand, *self.controls]

    def build(self) -> list[gr.components.Component]:
        def one(name: str, label: str, choices: list, value: object, width: int) -> gr.Dropdown:
            return gr.Dropdown(choices, value=value, label=said(f"page.masks.{label}"), min_width=width,
                               allow_custom_value=True, elem_id=f"ts-masks-row-{name}")  # a stale one gets a sentence

        self.query = one("query", "row.query", [], 2, 160)
        self.site = one("site", "site", [(said(f"page.masks.{site}"), site) for site in SITES], SITES[0], 200)
        self.layer = one("layer", "layer", [], 0, 90)
        self.head = one("head", "head", [], 0, 90)
        self.key = one("key", "row.key", [], 11, 160)
        self.share = gr.Slider(0, 1, 1, step=0.01, label=said("page.masks.row.share"), min_width=200,
                               elem_id="ts-masks-row-share")
        self.go = gr.Button(said("page.masks.row.set"), size="sm", min_width=120, elem_id="ts-masks-row-set")
        self.back = gr.Button(said("page.masks.row.back"), size="sm", min_width=120, elem_id="ts-masks-row-back")
        return [self.query, self.site, self.layer, self.head, self.key, self.share]

    def events(self) -> list[Event]:
        return [(self.go.click, self.write), (self.back.click, self.drop), (self.maps.select, self.pick),
                (self.maps.edit, self.drag)]

    def asked(self, values: dict) -> SetRow:
        """The row that the controls tell, of the run as it is now."""
        trace = self.looks.made.trace(self.settings(values))
        asked = set_row(trace, *(values[one] for one in (self.site, self.query, self.layer, self.head, self.key, self.share)))
        return asked.left(values[self.hand])

    def answers(self, values: dict) -> Iterator[dict]:
        """The row as it is and as it is to be. A branch that is shown stays; one of another run is said to be one."""
        trace = self.looks.made.trace(self.settings(values))
        offers = self._offers(trace, values)
        asked = self.asked(values | {one: value for one, (_, value) in offers.items()})
        state = {"kind": "progress", "text": worded("told.row.other" if values[self.held] else "told.row.ask")}
        told = {} if values[self.held] == trace.id else {self.told: state, self.held: ""}
        # A value goes back only where it changes: what was chosen meanwhile stays. The token may have been picked in the picture.
        yield {self.maps: decoder_packs.row(asked)} | told | {
            one: gr.update(choices=choices) | ({"value": value} if one is self.key or value != values[one] else {})
            for one, (choices, value) in offers.items()}

    def _offers(self, trace: Trace, values: dict) -> dict[gr.Dropdown, tuple[list[tuple[str, int]], object]]:
        """Rows, layers, heads and columns that this run has, and of each what was chosen; the last where that is not there."""
        if not trace.target:
            raise InputError("The model writes nothing here, so there is no row to set.")
        layers, heads = trace.path().shape[:2]
        query = _at_most(values[self.query], len(trace.target))
        before = query if isinstance(query, int) else 1
        keys = trace.source if values[self.site] == "cross" else (trace.start, *trace.target[: before - 1])
        out = {one: (list(zip(names, range(1, len(names) + 1))), _at_most(values[one], len(names)))
               for one, names in ((self.query, numbered(trace.target)), (self.key, numbered(keys)))}
        for one, count in ((self.layer, layers), (self.head, heads)):
            out[one] = [(f"1–{count}", 0), *((str(at), at) for at in range(1, count + 1))], _at_most(values[one], count)
        return out

    def write(self, values: dict, visitor: str, data: object) -> Iterator[dict]:
        """The branch beside the run that it leaves."""
        yield from self.look(values, visitor, lambda values: self._written(self.asked(values), visitor))

    def _written(self, asked: SetRow, visitor: str) -> Iterator[dict]:
        shown = {self.maps: decoder_packs.row(asked), self.hand: asked.hand, self.key: asked.key + 1, self.share: asked.share}
        for found in row_looks.branch(self.looks, asked, visitor):
            if isinstance(found, Pair):
                yield shown | {self.told: decoder_packs.row_said(asked, found), self.held: asked.trace.id}
            else:
                yield found

    def drag(self, values: dict, visitor: str, data: object) -> Iterator[dict]:
        """A cell of the row was dragged: its weight is that, the others share the rest, and the model writes on from there."""
        column, share = (data.get("column"), data.get("share")) if isinstance(data, dict) else (None, None)
        values = values | {self.key: column + 1 if type(column) is int else column, self.share: share}
        yield from self.look(values, visitor, lambda values: self._written(
            self.asked(values | {self.hand: None}).going_on(values[self.hand]), visitor))

    def drop(self, values: dict, visitor: str, data: object) -> Iterator[dict]:
        """Back: nothing of the branch was kept but what is shown."""
        for found in self.look(values | {self.held: "", self.hand: None}, visitor):
            yield {self.hand: None} | found

    def pick(self, values: dict, visitor: str, data: object) -> Iterator[dict]:
        """A click on a column of the row chooses its token."""
        column = data.get("column") if isinstance(data, dict) else None
        yield from self.look(values | {self.key: column + 1 if type(column) is int else column}, visitor)


def _at_most(value: object, most: int) -> object:
    """A choice from another run as one of this; what is no choice at all is refused later, with a sentence."""
    return most if type(value) is int and value > most else value
