"""What is on the page beside the sessions tab, and what a replay or a lecture puts there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.answers import sentence
from app.controls import Controls
from app.lectures import TITLES, slide
from app.masked import Drawn
from app.shelf import Shelf
from app.tab import Tab
from app.widgets.beats import Beats
from app.widgets.corruption import CorruptionView
from app.widgets.findings import Findings
from app.widgets.lecture import Lecture
from app.widgets.matrices import Matrices
from app.widgets.replay_bar import ReplayBar
from app.widgets.session_list import SessionList
from app.words import said
from core.errors import InputError
from core.settings import Settings

OWN = ("told", "maps", "noise")  # what this tab draws itself; shown while there is something


@dataclass
class Stage:
    """What is on the page beside this tab, and draws a replay.

    unkept: the line that says why a run was not kept; beats: says that this tab is open.
    """

    tabs: gr.Tabs
    stepper: Any
    notice: gr.HTML
    bar: ReplayBar
    lecture: Lecture
    key: gr.BrowserState
    unkept: gr.HTML
    others: Sequence[Tab] = ()
    beats: Beats | None = None


class Parts:
    """The components of the tab, and all that a replay may change."""

    def __init__(self, controls: Controls, stage: Stage):
        self.controls, self.stage = controls, stage
        gr.Markdown(said("page.sessions.about"), elem_id="ts-sessions-about", elem_classes="ts-about")
        with gr.Accordion(said("page.lectures"), open=False, elem_id="ts-lectures", elem_classes="ts-section"):
            gr.Markdown(said("page.lectures.about"), elem_classes="ts-about")
            with gr.Row(elem_id="ts-lessons"):
                self.lessons = [gr.Button(said(title), size="sm", variant="secondary", min_width=0) for title in TITLES]
        self.listing = SessionList(elem_id="ts-sessions-list", elem_classes="ts-bare")
        self.packs = {
            "stepper": stage.stepper,
            "told": Findings(elem_id="ts-sessions-told", elem_classes="ts-bare", visible=False),
            "maps": Matrices(elem_id="ts-sessions-maps", elem_classes="ts-bare", visible=False),
            "noise": CorruptionView(elem_id="ts-sessions-noise", elem_classes="ts-bare", visible=False),
        }
        for tab in stage.others:
            self.packs |= tab.parts
        own = [one for tab in stage.others for one in tab.controls]
        self.outputs = [self.listing, stage.tabs, stage.notice, stage.bar, stage.lecture, *self.packs.values(),
                        *vars(controls).values(), *own]


def went(shelf: Shelf, parts: Parts, data: object, visitor: str) -> dict:
    """One record in view, or a sentence in the notice."""
    try:
        if not isinstance(data, dict):
            raise InputError("There is no such run.")
        return replayed(shelf, parts, visitor, data.get("id"), data.get("row"), event=data.get("event"))
    except Exception as error:
        return {parts.stage.notice: sentence(error)}


def presented(shelf: Shelf, parts: Parts, data: object, visitor: str) -> dict:
    """One slide of a lecture, or a sentence in the notice and no lecture."""
    stage = parts.stage
    try:
        data = data if isinstance(data, dict) else {}
        found = slide(shelf, visitor, data.get("id"), data.get("at", 0), data.get("last", False))
        return {stage.lecture: found.bar, stage.stepper: found.stepper, stage.notice: "", stage.bar: None,
                stage.tabs: gr.Tabs(selected="attention")}
    except Exception as error:
        return {stage.lecture: None, stage.notice: sentence(error)}


def ended(shelf: Shelf, parts: Parts, data: object, visitor: str) -> dict:
    """The page again; the controls show what the run in view was made with, to run on from there."""
    out: dict = {parts.stage.lecture: None}
    try:
        data = data if isinstance(data, dict) else {}
        settings = slide(shelf, visitor, data.get("id"), data.get("at")).settings
        return out | controls_of(parts, settings)
    except Exception:  # deleted meanwhile: the controls stay as they are
        return out


def replayed(shelf: Shelf, parts: Parts, visitor: str, id: object, row: object, view: dict | None = None,
             event: object = None) -> dict:
    """What each component shows of one moment, on the tab that drew it."""
    found = shelf.replay(visitor, id, row, view, event)
    stage = parts.stage
    out = {stage.bar: found.bar, stage.notice: "", stage.tabs: gr.Tabs(selected=found.tab)}
    out |= {parts.packs[name]: pack for name, pack in found.packs.items() if name not in OWN and name in parts.packs}
    for name in OWN:
        pack = found.packs.get(name)
        out[parts.packs[name]] = gr.update(visible=False) if pack is None else gr.update(value=pack, visible=True)
    if found.settings:
        out |= controls_of(parts, found.settings, found.tab)
    if found.tab == "sessions":
        out[parts.listing] = shelf.opened(visitor, id)
    return out


def controls_of(parts: Parts, settings: Settings, shown_on: str = "") -> dict:
    """The controls of the page and of every tab as they were, and what was drawn; shown_on: the tab with the moment."""
    out = parts.controls.again(settings)
    if "drawn" in parts.packs:
        out[parts.packs["drawn"]] = Drawn(settings.masks, settings.edits, again=shown_on == "masks")
    for tab in parts.stage.others:
        out |= tab.again(settings) if tab.again else {}
    return out
