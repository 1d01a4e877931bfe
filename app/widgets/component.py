"""What every custom component shares: its value is a pack, a dict, and it goes to the browser as one JSON text."""

from typing import Any, ClassVar

import gradio as gr
import orjson


class Component(gr.HTML):
    """A `gr.HTML` whose value is a dict with one of `KINDS` as its kind (any dict where there are none), or None.

    `valueSent()` of assets/js/sent.js is its other half. Packs travel as text because Gradio's page copies every number of
    every component's value at each message, and that takes longer than drawing them.
    """

    KINDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, value: dict[str, Any] | None = None, **settings: Any):
        super().__init__(value, apply_default_css=False, **settings)  # "prose" margins would move bars away from their columns

    def preprocess(self, payload: Any) -> None:
        """Whatever a browser sends back as a value is dropped; a handler checks what an event brings."""
        return None

    def postprocess(self, value: dict[str, Any] | None) -> str | None:
        """As one text; what is not a number becomes null. ValueError for what the component does not show."""
        if value is None:
            return None
        if not isinstance(value, dict) or (self.KINDS and value.get("kind") not in self.KINDS):
            allowed = f"a dict whose kind is one of {self.KINDS}" if self.KINDS else "a dict"
            raise ValueError(f"{type(self).__name__} shows {allowed}, or None")
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()

    def api_info(self) -> dict[str, Any]:
        return {"type": "string", "description": (type(self).__doc__ or "").strip().splitlines()[0]}
