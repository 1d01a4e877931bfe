"""What a tab says of itself: that it is open, and when it is closed. It shows nothing; its value is {"kind": "tab", "name"}."""

from app.widgets.component import Component
from app.widgets.scripts import script


class Beats(Component):
    """A `gr.HTML` that is not seen. app/presence.py is its other half."""

    KINDS = ("tab",)

    def __init__(self):
        super().__init__(None, html_template="<span hidden></span>", js_on_load=script("beats", silent=True), elem_id="ts-beats",
                         elem_classes="ts-bare")
