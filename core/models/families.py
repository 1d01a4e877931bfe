"""What is unusual about each family, read from the checkpoint: start, end and forced tokens, tasks, languages."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.decode.processors import (
    Forced,
    MinNewTokens,
    NoEncoderNgram,
    NoRepeatNgram,
    Processor,
    RepetitionPenalty,
    Suppressed,
)
from core.errors import InputError, ModelError
from core.settings import Settings


def languages_of(tokenizer: Any) -> dict[str, int]:
    """Language code -> token id, for tokenizers with language tokens (mBART, M2M100, NLLB)."""
    codes = getattr(tokenizer, "lang_code_to_id", None)
    if codes:
        return dict(codes)
    if not hasattr(tokenizer, "src_lang"):
        return {}
    names = [t for t in getattr(tokenizer, "all_special_tokens", ()) if "_" in t]
    return {name: tokenizer.convert_tokens_to_ids(name) for name in names}


@contextmanager
def reading(loaded: Any, language: str) -> Iterator[Any]:
    """The tokenizer of a loaded model, shared by all, while it reads `language`; "" is the checkpoint's own."""
    with loaded.lock:
        tokenizer = loaded.tokenizer
        before = getattr(tokenizer, "src_lang", None)
        if language:
            tokenizer.src_lang = language
        try:
            yield tokenizer
        finally:
            if language:  # the next run may name none, and is to get the checkpoint's own
                tokenizer.src_lang = before


def eos_of(model: Any) -> frozenset[int]:
    """The ids that end a text: one, several (T5Gemma) or none."""
    eos = model.generation_config.eos_token_id
    if eos is None:
        eos = model.config.get_text_config(decoder=True).eos_token_id
    return frozenset() if eos is None else frozenset([eos] if isinstance(eos, int) else eos)


def start_of(model: Any, name: str) -> int:
    """The id the decoder starts from: T5 and Marian pad, BART eos, mBART eos or a language."""
    config = model.config.get_text_config(decoder=True)
    for source in (model.generation_config, model.config):
        if (start := getattr(source, "decoder_start_token_id", None)) is not None:
            return int(start if isinstance(start, int) else start[0])
    for key in ("bos_token_id", "pad_token_id"):
        if (start := getattr(config, key, None)) is not None:
            return int(start)
    raise ModelError(f"The model {name} names no decoder start token.")


def start_for(loaded: Any) -> int:
    """`start_of` a loaded model."""
    return start_of(loaded.model, loaded.name)


def prefix_for(loaded: Any, task: str) -> str:
    """The prefix of `task`, or of the model's first task when `task` is empty."""
    if not task:
        return next(iter(loaded.tasks.values()), "")
    if task not in loaded.tasks:
        known = ", ".join(loaded.tasks) or "none"
        raise InputError(f"{loaded.name} has no task {task!r:.60}; its tasks: {known}.")
    return loaded.tasks[task]


def language_id(loaded: Any, code: str) -> int | None:
    """Token id of a language code; None for an empty code."""
    if not code:
        return None
    if code not in loaded.languages:
        known = ", ".join(sorted(loaded.languages)[:12]) or "none"
        raise InputError(f"{loaded.name} has no language {code!r:.40}; some of its languages: {known}.")
    return loaded.languages[code]


def processors_for(
    loaded: Any, settings: Settings, max_new_tokens: int, source: Sequence[int] = ()
) -> list[Processor]:
    """The processors of a run over `source`, in the reference's order.

    That is: penalty, n-grams, bad words, no early end, forced tokens, suppressed ids.
    """
    decoding, config = settings.decoding, loaded.model.generation_config
    out: list[Processor] = []
    if decoding.repetition_penalty != 1.0:
        out.append(RepetitionPenalty(decoding.repetition_penalty))
    if decoding.no_repeat_ngram_size:
        out.append(NoRepeatNgram(decoding.no_repeat_ngram_size))
    if decoding.encoder_no_repeat_ngram_size:
        out.append(NoEncoderNgram(decoding.encoder_no_repeat_ngram_size, tuple(source)))
    banned = tuple(ids[0] for ids in config.bad_words_ids or [] if len(ids) == 1 and ids[0] not in loaded.eos)
    if banned:
        out.append(Suppressed(banned))
    if decoding.min_new_tokens:
        out.append(MinNewTokens(decoding.min_new_tokens, loaded.eos))
    first = language_id(loaded, settings.target_language)
    first = config.forced_bos_token_id if first is None else first
    if first is not None:
        out.append(Forced(first, 0, "first token of this checkpoint or language"))
    last = config.forced_eos_token_id
    if last is not None:
        out.append(Forced(last if isinstance(last, int) else min(last), max_new_tokens - 1, "end at the length limit"))
    if config.suppress_tokens:  # unlike bad words, these may hold the end of the text, and win over a forced token
        out.append(Suppressed(tuple(config.suppress_tokens)))
    return out
