"""read_source(loaded, settings): what a run reads, the text as tokens, under its task's prefix or its noise."""

from dataclasses import dataclass

from core.budget import longest_source
from core.errors import ControlError, InputError
from core.models.families import language_id, prefix_for, reading
from core.models.loading import Loaded
from core.noise import Corruption, corrupt, rows_of
from core.noise.tokens import units_of
from core.settings import MAX_SOURCE, Settings
from core.text import Token, piece, tokenize, usable


@dataclass(frozen=True)
class Source:
    """input: prefix and text. tokens (source,): what the encoder reads, pads last; the first `prefix_tokens` are the prefix.

    corruption: what was done to the text, None without noise. notes: sentences on what is cut or unknown.
    """

    input: str
    tokens: tuple[Token, ...]
    prefix_tokens: int
    corruption: Corruption | None
    notes: tuple[str, ...]


def read_source(loaded: Loaded, settings: Settings) -> Source:
    """The source of the settings. Errors: InputError, ControlError."""
    noisy = bool(settings.noise.name)
    prefix = "" if noisy else prefix_for(loaded, settings.task)  # denoising is no task with a prefix
    text = prefix + usable(settings.text)
    tokens, cut, limit = _tokens(loaded, settings, text)
    end = len(prefix.rstrip())
    if cut and prefix and not any(t.end > end for t in tokens):
        raise InputError(f"The task prefix of {loaded.name} alone fills all {limit} source tokens; pick another task.")
    prefix_tokens = sum(1 for t in tokens if t.start < t.end <= end) if prefix else 0
    notes = [f"The text has {len(tokens) + cut} tokens; the first {len(tokens)} are used, {cut} are cut."] if cut else []
    notes += _unread(loaded, tokens[prefix_tokens:])
    read, corruption = tuple(tokens), None
    if noisy:
        corruption = _corrupted(loaded, tokens, settings)
        read = corruption.corrupted
        notes += corruption.notes
    return Source(text, (*read, *_pads(loaded, settings, len(read))), prefix_tokens, corruption, tuple(notes))


def _tokens(loaded: Loaded, settings: Settings, text: str) -> tuple[list[Token], int, int]:
    """The tokens of the text, how many more were cut, and how many there may be."""
    language_id(loaded, settings.source_language)  # refuses an unknown one
    sites = loaded.sites
    limit = min(MAX_SOURCE, loaded.max_source, longest_source(sites.layers("encoder"), sites.heads.get("encoder", 0)))
    with reading(loaded, settings.source_language) as tokenizer:
        return *tokenize(tokenizer, text, limit), limit


def _pads(loaded: Loaded, settings: Settings, length: int) -> list[Token]:
    """The pad tokens that a person adds after the source; they cover no text."""
    count = settings.edits.pads
    if not count:
        return []
    config = loaded.model.config
    pad = config.get_text_config(encoder=True).pad_token_id
    pad = getattr(config, "pad_token_id", None) if pad is None else pad
    if pad is None:
        raise ControlError(f"{loaded.name} has no pad token, so none can be added.")
    if length + count > loaded.max_source:
        raise InputError(f"{count} pad tokens after {length} source tokens are too many; {loaded.name} has "
                         f"{loaded.max_source} source positions.")
    return [Token(piece(loaded.tokenizer, pad), int(pad))] * count


def _corrupted(loaded: Loaded, tokens: list[Token], settings: Settings) -> Corruption:
    """The tokens under the noise of the settings; refused where the model could not read what comes of it."""
    made = corrupt(units_of(loaded.tokenizer, tokens, settings.text, rows_of(loaded)), settings.noise)
    if not made.corrupted:
        raise InputError("Nothing is left of the text under this noise. Lower the rate or write more.")
    if len(made.corrupted) > loaded.max_source:
        raise InputError(
            f"The corrupted text has {len(made.corrupted)} tokens; {loaded.name} reads at most {loaded.max_source}."
        )
    return made


def _unread(loaded: Loaded, tokens: list[Token]) -> list[str]:
    """A note on pieces that the model reads as <unk>; a text of nothing but sentinels is refused."""
    tokenizer = loaded.tokenizer
    special = set(tokenizer.all_special_ids)
    unknown = list(dict.fromkeys(t.text for t in tokens if t.id == tokenizer.unk_token_id))
    if not unknown and all(t.id in special for t in tokens):
        said = " ".join(t.text for t in tokens)[:60]
        raise InputError(f"The text has nothing but special tokens ({said}). Type at least one word.")
    shown = " ".join(unknown[:12]) + (" …" if len(unknown) > 12 else "")
    return [f"{loaded.name} does not know {shown} and reads <unk> there."] if unknown else []
