"""Tiny random models of every family, with a tokenizer built in code: they stand in for checkpoints, offline.

Ids: 0 <pad>, 1 </s>, 2 <s>, 3 <unk>, 4 to 7 language codes, then words. Encoder and decoder differ in depth, so that
one cannot be taken for the other. The same seed gives the same weights.
"""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers import models as token_models
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    BertConfig,
    EncoderDecoderConfig,
    GPT2Config,
    PreTrainedTokenizerFast,
)

from core.models.loading import Loaded, prepare

SPECIAL = ["<pad>", "</s>", "<s>", "<unk>", "en_XX", "de_DE", "fr_XX", "ja_XX"]
WORDS = (
    "a the dog cat man woman child boy girl two three red blue green white black runs walks sits stands jumps sleeps "
    "eats reads looks plays on in at by with under over near of and or not beach street park house water ball tree "
    "bench horse car"
).split()
VOCABULARY = len(SPECIAL) + len(WORDS)
TEXT = "a dog runs on the beach with a red ball"

_COMMON = dict(vocab_size=VOCABULARY, pad_token_id=0, eos_token_id=1, bos_token_id=2)
# Equal depth: the reference's own cache takes the decoder's depth from `num_layers`, and breaks when they differ.
_T5 = dict(
    _COMMON, d_model=32, d_kv=8, d_ff=64, num_layers=3, num_decoder_layers=3, num_heads=4, decoder_start_token_id=0,
    dropout_rate=0.0, relative_attention_num_buckets=8, relative_attention_max_distance=16,
)
_BART = dict(
    _COMMON, d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2, decoder_attention_heads=4,
    encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64, decoder_start_token_id=1,
    forced_eos_token_id=None, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, init_std=0.1,
)
_BERT = dict(
    _COMMON, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
    max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.1,
)
_GPT2 = dict(
    _COMMON, n_embd=32, n_layer=3, n_head=4, n_positions=64, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0,
    initializer_range=0.1, add_cross_attention=True,
)
_GEMMA = dict(
    _COMMON, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
    query_pre_attn_scalar=8, max_position_embeddings=64, sliding_window=64, initializer_range=0.1,
)

# family -> (model_type, config); the models whose three attention sites can all be reached
FAMILIES: dict[str, tuple[str, dict]] = {
    "t5": ("t5", _T5),
    "t5_deep": ("t5", _T5 | dict(num_layers=2)),
    "t5_gated": ("t5", _T5 | dict(feed_forward_proj="gated-gelu")),
    "mt5": ("mt5", _T5),
    "umt5": ("umt5", _T5),
    "bart": ("bart", _BART),
    "mbart": ("mbart", _BART | dict(decoder_start_token_id=5)),
    "plbart": ("plbart", _BART),
    "marian": ("marian", _BART | dict(decoder_start_token_id=0, decoder_vocab_size=VOCABULARY, scale_embedding=True)),
    "pegasus": ("pegasus", _BART | dict(decoder_start_token_id=0)),
    "blenderbot": ("blenderbot", _BART | dict(decoder_start_token_id=2)),
    "blenderbot_small": ("blenderbot-small", _BART | dict(decoder_start_token_id=2)),
    "m2m_100": ("m2m_100", _BART),
    "t5gemma": ("t5gemma", _GEMMA),
    "bert_bert": ("encoder-decoder", _BERT),
    "bert_gpt2": ("encoder-decoder", _GPT2),
}
# the window is shorter than the texts, so that the first keys are passed
FAMILIES["t5gemma_window"] = ("t5gemma", _GEMMA | dict(sliding_window=6))
# decoder and cross can be reached, the encoder has an attention of its own; and one where nothing can
PARTIAL = {"longt5": ("longt5", _T5 | dict(local_radius=4, encoder_attention_type="local"))}
UNREACHABLE = {"mvp": ("mvp", _BART)}
# its experts work on batches of tokens, so that other tokens move a result in its last bits
INEXACT = {"switch": ("switch_transformers", {name: value for name, value in _T5.items() if name != "num_decoder_layers"} | dict(
    num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, num_experts=2, num_decoder_layers=3, expert_capacity=64))}
ALL = FAMILIES | PARTIAL | UNREACHABLE | INEXACT
# Standard deviations of (matrices, embeddings), found by trial: with most, a random model says one word for ever.
SCALES = dict.fromkeys(ALL, (0.1, 1.0)) | {
    name: (0.3, 1.0) for name, (_, values) in ALL.items() if "d_kv" in values
} | dict.fromkeys(["t5gemma", "t5gemma_window"], (0.5, 0.2)) | {"m2m_100": (0.3, 1.0)}
# Where the search for a seed with a varied output starts: the first good one, so that it mostly ends there.
SEEDS = dict.fromkeys(ALL, 0) | {
    "t5": 3, "t5_deep": 2, "t5_gated": 1, "mt5": 1, "umt5": 2, "plbart": 17, "marian": 11, "blenderbot_small": 2,
    "m2m_100": 9, "t5gemma": 1, "bert_bert": 1, "t5gemma_window": 5, "longt5": 3, "switch": 6,
}
VARIED, GAP = 8, 1e-3  # distinct tokens among 24; logit of the best token above the next one


def config_of(family: str) -> Any:
    """The transformers config of one family's tiny model."""
    kind, values = ALL[family]
    if kind == "t5gemma":
        encoder, decoder = values | dict(num_hidden_layers=2), values | dict(num_hidden_layers=3)
        layers = {"encoder": encoder, "decoder": decoder}
        return AutoConfig.for_model(kind, **layers, vocab_size=VOCABULARY, tie_word_embeddings=True)
    if kind == "encoder-decoder":
        decoder = GPT2Config(**values) if values is _GPT2 else BertConfig(
            **values | dict(num_hidden_layers=3, is_decoder=True, add_cross_attention=True)
        )
        both = EncoderDecoderConfig.from_encoder_decoder_configs(BertConfig(**_BERT), decoder)
        both.pad_token_id, both.eos_token_id, both.bos_token_id, both.decoder_start_token_id = 0, 1, 2, 2
        return both
    return AutoConfig.for_model(kind, **values)


def build(family: str, attention: str | None = None, never_ends: bool = True, seed: int | None = None) -> Any:
    """A fresh float32 model. attention: transformers' name. never_ends: no end-of-text id, so that runs are long."""
    torch.manual_seed(varied_seed(family) if seed is None else seed)
    chosen = {"attn_implementation": attention} if attention else {}
    model = AutoModelForSeq2SeqLM.from_config(config_of(family), **chosen)
    matrices, embeddings = SCALES[family]
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1:
                # Signs of the norms at random: with tied embeddings a model would else repeat its last token.
                weight.normal_(0, 0.02 if name.endswith("bias") else 1.0)
            elif weight.requires_grad:  # sinusoids stay as they are
                table = any(word in name for word in ("shared", "embed", "relative", "wte", "wpe"))
                weight.normal_(0, embeddings if table else matrices)
    if never_ends:
        for config in (model.generation_config, model.config, model.config.get_text_config(decoder=True)):
            config.eos_token_id = None
    return model.eval()


@cache
def varied_seed(family: str) -> int:
    """The first seed whose output would notice a wrong cache: many tokens, each ahead of the next best by a margin.

    Random numbers differ in their last bits between processors, so no seed can be promised to be one.
    """
    for seed in range(SEEDS[family], SEEDS[family] + 200):
        model = build(family, "eager", seed=seed)
        source = torch.tensor([tokenizer()(TEXT)["input_ids"]])
        out = model.generate(
            source, attention_mask=torch.ones_like(source), max_new_tokens=24, do_sample=False, use_cache=False,
            output_logits=True, return_dict_in_generate=True,
        )
        best = torch.cat(out.logits).topk(2).values
        if len(set(out.sequences[0, 1:].tolist())) >= VARIED and (best[:, 0] - best[:, 1]).min() >= GAP:
            return seed
    raise LookupError(f"no seed gives {family} a varied output")


def tokenizer() -> PreTrainedTokenizerFast:
    """Whole words with a leading ▁; a text ends in </s>; an unknown word is <unk>."""
    words = {word: id for id, word in enumerate([*SPECIAL, *("▁" + word for word in WORDS)])}
    inner = Tokenizer(token_models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    inner.decoder = decoders.Metaspace(prepend_scheme="always")
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", bos_token="<s>", unk_token="<unk>",
        extra_special_tokens=SPECIAL[4:],
    )


def loaded(family: str, **options: Any) -> Loaded:
    """A fresh model of `family` under our attention; not shared, so it may be changed."""
    return prepare(family, build(family, **options), tokenizer())


@cache
def shared(family: str) -> Loaded:
    """The same, built once for all tests that only read it."""
    return loaded(family)


def save(family: str, folder: Path) -> Path:
    """A checkpoint folder of `family`: config, safetensors, tokenizer."""
    build(family, never_ends=False).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def noisy_tokenizer(sentinels: int = 100, mask: bool = True) -> PreTrainedTokenizerFast:
    """`tokenizer` with a full stop, and as many sentinels (descending ids, as in T5) and a mask token as are asked for."""
    made = tokenizer()
    made.add_tokens(["."])
    if mask:
        made.add_special_tokens({"mask_token": "<mask>"})
    names = [f"<extra_id_{k}>" for k in reversed(range(sentinels))]
    made.add_special_tokens({"extra_special_tokens": [*SPECIAL[4:], *names]})
    return made


def saved(made: Loaded, folder: Path) -> Path:
    """The folder, with the model and its tokenizer in it, as a host registers one."""
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    return folder


def noisy(family: str, sentinels: int = 100, mask: bool = True, **options: Any) -> Loaded:
    """A fresh tiny model whose vocabulary can be hidden behind something."""
    model, made = build(family, **options), noisy_tokenizer(sentinels, mask)
    model.resize_token_embeddings(len(made), mean_resizing=False)
    return prepare(family, model, made)
