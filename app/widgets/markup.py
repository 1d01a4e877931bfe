"""Static markup of a custom component whose words the browser translates (assets/js/words.js)."""

from dataclasses import dataclass
from html import escape

from app.words import worded

# Buttons that take a picture away (assets/js/shared/pictures.js); the names of formats are the same in every language.
EXPORTS = "".join(f'<button type="button" class="ts-text-button" data-ts="{name}">{name.upper()}</button> '
                  for name in ("png", "svg", "csv"))


@dataclass(frozen=True)
class Markup:
    """Controls of the component whose words stand under `component.` in assets/words. `data-ts` names a part for the script."""

    component: str

    def say(self, name: str, n: int | None = None) -> str:
        """Attribute and content of an element that holds the words of `name`: English here, translated in the browser."""
        number, key = ("", name) if n is None else (f' data-n="{n}"', f"{name}.{'one' if n == 1 else 'other'}")
        return f'data-say="{name}"{number}>{escape(worded(f"{self.component}.{key}", n=n))}'

    def attributes(self, **keys: str) -> str:
        """`title="words" data-say-title="key"` for each; aria_label stands for aria-label."""
        named = {attribute.replace("_", "-"): key for attribute, key in keys.items()}
        words = {name: escape(worded(f"{self.component}.{key}")) for name, key in named.items()}
        return " ".join(f'{name}="{words[name]}" data-say-{name}="{key}"' for name, key in named.items())

    def icon(self, name: str, path: str) -> str:
        """An icon button; `path` is an SVG path on a 24 x 24 grid."""
        return (
            f'<button type="button" class="ts-button" data-ts="{name}" {self.attributes(aria_label=name, title=name)}>'
            f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{path}"/></svg></button>'
        )

    def button(self, name: str) -> str:
        """A button with words, and a title of its own."""
        title = self.attributes(title=f"{name}.title")
        return f'<button type="button" class="ts-text-button" data-ts="{name}" {title} {self.say(name)}</button>'

    def check(self, name: str, on: bool = False) -> str:
        """A check box."""
        checked = " checked" if on else ""
        return f'<label class="ts-field"><input type="checkbox" data-ts="{name}"{checked}> <span {self.say(name)}</span></label>'

    def select(self, name: str, *values: str, say: str | None = None) -> str:
        """A list of choices; each says the words of `say`.value."""
        options = "".join(f'<option value="{value}" {self.say(f"{say or name}.{value}")}</option>' for value in values)
        return self.labelled(name, say or name, options)

    def labelled(self, name: str, say: str, options: str) -> str:
        """A list of ready-made options."""
        select = f'<select class="ts-select" data-ts="{name}">{options}</select>'
        return f'<label class="ts-field"><span {self.say(say)}</span> {select}</label>'


def speeds(ui: Markup, *steps: int, chosen: int) -> str:
    """A list of speeds, in steps a second."""
    options = "".join(f'<option value="{n}"{" selected" if n == chosen else ""} {ui.say("speed", n)}</option>' for n in steps)
    return ui.labelled("speed", "speed", options)
