"""The sessions tab: everything that was run on this page, kept; open it again, replay it, share it by a link, take it away.

A replay is drawn by the views that drew the run, from what was kept: no model is asked. The controls show what they were, so that
changing one and running goes on from there, in a new session.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr

from app.answers import refused, sentence
from app.controls import Controls
from app.engine import Engine
from app.lectures import READY
from app.presence import Presence
from app.replays import TABS, ranks_of, view_of
from app.shelf import Shelf
from app.stage import Parts, Stage, ended, presented, replayed, went
from app.words import worded

TITLE = "page.sessions"
QUICK = dict(queue=False, api_visibility="private", show_progress="hidden", trigger_mode="multiple")


def build(engine: Engine, controls: Controls, stage: Stage, page: gr.Blocks, tab: gr.Tab) -> Callable[[Callable], Any]:
    """The components of the tab and their events, and what a link `?session=ID` does when the page opens.

    What it gives says behind an event that made a run, by the event's `then`, whether the run was not kept.
    """
    shelf, parts = Shelf(engine), Parts(controls, stage)

    def arrive(key: object, request: gr.Request) -> dict:
        page.presence.beat(_who(request))
        return arrived(shelf, parts, key, dict(request.query_params), _who(request)) | {
            stage.beats: {"kind": "tab", "name": _who(request)}}

    def act(event: gr.EventData, request: gr.Request) -> dict:
        return acted(shelf, parts, getattr(event, "_data", None), _who(request))

    def go(event: gr.EventData, request: gr.Request) -> dict:
        return went(shelf, parts, getattr(event, "_data", None), _who(request))

    def turn(event: gr.EventData, request: gr.Request) -> dict:
        return presented(shelf, parts, getattr(event, "_data", None), _who(request))

    def end(event: gr.EventData, request: gr.Request) -> dict:
        return ended(shelf, parts, getattr(event, "_data", None), _who(request))

    def chosen(number: int):
        def present(request: gr.Request) -> dict:
            return presented(shelf, parts, {"id": f"{READY}{number}"}, _who(request))
        return present

    def look(request: gr.Request) -> dict:
        told = {stage.notice: shelf.keeper.storage.mended} if shelf.keeper.storage.mended else {}
        return told | acted(shelf, parts, {"do": "list"}, _who(request))

    def watched(event: gr.EventData, request: gr.Request) -> None:
        looked(shelf, getattr(event, "_data", None), _who(request))

    def unkept(request: gr.Request) -> str:
        return not_kept(shelf, _who(request))

    def gone(name: str) -> None:
        shelf.keeper.leave(name)
        shelf.engine.latest.stop(name)
        # Gradio keeps the last value of every component for an hour after a page was closed: 0.4 MB of each visitor.
        page.state_holder.session_data.pop(name, None)
        page.state_holder.time_last_used.pop(name, None)

    def leave(request: gr.Request) -> None:
        gone(_who(request))

    page.presence = Presence(gone, lambda: page.state_holder.session_data)

    # Gradio reads what shows progress anew with every message of any event; of the tabs that would be the whole page.
    quick = QUICK | dict(show_progress_on=stage.notice)
    page.load(arrive, stage.key, [stage.key, stage.beats, *parts.outputs], **quick)
    page.unload(leave)
    tab.select(look, None, parts.outputs, **quick)
    parts.listing.act(act, None, parts.outputs, **quick)
    stage.bar.go(go, None, parts.outputs, **quick)
    stage.lecture.go(turn, None, parts.outputs, **quick)
    stage.lecture.done(end, None, parts.outputs, **quick)
    for number, lesson in enumerate(parts.lessons, 1):
        lesson.click(chosen(number), None, parts.outputs, **quick)
    stage.bar.done(lambda: {stage.bar: None}, None, [stage.bar], **quick)
    for one in (stage.stepper, *(tab.parts["tree"] for tab in stage.others if "tree" in tab.parts)):
        one.look(watched, None, None, **quick)
    return lambda then: then(unkept, None, stage.unkept, **QUICK)


def _who(request: gr.Request) -> str:
    return str(request.session_hash)


def arrived(shelf: Shelf, parts: Parts, key: object, query: dict, visitor: str) -> dict:
    """A page was opened: its browser is known again, and a link's session is shown, or a sentence on why not."""
    stage = parts.stage
    out: dict = {stage.key: shelf.keeper.arrive(visitor, key)}
    asked = query.get("session")
    if asked is None:
        return out | (presented(shelf, parts, {"id": READY + query["lecture"]}, visitor) if "lecture" in query else {})
    try:
        session = shelf.keeper.store.session(asked, shelf.keeper.owner(visitor))
        view = view_of(session.view)
        out |= replayed(shelf, parts, visitor, session.id, view.get("row"), view, view.get("event"))
        if view.get("tab") in TABS:
            out[stage.tabs] = gr.Tabs(selected=view["tab"])
    except Exception as error:
        out[stage.notice] = sentence(error)
    return out


def acted(shelf: Shelf, parts: Parts, data: object, visitor: str) -> dict:
    """What the list asks for; a replay changes the page, all else the list only."""
    if isinstance(data, dict) and data.get("do") == "replay":
        return went(shelf, parts, data, visitor)
    if isinstance(data, dict) and data.get("do") == "present":
        return presented(shelf, parts, data, visitor)
    try:
        return {parts.listing: shelf.act(visitor, data)}
    except Exception as error:
        return {parts.listing: refused(sentence(error))}


def looked(shelf: Shelf, data: object, visitor: str) -> None:
    """How the person looks at a run now, kept as an event of the session that has the run."""
    data = data if isinstance(data, dict) else {}
    run, kind = data.get("run"), data.get("kind")
    seen = view_of(data) if kind == "look" else ranks_of(data) if kind == "rank" else {}
    if isinstance(run, str) and len(run) == 64 and seen:
        shelf.keeper.looked(visitor, kind, seen, run)


def not_kept(shelf: Shelf, visitor: str) -> str:
    """A sentence where the visitor's last run is not in the session, or "" where it is."""
    why = shelf.keeper.unkept(visitor)
    return worded("told.unkept", why=why) if why else ""
