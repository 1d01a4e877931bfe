"""Tokens: offsets cover the text, and every piece has something to show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers import models as token_models
from transformers import PreTrainedTokenizerFast

from core.models import models
from core.text import METASPACE, next_token, piece, plain, tokenize


@pytest.fixture(scope="module")
def pocket():
    return models().load("pocket-t5").tokenizer


@pytest.fixture(scope="module")
def byte_level() -> PreTrainedTokenizerFast:
    inner = Tokenizer(token_models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=270, initial_alphabet=alphabet, special_tokens=["</s>"], show_progress=False
    )
    inner.train_from_iterator(["a dog runs"], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>")


@given(text=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=80))
def test_offsets_lie_in_the_text_in_order(pocket, text):
    tokens, cut = tokenize(pocket, text, 128)
    assert cut == 0 or len(tokens) == 128
    last = 0
    for token in tokens:
        assert last <= token.start <= token.end <= len(text) or token.start == token.end
        assert token.text != "" and "\ufffd" not in token.text.replace("\ufffd" if "\ufffd" in text else "\1", "")
        last = max(last, token.start)


def test_words_are_the_text_under_their_offsets(pocket):
    text = "A man,  two dogs\tand a child."
    tokens, _ = tokenize(pocket, text, 128)
    assert "".join(text[t.start : t.end] for t in tokens) == "".join(text.split())
    assert tokens[0].text == "A" and tokens[-1].text == "</s>"


def test_a_cut_text_keeps_its_closing_token(pocket):
    tokens, cut = tokenize(pocket, "dog " * 300, 20)
    assert len(tokens) == 20 and cut == 281 and tokens[-1].text == "</s>" and tokens[-2].text == "dog"


def test_sentinels_are_one_id_each_descending_and_shown_as_written(pocket):
    tokens, _ = tokenize(pocket, "The <extra_id_0> walks in <extra_id_1>.", 128)
    ids = [t.id for t in tokens if t.text.startswith("<extra")]
    assert ids == [len(pocket) - 1, len(pocket) - 2]


def test_unknown_characters_are_shown_as_themselves(pocket):
    tokens, _ = tokenize(pocket, "dog 日 😀", 128)
    assert [t.text for t in tokens if t.id == pocket.unk_token_id] == ["日", "😀"]


def test_a_lone_word_mark_is_visible(pocket):
    assert piece(pocket, pocket.convert_tokens_to_ids(METASPACE)) == METASPACE


def test_an_id_beyond_the_vocabulary_is_named(pocket):
    assert piece(pocket, len(pocket) + 5) == f"[{len(pocket) + 5}]"


@pytest.mark.parametrize("text", ["日本 dog", "مرحبا", "a😀b"])
def test_byte_level_pieces_are_never_the_replacement_character(byte_level, text):
    tokens, _ = tokenize(byte_level, text, 128)
    assert "\ufffd" not in "".join(t.text for t in tokens)
    assert any(t.text.startswith("<") and len(t.text) == 4 for t in tokens)  # a lone byte, as hex


@pytest.mark.parametrize("pieces", ["▁ ? ▁ ?", "▁ ▁ ?", "? ▁ ▁dog ▁", "▁A ▁ ? . ▁"])
def test_ids_and_pieces_give_one_text(pocket, pieces):
    """Case B33 (transformers#28105): what grows token by token is what the ids decode to."""
    ids, text = pocket.convert_tokens_to_ids(pieces.split()), ""
    assert pocket.unk_token_id not in ids
    for end in range(1, len(ids) + 1):
        token, text = next_token(pocket, ids[:end], text)
        assert text == plain(pocket, ids[:end]) and text[token.start : token.end] == text[token.start :]


def test_output_tokens_cover_the_output_text(byte_level, pocket):
    for tokenizer, text in ((byte_level, "a 日 dog"), (pocket, "Ein Hund läuft, oder?")):
        ids = tokenizer(text)["input_ids"]
        before, tokens = "", []
        for k in range(len(ids)):
            token, before = next_token(tokenizer, ids[: k + 1], before)
            tokens.append(token)
        whole = plain(tokenizer, ids)
        assert before == whole
        assert "".join(whole[t.start : t.end] for t in tokens) == "".join(whole.split())
