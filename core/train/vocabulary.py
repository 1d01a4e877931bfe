"""The pocket models' subword vocabulary: T5's layout (pad 0, eos 1, unk 2, sentinels last and descending)."""

from collections.abc import Iterable, Iterator

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SENTINELS = 100


def train_tokenizer(lines: Iterable[str], size: int, words: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """A BPE tokenizer of at most `size` ids, the last 100 of them sentinels; <extra_id_0> has the highest id.

    `words` are repeated so often that each becomes one piece (task prefixes do not occur in the data).
    BPE and not T5's unigram: at this size the unigram trainer left common words ("läuft") in three pieces.
    Sources: BPE (Sennrich et al. 2016); the id layout of T5 (Raffel et al. 2020, released vocabulary).
    """
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.BpeTrainer(
        vocab_size=size - SENTINELS, special_tokens=["<pad>", "</s>", "<unk>"], limit_alphabet=200,
        initial_alphabet=[chr(c) for c in range(33, 127)], show_progress=False,
    )
    tokenizer.train_from_iterator(_with_words(lines, words), trainer)
    tokenizer.add_special_tokens(
        # lstrip: "The <extra_id_0> walks" must not leave a lone space piece before the sentinel.
        [AddedToken(f"<extra_id_{k}>", lstrip=True, special=True) for k in reversed(range(SENTINELS))]
    )
    eos = tokenizer.token_to_id("</s>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", eos)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        extra_special_tokens=[f"<extra_id_{k}>" for k in range(SENTINELS)],
    )


def _with_words(lines: Iterable[str], words: tuple[str, ...], repeats: int = 2000) -> Iterator[str]:
    yield from lines
    for word in words:
        for _ in range(repeats):
            yield word
