"""What the page says, by key: one file per language in assets/words/. Gradio shows each browser its own, else English."""

import dataclasses
import json
from pathlib import Path

import gradio as gr

from core.examples import EXAMPLES
from core.models import BUNDLED
from core.noise import NOISES
from core.noising import NoiseSettings
from core.settings import Decoding, Settings

WORDS = Path(__file__).resolve().parents[1] / "assets" / "words"


def read(folder: Path = WORDS) -> dict[str, dict[str, str]]:
    """Language -> key -> words. A key that a translation lacks is said in English."""
    files = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    files["en"] |= {f"settings.{name}": help for name, help in helps(Decoding, Settings).items()}
    files["en"] |= {f"noise.{name}": help for name, help in helps(NoiseSettings).items()}
    files["en"] |= {f"noise_picker.{name}.title": noise.title for name, noise in NOISES.items()}
    files["en"] |= {f"noise_picker.{name}.help": noise.help for name, noise in NOISES.items()}
    for example in EXAMPLES:
        files["en"] |= {f"page.example.{example.key}": example.name, f"line.look.{example.key}": example.look}
    files["en"] |= {f"line.knows.{name}": f"{{name}}: {about}" for name, about in BUNDLED.items()}
    return {language: files["en"] | words for language, words in files.items()}


def helps(*kinds: type) -> dict[str, str]:
    """Field -> its help in English, which lives on the field."""
    return {item.name: item.metadata["help"] for kind in kinds for item in dataclasses.fields(kind)}


LANGUAGES = read()
LATE = ("training.", "help_sheet.", "minutes.")  # components whose words travel with their script, once they open
OURS = ("door.",)  # said by the host itself
FIRST = {
    language: {key: text for key, text in words.items() if not key.startswith(LATE + OURS)}
    for language, words in LANGUAGES.items()
}
TRANSLATIONS = gr.I18n(**FIRST)  # `launch` takes it; the browser translates


def said(key: str):
    """The words of `key` for a Gradio component, in the language of whoever looks at it."""
    if key not in LANGUAGES["en"]:
        raise KeyError(f"assets/words/en.json has no {key!r}")
    return TRANSLATIONS(key)


def english(key: str, **values: object) -> str:
    """The words of `key` in English, for what is sent before a browser's language is known."""
    return LANGUAGES["en"][key].format(**values)


def late(prefix: str) -> dict[str, dict[str, str]]:
    """Language -> key -> words of a component that is in LATE."""
    return {
        language: {key: text for key, text in words.items() if key.startswith(prefix)} for language, words in LANGUAGES.items()
    }
